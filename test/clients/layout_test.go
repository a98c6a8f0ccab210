// This file tests that the tools of each layout work in a client that runs without a person.

package clients

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// layoutCalls lists, for each layout, the tool calls that a model makes. The calls first use all tools that write, and
// then a tool that finds the written text. The field start is a part of the text that oxbow shows to the model at the
// start of a session.
var layoutCalls = []struct {
	layout, start string
	steps         []scriptStep
}{
	{"entryfiles", "You have a memory that outlives this conversation", []scriptStep{
		{
			toolName: "remember",
			input:    jsonObject{"name": "deploy-day", "description": "deploy day", "content": sentence},
		},
		{toolName: "remember", input: jsonObject{"name": "old", "description": "an old entry", "content": "Old."}},
		{toolName: "forget", input: jsonObject{"name": "old"}},
		{toolName: "memory", input: jsonObject{"content": "The overview was written."}},
		{toolName: "recall", input: jsonObject{"query": "deploy day"}},
	}},
	{"crabtalk", "You have a memory that outlasts this conversation", []scriptStep{
		{toolName: "remember", input: jsonObject{"name": "deploy-day", "content": sentence}},
		{toolName: "remember", input: jsonObject{"name": "old", "content": "Old."}},
		{toolName: "forget", input: jsonObject{"name": "old"}},
		{toolName: "recall", input: jsonObject{"query": "tuesdays"}},
	}},
	{"duragent", "## Directives", []scriptStep{
		{toolName: "remember", input: jsonObject{"content": sentence}},
		{toolName: "reflect", input: jsonObject{"content": "My own notes were written."}},
		{toolName: "update_world", input: jsonObject{"topic": "rack", "content": "The rack is in room 4."}},
		{toolName: "search_memory", input: jsonObject{"query": "tuesdays"}},
	}},
	{"clawft", "", []scriptStep{ // A session with an empty memory starts without a text.
		{toolName: "memory_write", input: jsonObject{"content": sentence}},
		{toolName: "memory_read", input: jsonObject{"query": "tuesdays"}},
	}},
	{"coderhapsody", "## Your memory", []scriptStep{
		{toolName: "save_memory", input: jsonObject{"content": sentence, "tags": []string{"decision"}}},
		{toolName: "handoff_task", input: jsonObject{"summary": "The grid is done.", "plan": "Walls next."}},
		{toolName: "recall_memory", input: jsonObject{"query": "tuesdays"}},
	}},
}

// TestLayouts tests the tools that oxbow offers for each layout. A layout is the form in which a memory is stored in
// files. The test sets up Claude Code for a memory with the layout, and lets the model call the tools. No person can
// approve a tool, so the client refuses a tool that setup did not approve.
func TestLayouts(t *testing.T) {
	eachClient(t, func(t *testing.T, c *testedClient, argv []string, program, modules string) {
		if c.name != "claude" {
			t.Skip("the approvals of one client are tested; package setup tests those of the others")
		}
		for _, tt := range layoutCalls {
			t.Run(tt.layout, func(t *testing.T) {
				m := &scriptedModel{
					makeToolCall:           c.makeToolCall,
					mainConversationMarker: testPromptMarker,
					steps:                  tt.steps,
				}
				s := httptest.NewServer(m)
				defer s.Close()
				p := newPersonWithoutSetup(t, c, program, modules, s.URL)
				memory := filepath.Join(p.home, "memory")
				p.run(program, "init", "--dialect", tt.layout, "--home", memory)
				p.run(program, "--home", memory, "setup", c.name, "--yes", "--trust")
				p.run(slices.Concat(argv, c.runArgs, []string{"Please do it. " + testPromptMarker})...)

				last := m.lastRequest()
				if strings.Count(last, `"type":"tool_result"`) != len(tt.steps) ||
					strings.Contains(last, `"is_error":true`) {
					t.Errorf("a tool was refused or failed: %s", tail([]byte(last)))
				}
				if strings.Count(last, "never on Fridays") < 2 || !strings.Contains(last, tt.start) {
					t.Errorf("the model lacks what it recalled, or the start of the session: %s", tail([]byte(last)))
				}
				if !contains(t, p.home, sentence) {
					t.Errorf("no file of the home contains %q", sentence)
				}
				p.run(program, "--home", memory, "check")
			})
		}
	})
}

// contains reports whether a file in the directory memory below home contains the text.
func contains(t *testing.T, home, text string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(home, "memory"), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		found = found || strings.Contains(string(data), text)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return found
}
