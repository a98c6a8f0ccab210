// Each client with oxbow as its plug-in: alone, and beside oxbow setup.

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

// plugin says how a client installs a plug-in, and what is then different.
type plugin struct {
	// install returns the arguments of the commands that install the plug-in. bundle is its
	// directory in the repository.
	install func(repository, bundle string) [][]string
	tool    func(tool string, input map[string]any) call // nil if the tools have the same names
	run     []string                                     // arguments that let oxbow's tools and hooks run without asking
}

var plugins = map[string]plugin{
	"claude": {
		install: func(repository, _ string) [][]string {
			return [][]string{
				{"plugin", "marketplace", "add", repository},
				{"plugin", "install", "oxbow@oxbow", "--scope", "user"},
			}
		},
		tool: prefixedCalls("mcp__plugin_oxbow_oxbow__"),
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
	"opencode": {install: func(string, string) [][]string { return nil }}, // its configuration names the plug-in
}

// installPlugin installs the plug-in that the repository has for the client.
func (p *person) installPlugin(c *client, argv []string) {
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
	var config object
	if err := json.Unmarshal(b, &config); err != nil {
		p.t.Fatal(err)
	}
	config["plugin"] = []string{"file://" + filepath.ToSlash(filepath.Join(bundle, "index.js"))}
	if err := writeJSON(file, config); err != nil {
		p.t.Fatal(err)
	}
}

// withPlugin returns the client as it is run with the plug-in.
func withPlugin(c *client) *client {
	with := *c
	with.free = append(slices.Clone(c.free), plugins[c.name].run...)
	if c.name == "codex" || c.name == "gemini" || c.name == "qwen" || c.name == "copilot" {
		with.free = plugins[c.name].run // it contains what c.free has
	}
	if tool := plugins[c.name].tool; tool != nil {
		with.tool = tool
	}
	return &with
}

func TestPlugins(t *testing.T) {
	eachClient(t, func(t *testing.T, c *client, argv []string, program, modules string) {
		pluginAlone(t, withPlugin(c), argv, program, modules)
	})
}

// pluginAlone checks that the model can use the memory and is given it, and that the session is
// kept, without oxbow setup.
func pluginAlone(t *testing.T, c *client, argv []string, program, modules string) {
	m := &model{name: c.tool, shell: c.shell, marker: marker, steps: []step{
		{tool: "remember", input: object{"name": "deploy-day", "content": sentence}},
		{tool: "recall", input: object{"query": "when do we ship"}},
		{shell: "echo once"},
	}}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPersonWithoutSetup(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ship-day", sentence, "--tag", "decision")
	p.installPlugin(c, argv)
	prompts := []string{"Do it. " + marker}
	p.run(append(slices.Clone(argv), c.runArguments(prompts[0], true, false)...)...)
	if got := m.last(); !strings.Contains(got, "deploy-day") || strings.Count(got, "never on Fridays") < 2 {
		t.Errorf("the model was not given what it recalled: %s", tail([]byte(got)))
	}
	checkRequests(t, 0, conversation(m.requests), prompts, len(m.steps)+1)
	p.checkKeptOnce(program, c.name)
}

func TestPluginBesideSetup(t *testing.T) {
	eachClient(t, func(t *testing.T, c *client, argv []string, program, modules string) {
		pluginBesideSetup(t, withPlugin(c), argv, program, modules)
	})
}

// pluginBesideSetup checks that each block is shown once and each call is kept once if a person
// has both the plug-in and oxbow setup.
func pluginBesideSetup(t *testing.T, c *client, argv []string, program, modules string) {
	m := &model{name: c.tool, shell: c.shell, marker: marker, steps: []step{{shell: "echo once"}}}
	s := httptest.NewServer(m)
	defer s.Close()
	p := newPerson(t, c, program, modules, s.URL)
	p.run("git", "init", "-q")
	p.run(program, "remember", "ship-day", sentence, "--tag", "decision")
	p.installPlugin(c, argv)
	prompts := []string{"Do it. " + marker}
	p.run(append(slices.Clone(argv), c.runArguments(prompts[0], true, false)...)...)
	checkRequests(t, 0, conversation(m.requests), prompts, len(m.steps)+1)
	p.checkKeptOnce(program, c.name)
}

// checkKeptOnce checks that the archive has one session of the client, with its prompt and its
// command once each.
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
