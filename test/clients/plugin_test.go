// This file tests each client with oxbow as a plug-in of the client, first without oxbow setup and then with it.

package clients

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plugin describes how a client installs a plug-in, and how the client then differs.
type plugin struct {
	// install returns the commands that install the plug-in, without the name of the client. bundle is the directory
	// of the plug-in in the repository.
	install func(repository, bundle string) [][]string
	// The function tool returns the client's call for the given tool of oxbow. It is nil if the names of oxbow's tools
	// do not change with the plug-in.
	tool func(tool string, input map[string]any) toolCall
	// arguments with which the client runs oxbow's tools and hooks without asking
	run []string
}

var plugins = map[string]plugin{
	"claude": {
		install: func(repository, _ string) [][]string {
			return [][]string{
				{"plugin", "marketplace", "add", repository},
				{"plugin", "install", "oxbow@oxbow", "--scope", "user"},
			}
		},
		tool: prefixedCallFunc("mcp__plugin_oxbow_oxbow__"),
		run:  []string{"--allowedTools=mcp__plugin_oxbow_oxbow,mcp__oxbow"},
	},
	"codex": {
		install: func(repository, _ string) [][]string {
			return [][]string{{"plugin", "marketplace", "add", repository}, {"plugin", "add", "oxbow@oxbow"}}
		},
		run: []string{"--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"},
	},
	"gemini": {
		install: func(_, bundle string) [][]string { return [][]string{{"extensions", "link", bundle, "--consent"}} },
		run:     []string{"--approval-mode", "yolo"},
	},
	"qwen": {
		install: func(_, bundle string) [][]string { return [][]string{{"extensions", "install", bundle, "--consent"}} },
		run:     []string{"--approval-mode", "yolo"},
	},
	"copilot": {
		install: func(_, bundle string) [][]string { return [][]string{{"plugin", "install", bundle}} },
		run:     []string{"--allow-all-tools", "--allow-all-paths"},
	},
	// No commands are needed: installPlugin edits the configuration file.
	"opencode": {install: func(string, string) [][]string { return nil }},
}

// installPlugin installs the plug-in for the client from this repository.
func (p *person) installPlugin(c *testedClient, argv []string) {
	p.t.Helper()
	repository, err := filepath.Abs("../..")
	if err != nil {
		p.t.Fatal(err)
	}
	bundle := filepath.Join(repository, "internal", "deploy", "plugins", c.name)
	for _, args := range plugins[c.name].install(repository, bundle) {
		p.run(slices.Concat(argv, args)...)
	}
	if c.name != "opencode" {
		return
	}
	file := filepath.Join(p.home, ".config", "opencode", "opencode.json")
	b, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	var config jsonObject
	if err := json.Unmarshal(b, &config); err != nil {
		p.t.Fatal(err)
	}
	config["plugin"] = []string{"file://" + filepath.ToSlash(filepath.Join(bundle, "index.js"))}
	if err := writeJSON(file, config); err != nil {
		p.t.Fatal(err)
	}
}

// withPlugin returns a copy of the client that runs with the plug-in.
func withPlugin(c *testedClient) *testedClient {
	with := *c
	with.allowAllArgs = append(slices.Clone(c.allowAllArgs), plugins[c.name].run...)
	if c.name == "codex" || c.name == "gemini" || c.name == "qwen" || c.name == "copilot" {
		with.allowAllArgs = plugins[c.name].run // These arguments contain those in c.allowAllArgs.
	}
	if tool := plugins[c.name].tool; tool != nil {
		with.makeToolCall = tool
	}
	return &with
}

func TestPlugins(t *testing.T) {
	eachClient(t, func(t *testing.T, c *testedClient, argv []string, program, modules string) {
		pluginAlone(t, withPlugin(c), argv, program, modules)
	})
}

// pluginAlone tests the plug-in of the client c in a home in which "oxbow setup" was not run. The model must be able to
// call the tools remember and recall. Each request to the model must contain oxbow's block of notes exactly once. The
// session must be recorded. The command argv starts the client, and program is the path of oxbow.
func pluginAlone(t *testing.T, c *testedClient, argv []string, program, modules string) {
	m := &scriptedModel{
		makeToolCall:           c.makeToolCall,
		makeShellCall:          c.makeShellCall,
		mainConversationMarker: testPromptMarker,
		steps: []scriptStep{
			{toolName: "remember", input: jsonObject{"name": "deploy-day", "content": sentence}},
			{toolName: "recall", input: jsonObject{"query": "when do we ship"}},
			{shellCommand: "echo once"},
		},
	}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPersonWithoutSetup(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ship-day", sentence, "--tag", "decision")
	p.installPlugin(c, argv)
	prompts := []string{"Do it. " + testPromptMarker}
	p.run(append(slices.Clone(argv), c.runArguments(prompts[0], true, false)...)...)
	if got := m.lastRequest(); !strings.Contains(got, "deploy-day") || strings.Count(got, "never on Fridays") < 2 {
		t.Errorf("the model was not given what it recalled: %s", tail([]byte(got)))
	}
	checkRequests(t, 0, conversation(m.mainConversationRequests), prompts, len(m.steps)+1)
	p.checkKeptOnce(program, c.name)
}

func TestPluginBesideSetup(t *testing.T) {
	eachClient(t, func(t *testing.T, c *testedClient, argv []string, program, modules string) {
		pluginBesideSetup(t, withPlugin(c), argv, program, modules)
	})
}

// pluginBesideSetup installs the plug-in and also calls oxbow setup. Each text must still be shown once, and each call
// must be recorded once.
func pluginBesideSetup(t *testing.T, c *testedClient, argv []string, program, modules string) {
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
	p.installPlugin(c, argv)
	prompts := []string{"Do it. " + testPromptMarker}
	p.run(append(slices.Clone(argv), c.runArguments(prompts[0], true, false)...)...)
	checkRequests(t, 0, conversation(m.mainConversationRequests), prompts, len(m.steps)+1)
	p.checkKeptOnce(program, c.name)
}

// checkKeptOnce checks that the archive contains one session, that it belongs to the client, and that its prompt and
// its command are recorded once.
func (p *person) checkKeptOnce(program, client string) {
	p.t.Helper()
	kept := p.run(program, "session", "show", p.onlySession(program), "--json")
	if want := `"client":"` + client + `"`; !strings.Contains(kept, want) {
		p.t.Errorf("the archive lacks %s: %s", want, tail([]byte(kept)))
	}
	for _, once := range []string{`"kind":"prompt"`, `"command":"echo once"`} {
		if n := strings.Count(kept, once); n != 1 {
			p.t.Errorf("the archive has %s %d times, want once: %s", once, n, tail([]byte(kept)))
		}
	}
}
