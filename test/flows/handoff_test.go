// This file tests the text that each interface (such as the command line or a page) shows for a handoff. A handoff is
// an entry with which one session passes its work to the next session.

package flows

import (
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

// handoffName is the name of the handoff that the test writes.
const handoffName = "handoff: The grid is done."

// recordName is the name of the handoff that "oxbow handoff new --session" makes from a recorded session.
const recordName = "handoff: Make the walls block the light."

// TestHandoffTexts compares the texts that all interfaces show of the same handoff with testdata/handoffs.txt.
func TestHandoffTexts(t *testing.T) {
	f := newFlow(t)
	var b strings.Builder
	record := func(title, answer string) {
		fmt.Fprintf(&b, "\n== %s\n%s\n", title, strings.TrimSpace(f.withoutPlaces(answer)))
	}
	command := func(args ...string) {
		_, out, errs := f.run(t, args...)
		record("oxbow "+strings.Join(args, " "), out+errs)
	}
	skill := filepath.Join(f.dir, ".oxbow/skills/senior.md")
	for _, dir := range []string{filepath.Dir(skill), filepath.Join(f.dir, "pkg")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	f.file(t, ".oxbow/skills/senior.md", "---\nname: senior\n---\nWrite the test first.\n")
	f.file(t, "pkg/map.go", "package pkg\n")
	f.must(t, "profile", "new", "work", "--project", "harbor")
	command("handoff", "new", "The grid is done.", "--plan", "Walls next.", "--read", "pkg/map.go", "--read", "gone.go",
		"--profile", "work", "--skill", "senior", "--project", "harbor")
	for _, args := range [][]string{{"list"}, {"list", "--json"}, {"show"}, {"show", "--brief"}, {"show", "--json"},
		{"show", handoffName, "--max-tokens", "40"}} {
		command(append([]string{"handoff"}, args...)...)
	}

	tokens := f.file(t, "tokens", "all "+tokenSecret+" rw\n")
	home := filepath.Join(f.vars["HOME"], ".local/share/oxbow")
	site := f.serve(t, "serve", "--home", home, "--tokens", tokens, "--http", ":0")
	record("GET handoffs", f.httpGet(site+"/api/v1/handoffs"))
	record("GET handoff", f.httpGet(site+"/api/v1/handoffs/"+url.PathEscape(handoffName)))
	page, stop := f.openPages(t)
	record("page of handoffs", page("handoffs"))
	record("page of a handoff", page("handoffs/"+url.PathEscape(handoffName)))
	stop()

	again := func(title string, take func() string) {
		t.Helper()
		record(title, take())
		if list := f.must(t, "handoff", "list"); strings.Contains(list, handoffName) {
			t.Errorf("after %s, the handoff is open", title)
		}
		f.must(t, "undo")
	}
	again("start of a session", func() string { return f.hook("new", "SessionStart", object{"source": "startup"}) })
	again("oxbow handoff take", func() string { return f.must(t, "handoff", "take") })
	again("oxbow context --handoff", func() string { return f.must(t, "context", "--handoff") })
	again("prompt /handoff", func() string { return f.mcp("prompts/get", object{"name": "handoff"}) })
	again("handoff_task", func() string {
		return f.mcp("tools/call", object{"name": "handoff_task", "arguments": object{"take": true}})
	})
	f.must(t, "handoff", "take")
	command("handoff", "take")
	command("handoff", "drop", handoffName)

	f.workSession()
	record("after a compaction", f.hook("long", "SessionStart", object{"source": "compact"}))
	command("handoff", "show", "--session", "claude/long")
	command("handoff", "new", "--session", "claude/long", "--plan", "Test the doors.")
	command("handoff", "list")
	command("handoff", "show", "--json")
	command("get", recordName, "--json")
	page, stop = f.openPages(t)
	record("page of a handoff with a record", page("handoffs/"+url.PathEscape(recordName)))
	stop()
	record("start of a session", f.hook("next", "SessionStart", object{"source": "startup"}))
	command("handoff", "new", "--session", "claude/none")
	command("handoff", "show", "x", "--session", "claude/long")
	command("handoff", "new")
	compareGolden(t, "testdata/handoffs.txt", b.String())
	f.must(t, "check")
}

// compareGolden compares an answer with the content of a file. If the flag -update is set, it writes the file instead.
func compareGolden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("the answers differ from %s (%v); go test ./test/flows -run %s -update writes them:\n%s",
			file, err, t.Name(), got)
	}
}

// workSession reports a session in which an agent edits files and runs commands.
func (f *flow) workSession() {
	f.hook("long", "SessionStart", object{"source": "startup"})
	f.prompt("long", "Make the walls block the light.")
	call := func(id, tool string, input, response object) {
		f.hook("long", "PostToolUse", object{"tool_use_id": id, "tool_name": tool, "tool_input": input,
			"tool_response": response})
	}
	call("u1", "Edit", object{"file_path": filepath.Join(f.dir, "pkg/map.go"), "old_string": "a", "new_string": "b"},
		object{"filePath": filepath.Join(f.dir, "pkg/map.go")})
	call("u2", "Bash", object{"command": "go test ./pkg -run TestWalls"}, object{"stdout": "ok"})
	call("u3", "TodoWrite", object{"todos": []object{
		{"content": "Walls", "status": "completed"}, {"content": "Doors", "status": "pending"}}}, object{})
	f.hook("long", "Stop", object{"last_assistant_message": "The root cause was that the mask was inverted."})
	f.prompt("long", "Now make the doors open.")
	f.hook("long", "PostCompact", object{"summary": "The walls are done."})
}

// withoutPlaces replaces the parts of an answer that differ between runs, and replaces the escaped line breaks in JSON
// by line breaks. If s is the output of a server with several JSON-RPC answers, withoutPlaces first removes the first
// answer.
func (f *flow) withoutPlaces(s string) string {
	if _, last, ok := strings.Cut(strings.TrimSpace(s), "}\n{\"jsonrpc\""); ok {
		s = `{"jsonrpc"` + last
	}
	s = strings.ReplaceAll(s, filepath.Dir(f.dir), "TMP")
	s = strings.NewReplacer(`\n`, "\n", `\"`, `"`, `\u003c`, "<", `\u003e`, ">").Replace(s)
	// The numbers of tokens depend on the path.
	differs := `(handle \w+@|T09:30:|09:30:|"budget":|skills alone take about )[\w-]+`
	return regexp.MustCompile(differs).ReplaceAllString(s, "${1}N")
}
