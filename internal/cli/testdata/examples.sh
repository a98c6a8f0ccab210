# The surroundings in which the examples of every help are run: a project in git
# with a home, and what else the examples name.
set -e
export HOME="$PWD/user"
mkdir -p user/.config/fish/completions user/.local/share/bash-completion/completions user/backups user/.claude/projects/-home-ada-pool bin
echo '{"type":"user","message":{"role":"user","content":"hi"},"uuid":"1","sessionId":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/home/ada/pool"}' >user/.claude/projects/-home-ada-pool/s.jsonl
for p in claude jq code; do
	printf '#!/bin/sh\n[ -t 0 ] || cat >/dev/null\n' >bin/$p
	chmod +x bin/$p
done
export PATH="$PWD/bin:$PATH" GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada GIT_COMMITTER_EMAIL=ada@example.org
mkdir -p work/pkg/vtt work/notes work/.skills && cd work
for i in $(seq 80); do echo "line $i of the pool"; done >pool.go
cp pool.go map.go && cp pool.go pkg/map.go && cp pool.go pkg/vtt/map.go
echo '# A note' >notes/note.md
echo '# To do when it breaks' >RUNBOOK.md
echo 'What is left of it?' >question.md
git init -q --template= -b main . && git add . && git commit -q -m 'The pool, the proxy'
git update-ref refs/remotes/origin/main main
git remote add origin https://example.org/ada/oxbow.git
git notes --ref=ai add -m x 2>/dev/null || true

oxbow init -q
oxbow remember style 'Tabs.' -q
oxbow remember style 'Tabs, always.' -q
oxbow remember style 'Tabs, not spaces. Retry two words. Deploy.' --project harbor --tag decison --tag vtt -q
oxbow remember runbook --file RUNBOOK.md --tag draft -q
oxbow remember 'db password' hunter2 --tag wip -q
oxbow remember 'grid size' 'Five feet. Prices of maps.' --project VTT --tag idea --related pkg/vtt/map.go -q
oxbow remember 'hex maps' 'Later. Fog of war.' --project homebrew-vtt --tag ideas --tag thought -q
oxbow remember 'double charge' 'Twice.' --project oxbow --related pool.go -q
oxbow team init -q >/dev/null && oxbow remember tabs 'Tabs, here.' -q && oxbow team share tabs -q >/dev/null
for i in $(seq 40); do oxbow remember "counter $i" one -q; done
oxbow handoff new 'The grid is done.' -q
for p in vtt vtt-developer base-developer author; do oxbow profile new $p --project homebrew-vtt -q; done
mkdir -p .oxbow/skills/senior-developer
printf -- '---\nname: senior-developer\ndescription: knows\n---\nBe careful.\n' >.oxbow/skills/senior-developer/SKILL.md
oxbow annotate pool.go:42-60 --why 'The proxy drops idle connections; redis does not.' -q
oxbow annotate export --output traces.jsonl -q
oxbow export backup.jsonl -q
gzip -c backup.jsonl >sessions.jsonl.gz
oxbow dump brain -q && git -C brain init -q --template=
cp .oxbow/memory.oxbow .oxbow/memory.oxbow.recovered
oxbow log --verify | sed -n 's/.*head \([0-9a-f]*\).*/\1/p' | head -1 >"$HOME/noted-head"
for h in "$HOME/brain" "$HOME/old" ./crab-source; do oxbow --home "$h" remember x y -q; done
cp "$HOME/brain/memory.oxbow" "$HOME/backups/memory-20260418.oxbow"
echo age1cy0su9fwf3gf9mw868g5yut09p6nytfmmnktexz2ya5uqg9vl9sss4euqm >"$HOME/key.pub"
echo AGE-SECRET-KEY-184JMZMVQH3E6U0PSL869004Y3U2NYV7R30EU99CSEDNPH02YUVFSZW44VU >"$HOME/key.txt"
oxbow backup "$HOME/backups/memory.age" --to "$HOME/key.pub"
oxbow init --dialect crabtalk --home "$HOME/.crabtalk" -q
oxbow init --dialect duragent --home ./bot -q
printf 'ci   kE0v1sVQxqB8oVbW2mZt5w  ro  project=harbor kind=note\n' >"$HOME/.oxbow-tokens"
chmod 600 "$HOME/.oxbow-tokens"

# a session with an agent, as its hooks report it
for event in '"hook_event_name":"UserPromptSubmit","prompt":"mend the rounding error"' '"hook_event_name":"Stop","last_assistant_message":"Mended."'; do
	echo "{\"session_id\":\"178e33fd-9063-4693-b268-8132b017fc0c\",\"cwd\":\"$PWD\",\"prompt_id\":\"p1\",$event}" | oxbow hook claude
done
printf '[{"uuid":"d-1","chat_messages":[{"uuid":"m1","text":"do herons swim","sender":"human","created_at":"2026-03-02T10:00:00Z"}]}]\n' >conversations.json
printf '[{"id":"4f1c","memory":"Ann moors at berth 4.","created_at":"2026-03-01T10:00:00Z","user_id":"ann"}]\n' > export.json
