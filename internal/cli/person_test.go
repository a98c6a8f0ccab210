// This file imports everything that a person has in other programs, with a single command for each program. Everything
// must be stored, or be reported as left out.

package cli

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// person is a person's machine that contains the files of other programs.
type person struct {
	*world
	t   *testing.T
	dir string
}

func (p *person) write(name, content string) {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// lines returns the values as lines of JSON.
func (p *person) lines(values ...any) string {
	p.t.Helper()
	var b strings.Builder
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			p.t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String()
}

// obj is a JSON object.
type obj = map[string]any

// claudeLine is a line of a transcript of Claude Code.
func claudeLine(uuid, parent, role string, minute int, content any) obj {
	return obj{"type": role, "uuid": uuid, "parentUuid": parent, "sessionId": "5e0a1f00-0000-4000-8000-000000000001",
		"cwd": "/home/ada/harbor", "timestamp": fmt.Sprintf("2026-04-17T01:%02d:00Z", minute), "promptId": "p-" + uuid,
		"message": obj{"role": role, "content": content}}
}

func (p *person) claudeHistory() {
	const file = ".claude/projects/-home-ada-Größe 日本/5e0a1f00-0000-4000-8000-000000000001.jsonl"
	text := p.lines(
		claudeLine("u1", "", "user", 0, "Why is the crane-marker slow?"),
		claudeLine("a1", "u1", "assistant", 1, []obj{{"type": "text", "text": "The gear-marker is worn."},
			{"type": "tool_use", "id": "t1", "name": "Bash", "input": obj{"command": "make cranemarker"}}}),
		claudeLine("r1", "a1", "user", 2, []obj{{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}}),
		claudeLine("u2", "r1", "user", 3, []obj{{"type": "image", "source": obj{"type": "base64", "data": "AAAA"}},
			{"type": "text", "text": "And this picture-marker?"}}),
		claudeLine("a2", "u2", "assistant", 4, []obj{{"type": "text", "text": "It shows 日本語マーカー."}}),
	)
	p.write(file, strings.ReplaceAll(text, "\n", "\r\n")+`{"type":"user","uu`)
	p.write(".claude/projects/-home-ada-empty/empty.jsonl", "")
}

// codexLine is a line of a transcript of Codex.
func codexLine(minute int, kind string, payload obj) obj {
	return obj{"timestamp": fmt.Sprintf("2026-04-18T01:%02d:00Z", minute), "type": kind, "payload": payload}
}

func (p *person) codexHistory() {
	say := func(role, kind, text string) obj {
		return obj{"type": "message", "role": role, "content": []obj{{"type": kind, "text": text}}}
	}
	const id = "01a1faec-c227-7570-b28d-3240aaa80f29"
	p.write(".codex/sessions/2026/04/18/rollout-2026-04-18T01-00-00-"+id+".jsonl", "\ufeff"+p.lines(
		codexLine(0, "session_meta", obj{"id": id, "timestamp": "2026-04-18T01:00:00Z", "cwd": "/home/ada/harbor"}),
		codexLine(1, "response_item", say("user", "input_text", "Raise the jetty-marker.")),
		codexLine(1, "event_msg", obj{"type": "user_message", "message": "Raise the jetty-marker."}),
		codexLine(2, "response_item", obj{"type": "function_call", "name": "shell", "call_id": "c1",
			"arguments": `{"command":["make","jettymarker"]}`}),
		codexLine(3, "response_item", obj{"type": "function_call_output", "call_id": "c1", "output": "done"}),
		codexLine(4, "response_item", say("assistant", "output_text", "The plank-marker is up.")),
		codexLine(4, "event_msg", obj{"type": "agent_message", "message": "The plank-marker is up."})))
}

// gptNode is a message of ChatGPT with the ID of its node.
func gptNode(id, parent, role, kind string, at int, content, metadata obj) obj {
	content["content_type"] = kind
	return obj{"id": id, "parent": parent, "message": obj{"id": id, "author": obj{"role": role},
		"create_time": 1760000000 + at, "recipient": "all", "content": content, "metadata": metadata}}
}

func (p *person) chatGPTExport() {
	text := func(s ...any) obj { return obj{"parts": s} }
	nodes := []obj{
		gptNode("ctx", "", "user", "user_editable_context", 0, obj{"user_instructions": "Answer in metric units."},
			obj{"is_visually_hidden_from_conversation": true}),
		gptNode("u1", "ctx", "user", "text", 1, text("Which boats use the berth-marker?"), obj{}),
		gptNode("a1", "u1", "assistant", "text", 2, text("Boats over the length-marker."), obj{}),
		gptNode("u2", "ctx", "user", "text", 3, text("Which boats use the edited-marker?"), obj{}),
		gptNode("th", "u2", "assistant", "thoughts", 4, obj{"thoughts": []obj{{"content": "hidden"}}}, obj{}),
		gptNode("out", "th", "tool", "execution_output", 5, obj{"text": "42"}, obj{}),
		gptNode("a2", "out", "assistant", "text", 6, text("Nine, says the branch-marker."), obj{}),
		gptNode("u3", "a2", "user", "multimodal_text", 7, text(obj{"content_type": "image_asset_pointer",
			"asset_pointer": "file-service://f"}, "What is the dock-marker?"), obj{}),
	}
	mapping := obj{"root": obj{"id": "root", "message": nil}}
	for _, n := range nodes {
		id, _ := n["id"].(string)
		mapping[id] = n
	}
	conversations, err := json.Marshal(
		[]obj{{"title": "Größe der Boote", "conversation_id": "c-1", "mapping": mapping},
			{"title": "Damaged"}},
	)
	if err != nil {
		p.t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(p.dir, "chatgpt.zip"))
	if err != nil {
		p.t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for name, content := range map[string]string{
		"conversations.json": "\ufeff" + string(conversations),
		"user.json":          "{}",
		"chat.html":          "<html>",
		"file-f.png":         "PNG",
	} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(content))
		}
		if err != nil {
			p.t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		p.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) vault() {
	p.write("vault/.obsidian/app.json", "{}")
	p.write("vault/Harbor.md", "---\ntags: [harbor/berths]\naliases: [Port]\ncssclass: wide-marker\n---\n# Harbor\n\n"+
		"See [[Berths#Closed]] and ![[dock.png]]. #payments %%comment-marker%%\n\n"+
		"```dataview\nTABLE tablemarker\n```\n")
	p.write("vault/Berths.md", "\ufeff# Berths\r\n\r\n## Closed\r\nThe winter-marker.\r\n")
	p.write("vault/Ünïcode 日本/ノート.md", "日本語マーカー\n")
	p.write("vault/props.md", "---\nauthor: Ada-marker\n---\n")
	p.write("vault/huge.md", "# Huge\n\n"+strings.Repeat("## Part\n\n"+strings.Repeat("word ", 500)+"\n\n", 40)+
		"The end-marker.\n")
	p.write("vault/empty.md", "")
	p.write("vault/latin1.md", "Gr\xf6\xdfe\n")
	p.write("vault/.draft.md", "hidden")
	p.write("vault/board.canvas", "{}")
	p.write("vault/dock.png", "PNG")
	if err := os.Symlink("Harbor.md", filepath.Join(p.dir, "vault", "link.md")); err != nil {
		p.t.Skipf("no symbolic links here: %v", err)
	}
	if err := os.Symlink(p.dir, filepath.Join(p.dir, "vault", "elsewhere")); err != nil {
		p.t.Fatal(err)
	}
}

func (p *person) serverMemory() {
	p.write("memory.json", "\ufeff"+strings.ReplaceAll(p.lines(
		obj{"type": "entity", "name": "Grace Größe", "entityType": "person", "observations": []string{"port-marker"}},
		obj{"type": "relation", "from": "Grace Größe", "to": "Harbor", "relationType": "runs-marker"},
		obj{"type": "entity", "name": "Harbor", "entityType": "place", "observations": []string{"closed-marker"}},
		obj{"type": "relation", "from": "Nobody", "to": "Harbor", "relationType": "knows"},
		obj{"type": "weird", "x": 1}), "\n", "\r\n")+`{"type":"entity","name":"Cut`)
}

// TestPersonsHistory imports the histories of Codex and Claude Code, an export of ChatGPT, an Obsidian vault, and the
// file of the MCP memory server. Each is imported by a single command, and then once more. Each text must be stored or
// be reported.
func TestPersonsHistory(t *testing.T) {
	p := &person{world: newWorld(t), t: t, dir: t.TempDir()}
	p.claudeHistory()
	p.codexHistory()
	p.chatGPTExport()
	p.vault()
	p.serverMemory()
	for _, c := range []struct {
		path  string
		flags []string
		code  int
		first string   // beginning of the output of the first run
		again string   // beginning of the output of the second run
		texts []string // words of the texts that must be stored
		named []string // what is not stored, in the words with which the first run reports it
	}{
		{path: ".claude", flags: []string{"--from", "claude-code"}, code: exitCommandFailed,
			first: "claude: 2 turns new, 0 changed", again: "claude: 0 turns new, 0 changed",
			texts: []string{"crane-marker", "gear-marker", "cranemarker", "picture-marker", "日本語マーカー"},
			named: []string{"1 line of claude could not be read", "it is incomplete"}},
		{path: ".codex", flags: []string{"--from", "codex"},
			first: "codex: 1 turn new, 0 changed", again: "codex: 0 turns new, 0 changed",
			texts: []string{"jetty-marker", "jettymarker", "plank-marker"}},
		{path: "chatgpt.zip", code: exitCommandFailed,
			first: "chatgpt: 3 turns new, 0 changed", again: "chatgpt: 0 turns new, 0 changed",
			texts: []string{"berth-marker", "length-marker", "edited-marker", "branch-marker", "dock-marker",
				"[image]"},
			named: []string{"it is not a conversation",
				"left out of the conversations: images and other files (1), thoughts of the model (1), " +
					"tool results (1)", "added: How ChatGPT should answer me"}},
		{path: "vault", code: exitCommandFailed, first: "imported: ", again: "imported: 0 added, 0 updated, ",
			texts: []string{"harbor/berths", "Port", "wide-marker", "[[Berths#Closed]]", "![[dock.png]]", "payments",
				"comment-marker", "tablemarker", "winter-marker", "日本語マーカー", "ノート", "Ada-marker", "end-marker"},
			named: []string{"empty.md:1: holds no text", "latin1.md:1: is not UTF-8",
				".draft.md: was passed over: its name begins with a dot", "board.canvas: was passed over",
				"dock.png: was passed over", "link.md: is a symbolic link",
				"elsewhere: was passed over: it is a symbolic link"}},
		{path: "memory.json", code: exitCommandFailed, first: "imported: 2 added",
			again: "imported: 0 added, 0 updated, 2 the same",
			texts: []string{"Grace Größe", "port-marker", "runs-marker", "closed-marker", "person"},
			named: []string{"memory.json:4: relation \"knows\"", "memory.json:5: ",
				"memory.json:6: is not JSON: it ends too early"}},
	} {
		t.Run(strings.Trim(c.path, "."), func(t *testing.T) {
			args := slices.Concat([]string{"import", "--verbose"}, c.flags, []string{filepath.Join(p.dir, c.path)})
			code, out, stderr := p.run(t, args...)
			if code != c.code || !strings.HasPrefix(out, c.first) {
				t.Fatalf("import ends with %d and says\n%s%s\nwant %d and %q", code, out, stderr, c.code, c.first)
			}
			for _, named := range c.named {
				if !strings.Contains(stderr, named) {
					t.Errorf("import does not say %q, but\n%s", named, stderr)
				}
			}
			if _, out, stderr := p.run(t, args...); !strings.HasPrefix(out, c.again) {
				t.Errorf("a second import says\n%s%s\nwant %q", out, stderr, c.again)
			}
			stored := p.must(t, "export") + p.sessions(t)
			for _, text := range c.texts {
				if quoted, err := json.Marshal(text); err != nil ||
					!strings.Contains(stored, strings.Trim(string(quoted), `"`)) {
					t.Errorf("%q is not stored", text)
				}
			}
		})
	}
	p.must(t, "check")
}

// sessions returns all sessions of the archive in JSON.
func (p *person) sessions(t *testing.T) (all string) {
	t.Helper()
	var list struct {
		Sessions []struct {
			Client  string `json:"client"`
			Session string `json:"session"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(p.must(t, "session", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		all += p.must(t, "session", "show", s.Client+"/"+s.Session, "--json")
	}
	return all
}
