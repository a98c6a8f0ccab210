// This file tests a session that has six runs. Each run after the first one resumes the session. In every request, the
// model must receive all prompts of the person, and oxbow's text exactly once. The archive must record each event once.

package clients

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const turns = 6

// look is a shell command that fails until the file gone.txt exists. It prints its exit status, so that the model sees
// the status in every client. The command takes a second. Therefore the time between the end of the first call and the
// beginning of the second call is shorter than the first call itself. The archive must still assign each result to the
// correct call.
const look = `sleep 1; code=0; cat gone.txt || code=3; echo "look ended with $code"; exit $code`

// lookStatus matches the exit status that the shell command look prints. The tests search for it in the body of a
// request.
var lookStatus = regexp.MustCompile(`look ended with ([0-9]+)`)

// block matches a text of oxbow in the body of a request. The text is between two tags with the name oxbow-memory. The
// pattern begins and ends with this name instead of the whole tags, because the character "<" is escaped in the body.
var block = regexp.MustCompile(`oxbow-memory.*?oxbow-memory`)

func TestResume(t *testing.T) {
	eachClient(t, func(t *testing.T, c *testedClient, argv []string, program, modules string) {
		resumes(t, c, argv, program, modules)
		resumesAfterAnswer(t, c, argv, program, modules)
	})
}

func resumes(t *testing.T, c *testedClient, argv []string, program, modules string) {
	m := &scriptedModel{
		makeToolCall:           c.makeToolCall,
		makeShellCall:          c.makeShellCall,
		mainConversationMarker: testPromptMarker,
		steps: []scriptStep{
			{shellCommand: look},
			{shellCommand: "echo here > gone.txt"},
			{shellCommand: look},
		},
	}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ship-day", sentence, "--tag", "decision")

	var prompts, statuses []string
	for n := range turns {
		prompts = append(prompts, fmt.Sprintf("Do number %d. %s", n+1, testPromptMarker))
		m.startConversation(testPromptMarker)
		_, stderr := p.runApart(append(slices.Clone(argv), c.runArguments(prompts[n], true, n > 0)...)...)
		if strings.Contains(strings.ToLower(stderr), "oxbow") {
			t.Errorf("run %d: standard error names oxbow:\n%s", n+1, tail([]byte(stderr)))
		}
		want := 1
		if n == 0 {
			want = len(m.steps) + 1
		}
		requests := conversation(m.mainConversationRequests)
		checkRequests(t, n, requests, prompts, want)
		if len(requests) > 0 {
			statuses = modelStatuses(requests[len(requests)-1])
		}
	}
	if !slices.Equal(statuses, []string{"3", "0"}) {
		t.Fatalf("the model saw that the command ended with %q, want 3 and 0", statuses)
	}
	p.checkArchive(program, prompts, statuses)
	p.checkLedger(program, c.name)
}

// resumesAfterAnswer resumes a session in which oxbow showed a note with a prompt. The client keeps the note with that
// prompt. Then the note is pinned, so that it belongs to the start of each session, and the person asks again. Each
// request must still contain the sentence of the note once.
func resumesAfterAnswer(t *testing.T, c *testedClient, argv []string, program, modules string) {
	m := &scriptedModel{makeToolCall: c.makeToolCall, mainConversationMarker: testPromptMarker}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ferry", ferry)
	// These notes are newer, so the start of the session has no room for the note about the ferry.
	for i := range 3 * len(subjects) {
		s := subjects[i%len(subjects)]
		p.run(program, "remember", fmt.Sprint(s, i), fmt.Sprintf("The %s is on plan %d.", s, i))
	}
	// This call calibrates how strong a match must be. A hook on a busy machine has too little time for it.
	p.run(program, "inject", asks)

	again := asks + " Please look again."
	for n, prompt := range []string{asks, again, thanks} {
		m.startConversation(testPromptMarker)
		p.run(append(slices.Clone(argv), c.runArguments(prompt+" "+testPromptMarker, true, n > 0)...)...)
		requests := conversation(m.mainConversationRequests)
		if len(requests) == 0 {
			t.Errorf("run %d: no request has a block: %s", n+1, tail([]byte(m.lastRequest())))
		}
		for i, body := range requests {
			checkRepetitions(t, n, i, body)
			if got := shownTimes(body, ferry); got != 1 {
				t.Errorf("run %d, request %d: the blocks have the answer %d times, want once:\n%q",
					n+1, i+1, got, block.FindAllString(body, -1))
			}
		}
		if n == 0 {
			p.run(program, "label", "add", "pinned:true", "--name", "ferry")
		}
	}
}

// noteLine matches the line of a note in a block. The submatch is the sentence, which follows the name, the date and
// the author.
var noteLine = regexp.MustCompile(`- [^\n:]+[0-9]{4}-[0-9]{2}-[0-9]{2}[^\n:]*: ([^\n]+)`)

// noteLines returns the text of each note in oxbow's blocks in a request, without the note's name, date and author. A
// text that occurs twice is returned twice.
func noteLines(body string) (lines []string) {
	for _, text := range block.FindAllString(body, -1) {
		// The JSON of the request escapes newlines. It escapes them twice if a client puts JSON into the prompt.
		text = strings.NewReplacer(`\\n`, "\n", `\n`, "\n").Replace(text)
		for _, match := range noteLine.FindAllStringSubmatch(text, -1) {
			lines = append(lines, strings.Trim(match[1], ` \"`))
		}
	}
	return lines
}

// shownTimes returns how often the sentence occurs in the blocks of a request.
func shownTimes(body, sentence string) (times int) {
	for _, text := range block.FindAllString(body, -1) {
		times += strings.Count(text, sentence)
	}
	return times
}

// checkRepetitions fails the test if the blocks of a request contain the same sentence of a note twice. The blocks
// themselves may differ.
func checkRepetitions(t *testing.T, run, request int, body string) {
	t.Helper()
	lines := noteLines(body)
	slices.Sort(lines)
	for i, line := range lines {
		if i > 0 && line == lines[i-1] {
			t.Errorf("run %d, request %d: the blocks repeat %q", run+1, request+1, line)
		}
	}
}

func TestScopes(t *testing.T) { eachClient(t, scopes) }

// scopes sets up a client both for the user and for the project. Each request must still contain oxbow's text once,
// and the archive must record the command once.
func scopes(t *testing.T, c *testedClient, argv []string, program, modules string) {
	m := &scriptedModel{
		makeToolCall:           c.makeToolCall,
		makeShellCall:          c.makeShellCall,
		mainConversationMarker: testPromptMarker,
		steps:                  []scriptStep{{shellCommand: "echo once"}},
	}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ship-day", sentence, "--tag", "decision")
	p.run(program, "setup", c.name, "--scope", "project", "--yes", "--trust")
	prompts := []string{"Do it. " + testPromptMarker}
	p.run(append(slices.Clone(argv), c.runArguments(prompts[0], true, false)...)...)
	checkRequests(t, 0, conversation(m.mainConversationRequests), prompts, len(m.steps)+1)
	kept := p.run(program, "session", "show", p.onlySession(program), "--json")
	if got := strings.Count(kept, `"command":"echo once"`); got != 1 {
		t.Errorf("the archive has the command %d times, want once: %s", got, tail([]byte(kept)))
	}
}

// conversation returns the requests that continue the conversation. These requests offer tools to the model and contain
// a block of memories. The other requests are for a title, which offer no tools, and in Qwen Code for a suggestion,
// which have no block.
//
// If a request of the conversation lacks its block, conversation returns too few requests, so the tests fail.
func conversation(requests []string) []string {
	var found []string
	for _, body := range requests {
		if strings.Contains(body, `"tools":[{`) && block.MatchString(body) {
			found = append(found, body)
		}
	}
	return found
}

// checkRequests checks the requests that the client sent to the model in a run. The run has the number n, which begins
// with 0. The number of requests must be want. Each request must contain exactly one block of oxbow with at least one
// note, and no note twice. Outside the block, each request must contain all prompts.
func checkRequests(t *testing.T, n int, requests, prompts []string, want int) {
	t.Helper()
	if len(requests) != want {
		t.Errorf("run %d: the model was asked %d times, want %d", n+1, len(requests), want)
	}
	for i, body := range requests {
		if got := len(block.FindAllString(body, -1)); got != 1 {
			t.Errorf("run %d, request %d: it has %d blocks, want 1:\n%s", n+1, i+1, got, tail([]byte(body)))
		}
		if len(noteLines(body)) == 0 {
			t.Errorf("run %d, request %d: no note is found in %q", n+1, i+1, block.FindAllString(body, -1))
		}
		checkRepetitions(t, n, i, body)
		rest := block.ReplaceAllString(body, "")
		for _, prompt := range prompts {
			if !strings.Contains(rest, prompt) {
				t.Errorf("run %d, request %d: the prompt %q is missing", n+1, i+1, prompt)
			}
		}
	}
}

// modelStatuses returns the exit statuses that the shell command in the constant look printed in the tool results of a
// request. Gemini CLI repeats the output in each result, so modelStatuses returns equal consecutive statuses once. Two
// consecutive calls of the command never have the same status.
func modelStatuses(body string) []string {
	var statuses []string
	for _, match := range lookStatus.FindAllStringSubmatch(body, -1) {
		statuses = append(statuses, match[1])
	}
	return slices.Compact(statuses)
}

// checkArchive checks that the archive records each prompt once. For the shell command in the constant look, the
// archive must contain the exit statuses that the model saw.
func (p *person) checkArchive(program string, prompts, statuses []string) {
	t := p.t
	t.Helper()
	var list struct {
		Sessions []struct {
			Session string
			Turns   int
		}
	}
	out := p.run(program, "session", "list", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Sessions) != 1 ||
		list.Sessions[0].Turns != turns {
		t.Fatalf("%v; want %d turns of one session: %s", err, turns, out)
	}
	id := list.Sessions[0].Session
	kept := p.run(program, "session", "show", id, "--json")
	var session struct {
		List []struct {
			Events []struct {
				Kind, Text string
				Call       *struct {
					Command string
					Exit    *int
					Failed  bool
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(kept), &session); err != nil {
		t.Fatal(err)
	}
	var said, exits []string
	for _, turn := range session.List {
		for _, e := range turn.Events {
			switch {
			case e.Kind == "prompt":
				said = append(said, e.Text)
			case e.Call != nil && e.Call.Command == look && e.Call.Exit != nil:
				exits = append(exits, fmt.Sprint(*e.Call.Exit))
			case e.Call != nil && e.Call.Command == look:
				exits = append(exits, fmt.Sprint("failed: ", e.Call.Failed))
			}
		}
	}
	if !slices.Equal(said, prompts) {
		t.Errorf("the archive has the prompts %q", said)
	}
	if !slices.Equal(exits, statuses) {
		t.Errorf("the command ended with %q in the archive, and with %q as the model saw it", exits, statuses)
	}
}

// checkLedger checks the list of texts that oxbow has shown to the model at the start of sessions, as the command
// "oxbow injected" prints it. The list must contain one start for the session, or one start for each of its runs if the
// client is in the list below.
func (p *person) checkLedger(program, client string) {
	p.t.Helper()
	want := 1
	// These clients do not keep the text when they resume a session, so hooks show it again.
	if slices.Contains([]string{"opencode", "copilot", "qwen"}, client) {
		want = turns
	}
	if out := p.run(program, "injected", "--json", "--place", "start"); strings.Count(out, `"place":"start"`) != want {
		p.t.Errorf("the ledger has %d starts, want %d: %s", strings.Count(out, `"place":"start"`), want, out)
	}
}
