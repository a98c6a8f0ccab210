// This file contains the home in which the flows of memory poisoning run. It also reads the texts that are shown from
// this home.

package flows

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

// poisonFlow is a scenario of memory poisoning. An agent of the client reads a foreign text and stores it. The fields
// way, keep and when specify how the agent reads the text, how it stores the text, and when.
type poisonFlow struct {
	n      int
	way    *wayIn // way in which the agent reads the text (nil if the agent reads no foreign text)
	keep   *keeping
	when   *timing
	client *agentClient
	said   string // the text in the agent's own words
	out    string // output of the commands and tools that store the text
	asked  string // answer of the tool recall to an agent that searches for the text
	class  string // class of a flow that is reported but not counted ("" for all other flows)
	flowText
}

func (f *poisonFlow) name() string { return fmt.Sprintf("f%d", f.n) }

// request returns the prompt with which the person makes the agent read the text.
func (f *poisonFlow) request() string {
	if strings.HasPrefix(f.class, "typed") {
		return "For your notes. " + f.text
	}
	return "Please find out about " + f.topic[0] + " for me."
}

func (f *poisonFlow) String() string {
	way := "nothing"
	if f.way != nil {
		way = f.way.name
	}
	return fmt.Sprintf("flow %d (%s): %s, kept %s, %s", f.n, f.client.name, way, f.keep.name, f.when.name)
}

// broughtUp is a text that a hook or a server showed to a model.
type broughtUp struct {
	at, text string
	// wasAskedFor is true if the text was shown by a command that returns existing texts, such as taking a handoff. In
	// this case, the text may be shown if it has a mark, which is a warning. Otherwise, it must not be shown at all.
	wasAskedFor bool
}

// poisonHome is a home and a project of a person. Agents work in the project.
type poisonHome struct {
	*world
	t        *testing.T
	clients  []*agentClient
	shown    []broughtUp
	sessions int
	flow     *poisonFlow // flow that is running
	fetched  string      // file that a command downloaded for the running flow
	server   string      // URL of the server of the team's memory ("" if it is not running yet)
}

func newPoisonHome(t *testing.T) *poisonHome {
	h := &poisonHome{world: newWorld(t), t: t, clients: agentClients()}
	h.env.Now, h.env.Rand = time.Now, rand.Reader
	base := h.dir
	h.dir = filepath.Join(base, "harbor")
	h.putFile(filepath.Join(h.dir, "main.go"), "package work\n")
	h.putFile(filepath.Join(h.dir, ".gitignore"), "build/\nnode_modules/\n")
	h.putFile(filepath.Join(base, "downloads", "keep"), "")
	h.putFile(filepath.Join(base, "far", "keep"), "")
	if err := os.Symlink(filepath.Join(base, "far"), filepath.Join(h.dir, "elsewhere")); err != nil {
		t.Fatal(err)
	}
	h.git("init", "-q")
	h.git("add", "-A")
	h.git("commit", "-q", "-m", "begin")
	h.putFile(
		filepath.Join(h.vars["HOME"], ".claude/projects/-harbor/1.jsonl"),
		encoded(t, object{"type": "user", "cwd": h.dir}),
	)
	for i, text := range []string{
		"The tide table hangs in the kitchen.",
		"Tests of the crane need a display.",
		"We write changelogs by hand, one line a change.",
	} {
		h.asPerson("remember", fmt.Sprint("own", i), text)
	}
	h.asPerson("profile", "new", "work", "--tag", "harbor")
	// the same content that setup writes
	h.putFile(filepath.Join(filepath.Dir(h.storePath()), "mirror.json"), `{"claude":"0001-01-01T00:00:00Z"}`)
	return h
}

// note records a text that a model was shown unasked.
func (h *poisonHome) note(at, text string) {
	if text != "" {
		h.shown = append(h.shown, broughtUp{at: at, text: text})
	}
}

// noteAsked records a text that a model received because it asked for existing texts.
func (h *poisonHome) noteAsked(at, text string) {
	h.shown = append(h.shown, broughtUp{at, text, true})
}

// noteResources records the description of each resource in a list of resources.
func (h *poisonHome) noteResources(answer string) {
	h.t.Helper()
	var got struct {
		Result struct {
			Resources []struct{ Name, Description, URI string }
		}
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || len(got.Result.Resources) == 0 {
		h.t.Fatalf("the listing of resources is %q, %v", answer, err)
	}
	for _, r := range got.Result.Resources {
		h.noteAsked("resources", r.Description+"\n"+r.Name+"\n"+r.URI)
	}
}

func (h *poisonHome) storePath() string {
	return filepath.Join(h.vars["HOME"], ".local/share/oxbow/memory.oxbow")
}

func (h *poisonHome) git(args ...string) {
	h.t.Helper()
	h.runGit(h.t, args...)
}

func (h *poisonHome) putFile(path, text string) {
	h.t.Helper()
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *poisonHome) appendFile(path, text string) {
	h.t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	h.putFile(path, string(b)+text)
}

func (h *poisonHome) reader(text string) io.Reader { return strings.NewReader(text) }

// session returns a new session of the client c with a new ID. It does not report the session's start to the client's
// hook.
func (h *poisonHome) session(c *agentClient) *agentSession {
	h.sessions++
	return &agentSession{poisonHome: h, client: c, id: fmt.Sprintf("%s-session-%d", c.name, h.sessions)}
}

// nextClient returns another client that can run the current flow.
func (h *poisonHome) nextClient(after *agentClient) *agentClient {
	for i, c := range h.clients {
		if c.name != after.name {
			continue
		}
		for k := 1; k <= len(h.clients); k++ {
			if next := h.clients[(i+k)%len(h.clients)]; h.flow == nil || h.flow.keep.isFor(next) {
				return next
			}
		}
	}
	return after
}

// asPerson runs a command in the same way as a person at a terminal.
func (h *poisonHome) asPerson(args ...string) string {
	h.t.Helper()
	h.env.IsStdinTerminal = true
	defer func() { h.env.IsStdinTerminal = false }()
	h.env.Stdin = strings.NewReader("")
	return h.must(h.t, args...)
}

// editWith makes the editor append a text to the file that it edits.
func (h *poisonHome) editWith(text string) {
	h.vars["EDITOR"] = "append"
	h.env.RunEditor = func(argv []string) error {
		h.appendFile(argv[len(argv)-1], "\n"+text+"\n")
		return nil
	}
}

// ask calls tools of a new server as a client, and returns the answers.
func (h *poisonHome) ask(c *agentClient, calls ...object) []string {
	answers := h.requests(c, "tools/call", calls...)
	for i, a := range answers {
		answers[i] = textOfAnswer(h.t, a)
	}
	return answers
}

// requests sends requests with the same method to a new server as a client, one after another. It records the server's
// description of itself as a text that was shown.
func (h *poisonHome) requests(c *agentClient, method string, params ...object) (answers []string) {
	stdin, requests := io.Pipe()
	received := make(lines, 1)
	env := h.env
	env.Args = []string{"mcp", "--tools", "all"}
	env.Stdin = stdin
	env.Stdout = received
	env.Stderr = io.Discard
	go func() {
		ask := func(o object) (answer string) {
			_, _ = io.WriteString(requests, encoded(h.t, o))
			for o["id"] != nil && !strings.Contains(answer, fmt.Sprintf(`"id":%d`, o["id"])) {
				answer = <-received
			}
			return answer
		}
		about := ask(object{
			"jsonrpc": "2.0",
			"id":      1,
			"method":  "initialize",
			"params": object{
				"protocolVersion": "2025-11-25",
				"capabilities":    object{},
				"clientInfo":      object{"name": c.mcpName, "version": "2"},
			},
		})
		h.note("instructions of the server", about)
		ask(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
		for i, p := range params {
			answers = append(answers, ask(object{"jsonrpc": "2.0", "id": 2 + i, "method": method, "params": p}))
		}
		requests.Close()
		for range received { // Read the output after the last answer.
		}
	}()
	if status := cli.Run(h.t.Context(), env); status != 0 {
		h.t.Errorf("the server ended with status %d", status)
	}
	close(received)
	return answers
}

// textOfAnswer returns the first text in a tool's JSON answer. If the answer has no text, textOfAnswer returns the
// error message in the answer.
func textOfAnswer(t *testing.T, answer string) string {
	t.Helper()
	var got struct {
		Result struct {
			Content []struct{ Text string }
		}
		Error struct{ Message string }
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	if len(got.Result.Content) == 0 {
		return got.Error.Message
	}
	return got.Result.Content[0].Text
}

// sourceFile returns a tracked file of the project that only this flow uses.
func (h *poisonHome) sourceFile(f *poisonFlow) string {
	name := f.name() + ".go"
	if _, err := os.Stat(filepath.Join(h.dir, name)); err != nil {
		h.putFile(filepath.Join(h.dir, name), "package work\n")
		h.git("add", name)
	}
	return name
}

// clientMemory returns the path of the file in which Claude Code stores the note of the flow f.
func (h *poisonHome) clientMemory(f *poisonFlow) string {
	return filepath.Join(h.vars["HOME"], ".claude/projects/-harbor/memory", f.name()+".md")
}

// editDump renames the note of the flow in a dump and removes the labels of the note.
func (h *poisonHome) editDump(dir string, f *poisonFlow) {
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.Base(path), f.noteName()) {
			return err
		}
		if err := os.Remove(path); err != nil {
			return err
		}
		h.putFile(filepath.Join(filepath.Dir(path), "again-"+f.name()+".md"), f.said+"\n")
		return nil
	})
}

// pull adds the text of a flow to the memory of the team, and then pulls this memory.
func (h *poisonHome) pull(f *poisonFlow) {
	team := filepath.Join(filepath.Dir(h.dir), "team")
	token := filepath.Join(filepath.Dir(h.dir), "token")
	other := *h.world
	other.vars = map[string]string{"HOME": h.vars["HOME"]}
	other.must(h.t, "--home", team, "remember", "in-"+f.name(), f.text)
	args := []string{"pull"}
	if h.server == "" {
		h.putFile(token, tokenSecret+"\n")
		h.putFile(token+"s", "all "+tokenSecret+" rw\n")
		h.server = other.serve(h.t, "serve", "--home", team, "--tokens", token+"s", "--http", ":0")
		args = append(args, h.server, "--token-file", token)
	}
	h.asPerson(args...)
}

// plan reports that the agent wrote its list of tasks.
func (s *agentSession) plan(item string) {
	tool, input := "TodoWrite", object{"todos": []object{{"content": item, "status": "pending"}}}
	switch s.client.name {
	case "codex":
		tool, input = "update_plan", object{"plan": []object{{"step": item, "status": "pending"}}}
	case "gemini":
		tool, input = "write_todos", object{"todos": []object{{"description": item, "status": "pending"}}}
	case "opencode":
		tool = "todowrite"
	case "qwen":
		tool = "todo_write"
	}
	s.calls++
	fields := s.client.answer(useOwn, "", "The list is updated.")
	fields["tool_name"], fields["tool_input"] = tool, input
	if s.client.callField != "" {
		fields[s.client.callField] = s.callID()
	}
	s.report(s.client.called, fields)
}

// beforeEdit reports that the agent is about to edit the flow's file.
func (s *agentSession) beforeEdit(f *poisonFlow) {
	file := filepath.Join(s.dir, s.sourceFile(f))
	form := s.client.tools[useEdit]
	s.calls++
	fields := object{"tool_name": form.name, "tool_input": form.input(file)}
	if s.client.callField != "" {
		fields[s.client.callField] = s.callID()
	}
	s.report("PreToolUse", fields)
}

func onOneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// unlabelled returns a line of an export with another name and without its labels.
func unlabelled(t *testing.T, line, name string) string {
	t.Helper()
	var e object
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		t.Fatal(err)
	}
	return encoded(t, object{"name": name, "content": e["content"]})
}

// wordsShown returns the words of a text that was shown, in lower case.
func wordsShown(text string) []string {
	text = strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, " ").Replace(text)
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) })
}

// hitStart matches the beginning of a hit in the output of recall.
var hitStart = regexp.MustCompile(`(?m)^\d+\. "`)

// hitsOf returns the hits in the output of recall.
func hitsOf(answer string) (hits []string) {
	answer, _, _ = strings.Cut(answer, "\nnote: ")
	at := hitStart.FindAllStringIndex(answer, -1)
	for i, from := range at {
		to := len(answer)
		if i+1 < len(at) {
			to = at[i+1][0]
		}
		hits = append(hits, answer[from[0]:to])
	}
	return hits
}
