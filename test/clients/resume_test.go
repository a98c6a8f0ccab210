// One session of six runs, each of which resumes it: what oxbow says comes once, what it
// keeps is true, and the person's prompts stay in the conversation.

package clients

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

const turns = 6

// look fails until the file is there. It takes longer than what comes after it, so that
// the end of the first run is nearer to the begin of the second than to its own.
const look = "sleep 1; cat gone.txt"

func TestResume(t *testing.T) { eachClient(t, resumes) }

func resumes(t *testing.T, c *client, argv []string, program, modules string) {
	m := &model{
		name:   c.tool,
		shell:  c.shell,
		marker: marker,
		steps:  []step{{shell: look}, {shell: "echo here > gone.txt"}, {shell: look}},
	}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ship-day", sentence, "--tag", "decision")

	var prompts []string
	for n := range turns {
		prompts = append(prompts, fmt.Sprintf("Do number %d. %s", n+1, marker))
		m.reset(marker)
		_, said := p.runApart(append(slices.Clone(argv), c.arguments(prompts[n], true, n > 0)...)...)
		if strings.Contains(strings.ToLower(said), "oxbow") {
			t.Errorf("run %d: standard error names oxbow:\n%s", n+1, tail([]byte(said)))
		}
		checkRequests(t, n, m.requests, prompts)
	}
	p.checkArchive(program, prompts)
	p.checkLedger(program, c.name)
}

func TestScopes(t *testing.T) { eachClient(t, scopes) }

// scopes sets a client up for the user and for the project: what oxbow says comes once all
// the same, and a command is kept once.
func scopes(t *testing.T, c *client, argv []string, program, modules string) {
	m := &model{name: c.tool, shell: c.shell, marker: marker, steps: []step{{shell: "echo once"}}}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ship-day", sentence, "--tag", "decision")
	p.run(program, "setup", c.name, "--scope", "project", "--yes", "--trust")
	prompts := []string{"Do it. " + marker}
	p.run(append(slices.Clone(argv), c.arguments(prompts[0], true, false)...)...)
	checkRequests(t, 0, m.requests, prompts)
	if out := p.run(program, "session", "search", "once", "--json"); strings.Count(out, `"command":"echo once"`) > 1 {
		t.Errorf("the archive has the command more than once: %s", out)
	}
}

// checkRequests checks that no request of a run has the block of the start twice, that one
// has it, and that the last one has the prompts of all runs up to it. Qwen Code also asks the
// model for a suggestion, without the block.
func checkRequests(t *testing.T, n int, requests, prompts []string) {
	t.Helper()
	if len(requests) == 0 {
		t.Fatalf("run %d: the model was not asked", n+1)
	}
	most := 0
	for _, body := range requests {
		most = max(most, strings.Count(body, "oxbow-memory")/2)
	}
	if most != 1 {
		t.Errorf("run %d: a request has up to %d blocks, want 1", n+1, most)
	}
	for _, prompt := range prompts {
		if !strings.Contains(requests[len(requests)-1], prompt) {
			t.Errorf("run %d: the request lacks the prompt %q", n+1, prompt)
		}
	}
}

// checkArchive checks that the archive has each prompt once, and the outcomes of the
// command that the model saw.
func (p *person) checkArchive(program string, prompts []string) {
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
	if !slices.Equal(exits, []string{"1", "0"}) {
		t.Errorf("the command ended with %q in the archive, want 1 and 0", exits)
	}
}

// checkLedger checks that each text that was put before the model is recorded, once.
func (p *person) checkLedger(program, client string) {
	p.t.Helper()
	want := 1
	if slices.Contains([]string{"opencode", "copilot", "qwen"}, client) { // they forget it at a resume
		want = turns
	}
	if out := p.run(program, "injected", "--json", "--place", "start"); strings.Count(out, `"place":"start"`) != want {
		p.t.Errorf("the ledger has %d starts, want %d: %s", strings.Count(out, `"place":"start"`), want, out)
	}
}
