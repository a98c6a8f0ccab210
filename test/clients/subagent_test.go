// This file tests a sub-agent of Gemini CLI. Hooks must not show the sub-agent the texts that are meant for the
// person's prompt. The archive must record the answer of the sub-agent.

package clients

import (
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func TestSubagents(t *testing.T) { eachClient(t, subagents) }

// subagents lets the model start a sub-agent. The requests of the sub-agent must not contain a block of memory entries.
// The archive must contain the sub-agent's call and answer once.
func subagents(t *testing.T, c *testedClient, argv []string, program, modules string) {
	if c.startAgentCall.Name == "" {
		t.Skip("this client's sub-agents are covered by recorded reports")
	}

	m := &scriptedModel{
		makeToolCall:           c.makeToolCall,
		mainConversationMarker: testPromptMarker,
		subagentTask:           subagentTask,
		endAgentCall:           c.endAgentCall,
		steps:                  []scriptStep{{clientToolCall: &c.startAgentCall}},
	}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run(program, "remember", "ferry", ferry)
	p.run(program, "inject", "calibrate the floor")
	p.run(slices.Concat(argv, c.runArguments("Find it. "+testPromptMarker, true, false))...)

	asked := 0
	for _, body := range m.requestsWithoutMarker {
		if !strings.Contains(body, subagentTask) {
			continue
		}
		asked++
		if strings.Contains(body, "oxbow-memory") {
			t.Errorf("the sub-agent was given a block: %s", tail([]byte(body)))
		}
	}
	if asked == 0 {
		t.Errorf("no sub-agent has asked the model; requests beside: %d", len(m.requestsWithoutMarker))
	}
	kept := p.run(program, "session", "show", p.onlySession(program), "--json")
	for want, times := range map[string]int{
		`"kind":"prompt"`:      1,
		`"kind":"call"`:        1,
		`"agent":"generalist"`: 1,
		`"text":"Pier nine."`:  1,
	} {
		if got := strings.Count(kept, want); got != times {
			t.Errorf("the archive has %s %d times, want %d: %s", want, got, times, tail([]byte(kept)))
		}
	}
}
