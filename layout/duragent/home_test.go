// This file tests homes, which are directories with a memory. It tests how homes are found and created, their
// configuration, which texts a model gets, and conversations.

package duragent

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/layout/internal/layouttest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestDetect(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files []string
		want  int
	}{
		{"nothing", nil, 0},
		{"the configuration", []string{"duragent.yaml"}, 3},
		{"a workspace", []string{".duragent/memory/world/x.md", ".duragent/agents/rei/agent.yaml"}, 2},
		{"the workspace itself", []string{"memory/world/x.md", "agents/rei/memory/MEMORY.md"}, 2},
		{"agents of something else", []string{"agents/reviewer.md", "agents/x/README.md"}, 0},
		{"a file of that name", []string{"memory/world"}, 0},
	} {
		fsys := vfs.NewMem()
		for _, f := range tt.files {
			put(t, fsys, f, "x: y")
		}
		if got, err := Dialect().Detect(fsys); got != tt.want || err != nil {
			t.Errorf("%s: Detect() = %d, %v; want %d", tt.name, got, err, tt.want)
		}
	}
}

// TestPlaces tests that the home uses the directories that duragent.yaml specifies for the workspace, the agents and
// the world memory. A workspace directory can also be opened directly. Open must fail with ErrInvalid if duragent.yaml
// specifies a directory that is not allowed.
func TestPlaces(t *testing.T) {
	fsys := vfs.NewMem()
	put(t, fsys, "duragent.yaml", "workspace: ws\nagents_dir: crew\nworld_memory:\n  path: custom/world\n")
	put(t, fsys, "crew/rei/agent.yaml", oxbowAgent[:len("spec:\n  memory:\n")])
	put(t, fsys, "ws/directives/a.md", "shared")
	put(t, fsys, "crew/rei/directives/a.md", "own")
	h := openHome(t, options(fsys, ""))
	want(
		t,
		h,
		"update_world",
		m{"topic": "people", "content": "Alice"},
		"Updated world knowledge at home/custom/world/people.md",
	)
	want(t, h, "reflect", m{"content": "x"}, "Reflected. Updated home/crew/rei/memory/MEMORY.md")
	c, err := h.Context(t.Context(), layout.Request{})
	if want := "## Directives\n- shared\n- " + strings.TrimSpace(memoryDirective) + "\n- own\n"; err != nil ||
		c.Text() != want {
		t.Errorf("Context = %q, %v, want %q", c.Text(), err, want)
	}

	fsys = vfs.NewMem()
	o := options(fsys, "")
	o.Path = "/srv/project/.duragent"
	made, err := Dialect().Init(t.Context(), o)
	if want := []string{"memory/world", "agents/main/agent.yaml", "directives/memory.md"}; err != nil ||
		!slices.Equal(made, want) {
		t.Errorf("Init of a workspace = %q, %v, want %q", made, err, want)
	}
	o.Path = "elsewhere" // the content of the directory shows that it is a workspace
	want(
		t,
		openHome(t, o),
		"update_world",
		m{"topic": "people", "content": "Alice"},
		"Updated world knowledge at elsewhere/memory/world/people.md",
	)

	for text, why := range map[string]string{
		"world_memory: {path: .duragent/agents/main/memory}": "needs its own",
		"workspace: ../other":                                "line 1",
	} {
		fsys = vfs.NewMem()
		put(t, fsys, "duragent.yaml", text)
		if _, err := Dialect().Open(t.Context(), options(fsys, "")); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("Open() with %q = %v, want it to say %q", text, err, why)
		}
	}
}

func TestAgents(t *testing.T) {
	fsys := vfs.NewMem()
	agents(t, fsys, backendFiles, "rei", "bob")
	if _, err := Dialect().Open(t.Context(), options(fsys, "")); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "bob, rei") {
		t.Errorf("opening one of two = %v", err)
	}
	for _, name := range []string{"..", ".", "a/b", `a\b`, ".hid", "a:b", " a", strings.Repeat("n", 201)} {
		if _, err := Dialect().Open(t.Context(), options(fsys, name)); !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("opening agent %q = %v", name, err)
		}
	}
	// If the agent's name is misspelled, Open must fail and create no agent.
	if _, err := Dialect().Open(t.Context(), options(fsys, "rie")); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "there are: bob, rei") {
		t.Errorf("opening a misspelt agent = %v", err)
	}
	// An agent without agent.yaml has a memory, which is stored with the backend of the other agents.
	if err := fsys.MkdirAll(".duragent/agents/new", 0o755); err != nil {
		t.Fatal(err)
	}
	if h := openHome(t, options(fsys, "new")); len(h.Tools()) != 5 {
		t.Errorf("a new agent has %d tools", len(h.Tools()))
	}
	// All agents share the facts about the world. Opening must fail if the agents use different backends, because the
	// facts cannot be stored in two places.
	agents(t, fsys, backendOxbow, "bob")
	for _, name := range []string{"bob", "rei"} {
		if _, err := Dialect().Open(t.Context(), options(fsys, name)); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(err.Error(), "share one world") {
			t.Errorf("opening %s = %v", name, err)
		}
	}
	// One without memory sees the world where the others keep it.
	agents(t, fsys, backendOxbow, "rei", "new")
	put(t, fsys, ".duragent/agents/plain/agent.yaml", "spec:\n  model: x\n")
	add(t, openHome(t, options(fsys, "rei")).Memory(), oxbow.Add{Name: "people", Content: "Alice"})
	if e, err := openHome(t, options(fsys, "plain")).Memory().Get(t.Context(), "people"); err != nil ||
		e.Content != "Alice" {
		t.Errorf("an agent without memory sees %q, %v", e.Content, err)
	}
	// A broken configuration of another agent causes a warning. A broken configuration of the agent that is opened
	// causes an error with its line number.
	put(t, fsys, ".duragent/agents/bob/agent.yaml", "spec:\n  memory: [\n")
	var warned []string
	o := options(fsys, "rei")
	o.Warn = func(s string) { warned = append(warned, s) }
	openHome(t, o)
	if len(warned) != 1 || !strings.Contains(warned[0], "agent bob") {
		t.Errorf("warned %q", warned)
	}
	if _, err := Dialect().Open(t.Context(), options(fsys, "bob")); !errors.Is(err, oxbow.ErrInvalid) ||
		!strings.Contains(err.Error(), "line 2") {
		t.Errorf("opening bob = %v", err)
	}
}

// TestInitAgents tests that Init writes the agent's name to agent.yaml so that it can be read back, whatever the name
// is. The agent must have five tools.
func TestInitAgents(t *testing.T) {
	fsys := vfs.NewMem()
	for _, name := range []string{"rei", "no", "it's me", "日本", "1e3"} {
		if _, err := Dialect().Init(t.Context(), options(fsys, name)); err != nil {
			t.Errorf("Init(%q) = %v", name, err)
			continue
		}
		f, err := parseYAML("agent.yaml", []byte(read(t, fsys, ".duragent/agents/"+name+"/agent.yaml")))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, _, err := f.textAt("metadata.name", ""); err != nil || got != name {
			t.Errorf("the agent.yaml of %q names %q, %v", name, got, err)
		}
		if h := openHome(t, options(fsys, name)); len(h.Tools()) != 5 {
			t.Errorf("agent %q has %d tools", name, len(h.Tools()))
		}
	}
}

func TestReadOnly(t *testing.T) {
	for _, backend := range []string{backendFiles, backendOxbow} {
		fsys := vfs.NewMem()
		agents(t, fsys, backend, "rei")
		if _, err := call(t, openHome(t, options(fsys, "")), "remember", m{"content": "x"}); err != nil {
			t.Fatal(err)
		}
		if err := fsys.Remove(".duragent/directives/memory.md"); err != nil {
			t.Fatal(err)
		}
		before := fsys.Names()
		o := options(fsys, "")
		o.Memory.ReadOnly = true
		h := openHome(t, o)
		want(t, h, "recall", m{}, "# Recent Experiences\n\n# 2026-02-18\n\n## 15:46\n\nx\n")
		for tool, args := range map[string]m{
			"remember":     {"content": "y"},
			"reflect":      {"content": "y"},
			"update_world": {"topic": "a", "content": "y"},
		} {
			if got, err := call(t, h, tool, args); !errors.Is(err, oxbow.ErrReadOnly) {
				t.Errorf("%s: %s = %q, %v", backend, tool, got, err)
			}
		}
		if c, err := h.Context(t.Context(), layout.Request{}); err != nil ||
			!strings.Contains(c.Text(), strings.TrimSpace(memoryDirective)) {
			t.Errorf("%s: without the file, Context = %q, %v", backend, c.Text(), err)
		}
		if after := fsys.Names(); !slices.Equal(before, after) {
			t.Errorf("%s: a home that may not be written holds %q, there was %q", backend, after, before)
		}
	}
}

func TestDirectives(t *testing.T) {
	fsys := vfs.NewMem()
	o := options(fsys, "rei")
	made, err := Dialect().Init(t.Context(), o)
	if err != nil || len(made) != 4 {
		t.Fatalf("Init = %q, %v", made, err)
	}
	if again, err := Dialect().Init(t.Context(), o); err != nil || len(again) != 0 {
		t.Errorf("Init again = %q, %v", again, err)
	}
	put(t, fsys, ".duragent/directives/memory.md", "use it\n")
	put(t, fsys, ".duragent/directives/b.md", "bee")
	put(t, fsys, ".duragent/directives/blank.md", " \n")
	put(t, fsys, ".duragent/directives/a.txt", "no")
	put(t, fsys, ".duragent/directives/.b.md.swp.md", "no")
	put(t, fsys, ".duragent/directives/c.md", "\xff")
	var warned []string
	o.Warn = func(s string) { warned = append(warned, s) }
	put(t, fsys, ".duragent/agents/rei/directives/a.md", "mine\nalso")
	h := openHome(t, o)
	c, err := h.Context(t.Context(), layout.Request{})
	if want := "## Directives\n- bee\n- use it\n- mine\nalso\n"; err != nil || c.Text() != want {
		t.Errorf("Context = %q, %v, want %q", c.Text(), err, want)
	}
	if len(warned) != 1 || !strings.Contains(warned[0], "c.md") {
		t.Errorf("warned %q", warned)
	}
	if markers, err := Dialect().Detect(fsys); markers == 0 || err != nil {
		t.Errorf("Detect = %d, %v", markers, err)
	}
	// If an agent has memory, memory.md is created again at the start. Agent bob has no memory in its settings, and
	// therefore no tools.
	put(t, fsys, ".duragent/agents/bob/agent.yaml", "spec:\n  model: x\n")
	if err := fsys.Remove(".duragent/directives/memory.md"); err != nil {
		t.Fatal(err)
	}
	bob := openHome(t, options(fsys, "bob"))
	if len(bob.Tools()) != 0 || read(t, fsys, ".duragent/directives/memory.md") != memoryDirective {
		t.Errorf("an agent without memory has %d tools", len(bob.Tools()))
	}
}

func TestConfig(t *testing.T) {
	g, err := parseGlobalConfig([]byte("workspace: ws\nworld_memory:\n  path: custom/world\nserver: {port: 1}\n"))
	if want := (globalConfig{"ws", "ws/agents", "custom/world"}); err != nil || g != want {
		t.Errorf("parseGlobal = %+v, %v, want %+v", g, err, want)
	}
	for text, why := range map[string]string{
		"workspace: ../x": "line 1", "a: 1\nworkspace: [x]": "line 2", "workspace: /etc": "line 1",
		"- a":                        "not a mapping",
		"workspace: a\nworkspace: b": "twice", "a: [": "line", "world_memory: x": "must be a mapping",
	} {
		if _, err := parseGlobalConfig([]byte(text)); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("parseGlobal(%q) = %v, want it to say %q", text, err, why)
		}
	}
	for text, want := range map[string]agentConfig{
		"": {}, "spec: {}": {}, "spec: {memory: }": {true, backendFiles}, "spec: {memory: {}}": {true, backendFiles},
		oxbowAgent: {true, backendOxbow},
	} {
		if c, err := parseAgentConfig("agent.yaml", []byte(text)); err != nil || c != want {
			t.Errorf("parseAgent(%q) = %+v, %v, want %+v", text, c, err, want)
		}
	}
	if _, err := parseAgentConfig("agent.yaml", []byte("spec:\n  memory:\n    backend: sqlite\n")); err == nil ||
		!strings.Contains(err.Error(), "line 3") {
		t.Errorf("an unknown backend = %v, want its line", err)
	}
}

func FuzzConfig(f *testing.F) {
	f.Add("workspace: ws\nworld_memory:\n  path: custom/world\nagents_dir: ../x\n")
	f.Add(oxbowAgent)
	f.Add("spec: &a\n  memory: *a\nworkspace: !!int 3\n")
	f.Fuzz(func(t *testing.T, text string) {
		g, err := parseGlobalConfig([]byte(text))
		if err != nil && !errors.Is(err, oxbow.ErrInvalid) {
			t.Errorf("parseGlobal(%q) = %v", text, err)
		}
		for _, dir := range []string{g.workspacePath, g.agentsPath, g.worldPath} {
			if err == nil && !fs.ValidPath(dir) {
				t.Errorf("parseGlobal(%q) = %+v", text, g)
			}
		}
		c, err := parseAgentConfig("agent.yaml", []byte(text))
		if (err != nil && !errors.Is(err, oxbow.ErrInvalid)) ||
			(err == nil && c.hasMemory && c.backend != backendFiles && c.backend != backendOxbow) {
			t.Errorf("parseAgent(%q) = %+v, %v", text, c, err)
		}
	})
}

func TestSession(t *testing.T) {
	fsys := vfs.NewMem()
	h := openHome(t, options(fsys, "rei"))
	s, err := h.Session(t.Context(), layout.Request{})
	if err != nil {
		t.Fatal(err)
	}
	name, _, err := s.Compact(t.Context(), "we fixed the parser")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Resume(t.Context(), name)
	if err != nil || !strings.Contains(c.Text(), "we fixed the parser") ||
		!strings.HasPrefix(c.Text(), "## Directives\n") {
		t.Errorf("Resume(%q) = %q, %v", name, c.Text(), err)
	}
	if _, err := s.Resume(t.Context(), "ghost"); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Resume(ghost) = %v, want %v", err, oxbow.ErrNotFound)
	}
	if err := s.End(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if err := s.End(t.Context(), "all done"); err != nil {
		t.Error(err)
	}
	if got := read(t, fsys, ".duragent/agents/rei/memory/daily/2026-02-18.md"); strings.Count(got, "## 15:46") != 2 {
		t.Errorf("the day is %q", got)
	}
}

// TestWriters tests that the tools lose nothing that a person typed.
func TestWriters(t *testing.T) {
	layouttest.CheckWriteTools(t, Dialect(), [][]layouttest.WriteCall{
		{{Tool: "remember", Args: layouttest.Args{"content": "TEXT"}}},
		{{Tool: "reflect", Args: layouttest.Args{"content": "TEXT"}}},
		{{Tool: "update_world", Args: layouttest.Args{"topic": "n", "content": "TEXT"}}},
	})
}
