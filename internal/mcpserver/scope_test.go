// This file tests that a server whose clients are restricted to a profile reveals nothing about entries outside of the
// profile. The tests call every tool and read every kind of resource. They do so with two memories that differ only in
// the entries outside of the profile. Both memories must return equal answers.

package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/skill"
	"github.com/oxbow-memory/oxbow/internal/agent/subagent"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// harborProfiles returns the profiles of a home. The profile harbor selects one project.
func harborProfiles(t *testing.T) *profile.Set {
	t.Helper()
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("profiles", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"profiles/harbor.yaml":   "name: harbor\ninclude:\n  projects: [harbor]\nexclude:\n  tags: [sealed]\n",
		"profiles/airfield.yaml": "name: airfield\ninclude:\n  projects: [airfield, swamp]\n",
		"profiles/broken.yaml":   "name: broken\ninclude:\n  project: [harbor]\n",
		"SOUL.md":                "I am the harbor master.\n",
	} {
		if err := vfs.WriteFile(fsys, name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &profile.Set{Places: []profile.Place{{FS: fsys, Dirs: profile.HomeDirs}}}
}

// stranger is an entry that a client must not see, because its project is not in the profile harbor. The entry is first
// added with the given name, alias, project and text, and then updated to the content later.
type stranger struct{ name, alias, project, text, later string }

// The list strangers contains two entries that do not belong to the project harbor. A test memory contains one of them
// and texts derived from it. The answers to a client that is restricted to the project must not show which of the two
// entries was used.
var strangers = []stranger{
	{"zeppelin", "airship", "airfield", "The zeppelin carries passengers.",
		"Sold to the zymurgist, with container and crane."},
	{"quagmire", "bog", "swamp", "Peat, peat, and the noon test.", "Drained."},
}

// strangerMemory returns a memory with entries of the project harbor and entries of the stranger in the argument out,
// which belong to another project. It contains an entry with the tag sealed in sealedProject, which is either harbor,
// where a profile excludes the tag, or the stranger's project. The clock advances by one minute with each reading.
func strangerMemory(t *testing.T, out stranger, sealedProject string) *oxbow.Memory {
	t.Helper()
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time {
		now = now.Add(time.Minute)
		return now
	}})
	in := func(project string, more ...oxbow.Label) []oxbow.Label {
		return append([]oxbow.Label{{Key: oxbow.LabelProject, Value: project}}, more...)
	}
	sealed := oxbow.Label{Key: oxbow.LabelTag, Value: "sealed"}
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "crane", Content: "The crane lifts containers.", Labels: in("harbor")},
		oxbow.Add{Name: out.name, Aliases: []string{out.alias}, Content: out.text, Labels: in(out.project)},
		oxbow.Add{
			Name:    "habit",
			Content: "Write the test first.",
			Labels:  []oxbow.Label{{Key: profile.LabelProcess, Value: "true"}},
		},
		oxbow.Add{Name: out.name + " safe", Content: out.later, Labels: in(sealedProject, sealed)},
		oxbow.Update{Name: out.name, Aliases: []string{out.alias}, Content: out.later, Labels: in(out.project)},
		oxbow.Add{Name: "tide", Content: "High tide at noon.", Labels: in("harbor")},
		oxbow.Add{Name: out.name + " lost", Content: out.text, Labels: in(out.project)},
		oxbow.Remove{Name: out.name + " lost"},
	} {
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// bounds lists the ways in which a client can be restricted to the harbor.
var bounds = []struct {
	name string
	// The client is restricted to project harbor, but not by profile harbor. It sees the entry with the tag sealed,
	// which the profile excludes. It does not see the entry habit, which belongs to no project but to all profiles.
	project bool
	ro      bool
	short   bool // also tested in short runs
	version string
	connect func(t *testing.T, m *oxbow.Memory, version string) *mcp.ClientSession
}{
	{"profile of the server", false, false, true, versions[1],
		func(t *testing.T, m *oxbow.Memory, version string) *mcp.ClientSession {
			set := harborProfiles(t)
			r, err := set.Resolve("harbor")
			if err != nil {
				t.Fatal(err)
			}
			workspace := harborWorkspace(scope.Within(m, r.Scope()))
			o := harborOptions(Options{Profiles: set, WorkspaceProfile: &r})
			o.UnrestrictedTools = profiles.SubAgentTools(
				&subagent.Service{Profiles: set, Skills: &skill.Set{}, RestrictingProfile: &r, ProgramPath: "oxbow"},
			)
			return overMemory(t, New(workspace, o), version)
		}},
	{"rights of the server", true, false, false, versions[1],
		func(t *testing.T, m *oxbow.Memory, version string) *mcp.ClientSession {
			return overMemory(
				t,
				New(
					harborWorkspace(m),
					harborOptions(Options{
						Profiles: harborProfiles(t),
						Rights:   auth.Permissions{Projects: []string{"harbor"}},
					}),
				),
				version,
			)
		}},
	{"path", false, false, true, versions[0], atPath("/mcp/p/harbor", auth.Permissions{})},
	{"path of an older protocol", false, false, false, versions[2], atPath("/mcp/p/harbor", auth.Permissions{})},
	{"token of a profile", false, false, false, versions[0], atPath("/mcp", auth.Permissions{Profile: "harbor"})},
	{"token of a project", true, false, false, versions[0],
		atPath("/mcp", auth.Permissions{Projects: []string{"harbor"}})},
	{"token of a project and a kind", true, false, false, versions[1],
		atPath("/mcp", auth.Permissions{Projects: []string{"harbor"}, Kinds: []string{"note"}})},
	{"token that only reads a project", true, true, true, versions[0],
		atPath("/mcp", auth.Permissions{ReadOnly: true, Projects: []string{"harbor"}})},
	{"token that only reads, at a path", false, true, false, versions[1],
		atPath("/mcp/p/harbor", auth.Permissions{ReadOnly: true})},
}

func harborWorkspace(m *oxbow.Memory) *verb.Workspace {
	return &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Now: func() time.Time { return time.Date(2026, 4, 2, 9, 0, 0, 0, time.UTC) }}
}

func harborOptions(o Options) *Options {
	o.UnrestrictedTools = profiles.SubAgentTools(nil)
	o.Rand = strings.NewReader(strings.Repeat("r", 1<<10))
	return &o
}

// atPath returns a function that connects a client to an HTTP path, with a token that has these rights.
func atPath(path string, rights auth.Permissions) func(*testing.T, *oxbow.Memory, string) *mcp.ClientSession {
	return func(t *testing.T, m *oxbow.Memory, version string) *mcp.ClientSession {
		url := serveTokens(
			t,
			New(harborWorkspace(m), harborOptions(Options{Profiles: harborProfiles(t)})),
			auth.Tokens{auth.NewToken("it", token, rights)},
		)
		cs := client(
			t,
			&mcp.StreamableClientTransport{Endpoint: url + path, HTTPClient: &http.Client{Transport: bearer{token}}},
			version,
		)
		t.Cleanup(func() { cs.Close() })
		return cs
	}
}

// serveTokens starts an HTTP server on the loopback interface and returns its URL.
func serveTokens(t *testing.T, s *Server, ts auth.Tokens) (url string) {
	t.Helper()
	mux := http.NewServeMux()
	door := s.Handler(auth.RequestGuard{Tokens: ts})
	mux.Handle("/mcp", door)
	mux.Handle("/mcp/p/{profile}", door)
	srv := httptest.NewServer(mux)
	t.Cleanup(func() {
		srv.CloseClientConnections()
		srv.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return srv.URL
}

// probes contains the arguments of calls for each tool. The calls ask for entries outside of the profile and change
// entries inside it.
var probes = map[string][]obj{
	"recall": {
		{"query": "zeppelin"}, {"query": "zepelin zymurgist"}, {"query": "crane", "explain": true},
		{"query": "crane", "explain": true, "rank": "seed"},
		{"query": "the passengers", "limit": 100}, {"filter": "project:airfield"}, {"filter": "project:airfeld"},
		{"filter": "tag:sealed"},
		{"filter": "has:tag"}, {"filter": `name:"zeppelin"`}, {"query": "zep*"}, {"query": "zeppelin", "as_of": "5"},
		{"query": "crane", "as_of": "5", "explain": true},
		{"query": "container", "as_of": "2026-04-01"}, {"filter": "kind:note", "limit": 100},
		{"query": "crane", "explain": true, "recency": "30d"},
	},
	"recall_memory": {
		{"query": "zeppelin"}, {"project": "airfield"}, {"tags": []string{"sealed", "x"}, "tags_match": "any"},
		{"date": "2026-04-01", "max_results": 100},
		{"date_range": []string{"2026-03-01", ".."}, "query": "passengers"}, {"related_file": "zeppelin.go"},
	},
	"get": {
		{"name": "zeppelin"},
		{"name": "zepelin"},
		{"name": "airship"},
		{"name": "zeppelin@2"},
		{"name": "zeppelin safe"},
		{"name": "zeppelin lost"},
		{"name": "zeppelin lost@7"},
		{"name": "crane"},
	},
	"list": {
		{},
		{"project": "airfield"},
		{"project": "airfeld"},
		{"tags": []string{"sealed"}},
		{"filter": "-project:harbor"},
		{"limit": 1},
		{"offset": 2},
	},
	"history": {{}, {"name": "zeppelin"}, {"name": "zeppelin lost"}, {"name": "airship"}, {"name": "crane"}},
	"forget": {
		{"name": "zeppelin"},
		{"name": "airship", "dry_run": true},
		{"name": "zeppelin safe"},
		{"name": "habit"},
	},
	"restore": {{"name": "zeppelin", "seq": 2}, {"name": "zeppelin lost", "seq": 7}, {"name": "crane", "seq": 2}},
	"undo": {
		{"seq": []int{2}},
		{"seq": []int{5, 6}},
		{"seq": []int{8}},
		{"seq": []int{3}},
		{"seq": []int{99}},
		{"dry_run": true, "count": 3},
		{"dry_run": true, "count": 100},
	},
	"load_memory_profile": {
		{}, {"name": "airfield"}, {"name": "airfeld"}, {"name": "broken"}, {"name": "nothing"}, {"name": "../SOUL"},
		{"name": "airfield", "query": "zeppelin"},
		{"name": "harbor", "query": "zeppelin crane", "max_tokens": 1000}, {"name": "harbor"},
	},
	"unload_memory_profile": {{"handle": "airfield@0-00000000"}, {}, {}},
	"save_memory": {
		{"content": "The ferry is late.", "tags": []string{"decision"}},
		{"content": "x", "project": "airfield"},
		{"content": "y", "tags": []string{"sealed"}},
	},
	"handoff_task": {
		{"summary": "Paint the crane.", "plan": "Ask first."},
		{"summary": "Fly.", "project": "airfield"},
	},
	"spawn_sub_agent": {
		{"agent_id": "a", "task": "Tell of the zeppelin."},
		{"agent_id": "a", "task": "Look.", "memory_profile": "airfield"},
		{"agent_id": "a", "task": "Look.", "skill_name": "zeppelin"},
		{"agent_id": "a", "task": "Look back.", "memory_profile": "harbor", "as_of": "5", "budget": 2000},
		{"agent_id": "a", "task": "Look back.", "as_of": "2026-04-01"},
	},
	"remember": {
		{"name": "crane", "content": "The crane is broken."}, {"name": "x", "content": "x", "project": "airfield"},
		{"name": "x", "content": "x", "tags": []string{"sealed"}},
		{"name": "habit", "content": "Never test."}, {"name": "crane", "content": "c", "project": "airfield"},
		{"name": "ferry", "content": "The ferry leaves at six."},
	},
}

// promptProbes contains the arguments of prompts that ask for entries outside of the profile.
var promptProbes = map[string][]map[string]string{
	"context": {
		{},
		{"message": "zeppelin passengers"},
		{"project": "airfield"},
		{"tags": "sealed, x"},
		{"project": "harbor", "max_tokens": "600"},
	},
	"handoff": {
		{"name": "zeppelin"},
		{"name": "handoff: Fly."},
		{"project": "airfield"},
		{},
		{"name": "handoff: Paint the crane."},
	},
	"profile": {{}, {"name": "airfield"}, {"name": "nothing"}, {"name": "harbor", "query": "zeppelin"}},
}

// transcript calls all tools with test arguments, reads resources and prompts, and asks for completions. It does this
// rounds times. It returns one line for each answer, with the error.
func transcript(t *testing.T, cs *mcp.ClientSession, rounds int) []string {
	t.Helper()
	var lines []string
	say := func(what string, v any, err error) {
		b, jerr := json.Marshal(v)
		if jerr != nil {
			t.Fatal(jerr)
		}
		lines = append(lines, fmt.Sprintf("%s: %s %v", what, b, err))
	}
	resources := func() {
		l, err := cs.ListResources(t.Context(), nil)
		say("resources", l, err)
		for _, name := range []string{"zeppelin", "airship", "zeppelin%20safe", "crane"} {
			r, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: entryURIPrefix + name})
			say("read "+name, r, err)
		}
		for _, typed := range []string{"", "z", "air", "cr"} {
			r, err := cs.Complete(
				t.Context(),
				&mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: entryURITemplate},
					Argument: mcp.CompleteParamsArgument{Name: "name", Value: typed}},
			)
			say("complete "+typed, r, err)
		}
	}
	prompts := func() {
		l, err := cs.ListPrompts(t.Context(), nil)
		say("prompts", l, err)
		if err != nil {
			return
		}
		for _, p := range l.Prompts {
			if len(promptProbes[strings.TrimPrefix(p.Name, fallbackNamePrefix)]) == 0 {
				t.Errorf("no probe for the prompt %s: say how it could be asked for what is outside", p.Name)
			}
			for _, args := range promptProbes[strings.TrimPrefix(p.Name, fallbackNamePrefix)] {
				r, err := cs.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: p.Name, Arguments: args})
				say(fmt.Sprint(p.Name, args), r, err)
			}
			for _, a := range p.Arguments {
				for _, typed := range []string{"", "z", "a", "s", "harbor,"} {
					r, err := cs.Complete(
						t.Context(),
						&mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: p.Name},
							Argument: mcp.CompleteParamsArgument{Name: a.Name, Value: typed}},
					)
					say(fmt.Sprint("complete ", p.Name, " ", a.Name, " ", typed), r, err)
				}
			}
		}
	}
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range tools.Tools {
		if len(probes[tl.Name]) == 0 {
			t.Errorf("no probe for the tool %s: say how it could be asked for what is outside", tl.Name)
		}
	}
	// Also call tools that are not offered to this client.
	names := slices.Sorted(maps.Keys(probes))
	// The second round sees the changes that the first round made.
	for range rounds {
		for _, name := range names {
			for _, args := range probes[name] {
				r, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
				say(fmt.Sprint(name, args), r, err)
			}
		}
		resources()
		prompts()
	}
	// A handle that another client received must not give access to anything.
	for _, handle := range []string{handleOfAirfield(t), "harbor@0-00000000", "x"} {
		for _, name := range []string{"list", "recall_memory", "get", "history"} {
			r, err := cs.CallTool(
				t.Context(),
				&mcp.CallToolParams{Name: name, Arguments: obj{"name": "zeppelin", "handle": handle}},
			)
			say(name+handle, r, err)
		}
	}
	return lines
}

// handleOfAirfield returns the handle that a client with access to the airfield receives.
func handleOfAirfield(t *testing.T) string {
	t.Helper()
	workspace := harborWorkspace(strangerMemory(t, strangers[0], "harbor"))
	workspace.Profiles = &verb.Profiles{Set: harborProfiles(t)}
	out, err := verb.LoadProfile(t.Context(), workspace, verb.LoadMemoryProfileIn{Name: "airfield"})
	if err != nil || !strings.Contains(out.SelectedText, "Sold to the zymurgist") {
		t.Fatalf("LoadProfile = %+v, %v, want the airfield", out, err)
	}
	return out.ProfileHandle
}

func TestScopeTellsNothing(t *testing.T) {
	for _, b := range bounds {
		t.Run(b.name, func(t *testing.T) {
			if testing.Short() && !b.short {
				t.Skip("much like the others")
			}
			t.Parallel()
			var said [2][]string
			for i, out := range strangers {
				sealed := "harbor"
				if b.project {
					sealed = out.project
				}
				m := strangerMemory(t, out, sealed)
				rounds := 1
				if b.name == bounds[0].name && !testing.Short() {
					rounds = 2
				}
				said[i] = transcript(t, b.connect(t, m, b.version), rounds)
				if b.ro {
					h, err := m.History()
					if err != nil {
						t.Fatal(err)
					}
					if n, err := h.SeqAt(t.Context(), time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)); n != 8 ||
						err != nil {
						t.Errorf("the memory is at change %d, %v, want 8: nothing may be written", n, err)
					}
				}
			}
			one, two := said[0], said[1]
			if len(one) != len(two) {
				t.Fatalf("%d and %d answers", len(one), len(two))
			}
			for i := range one {
				a, other := one[i], two[i]
				if a != other {
					t.Errorf("what is outside can be told apart:\n%s\n%s", a, other)
				}
				words := []string{"passengers.", "Sold to", "with container"}
				if b.project { // Documents belong to no project, so this client must not see them.
					words = append(words, "I am the harbor master")
				}
				for _, word := range words {
					if strings.Contains(a, word) {
						t.Errorf("an answer holds %q: %s", word, a)
					}
				}
			}
			// Check that the probes are effective: they must find the entries inside of the profile.
			want := []string{
				"The crane lifts containers.",
				`"total":`,
				"Loaded memory profile",
				"Unloaded memory profile",
			}
			if !b.project {
				want = append(want, "I am the harbor master")
			}
			if !b.ro {
				want = append(want, "ferry")
			}
			for _, w := range want {
				if !slices.ContainsFunc(one, func(a string) bool { return strings.Contains(a, w) }) {
					t.Errorf("no answer holds %q", w)
				}
			}
		})
	}
}

// TestScopeStamps checks that written entries get the labels of the profile. A name that an entry outside of the
// profile has is refused without any information about this entry.
func TestScopeStamps(t *testing.T) {
	cs := bounds[0].connect(t, strangerMemory(t, strangers[0], "harbor"), versions[1])
	got := say(t, cs, "remember", obj{"name": "ferry", "content": "The ferry leaves at six."})
	if !strings.Contains(got, ` profile "harbor")`) ||
		!strings.Contains(got, "\nlabels: profile:harbor project:harbor\n") {
		t.Errorf("remember = %q, want source and labels of harbor", got)
	}
	res, err := cs.CallTool(
		t.Context(),
		&mcp.CallToolParams{Name: "remember", Arguments: obj{"name": "zeppelin", "content": "mine"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	if said := textOf(res); !res.IsError || !strings.Contains(said, "choose another") ||
		strings.Contains(said, "airfield") {
		t.Errorf("remember = %q, want a refusal that names nothing", said)
	}
}

// TestOnlyTheWholeServerStartsSubAgents tests that the tool spawn_sub_agent is offered only if the client has all
// rights that the server has. If the client had fewer rights, it could get around them, because the server's own
// profile is the only restriction for a sub-agent.
func TestOnlyTheWholeServerStartsSubAgents(t *testing.T) {
	for _, b := range bounds {
		t.Run(b.name, func(t *testing.T) {
			cs := b.connect(t, strangerMemory(t, strangers[0], "harbor"), b.version)
			offered := false
			for tl, err := range cs.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				offered = offered || tl.Name == "spawn_sub_agent"
			}
			if want := b.name == "profile of the server"; offered != want {
				t.Errorf("spawn_sub_agent is offered: %v, want %v", offered, want)
			}
		})
	}
}
