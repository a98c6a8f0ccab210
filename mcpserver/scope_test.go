// This file tests that a server over a memory that is bound to a profile says
// nothing of what is outside: every tool and every kind of resource is asked
// for it, once with such entries there and once with others in their place,
// and must give the same answers.

package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/skill"
	"github.com/oxbow-memory/oxbow/subagent"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/vfs"
)

// harborProfile is a profile of one project, and the set that it is in.
func harborProfile(t *testing.T) (*profile.Set, *profile.Resolved) {
	t.Helper()
	fsys := vfs.NewMem()
	if err := fsys.MkdirAll("profiles", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteFile(fsys, "profiles/harbor.yaml", []byte("name: harbor\ninclude:\n  projects: [harbor]\nexclude:\n  tags: [sealed]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	set := &profile.Set{Places: []profile.Place{{FS: fsys, Dirs: profile.HomeDirs}}}
	r, err := set.Resolve("harbor")
	if err != nil {
		t.Fatal(err)
	}
	return set, &r
}

// stranger is what lies outside of the profile.
type stranger struct{ name, alias, project, text, later string }

// boundServer serves the profile of a memory that holds a stranger, too. Both
// the clock and the ids are fixed.
func boundServer(t *testing.T, out stranger) *mcp.ClientSession {
	t.Helper()
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem(), Clock: func() time.Time { now = now.Add(time.Minute); return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if r, err := m.Check(context.Background()); err != nil || len(r.Problems) > 0 {
			t.Errorf("Check = %v, %v, want no problems", r.Problems, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	in := func(project string, more ...oxbow.Label) []oxbow.Label {
		return append([]oxbow.Label{{Key: oxbow.LabelProject, Value: project}}, more...)
	}
	sealed := oxbow.Label{Key: oxbow.LabelTag, Value: "sealed"}
	for _, op := range []oxbow.Op{
		oxbow.Add{Name: "crane", Content: "The crane lifts containers.", Labels: in("harbor")},
		oxbow.Add{Name: out.name, Aliases: []string{out.alias}, Content: out.text, Labels: in(out.project)},
		oxbow.Add{Name: "habit", Content: "Write the test first.", Labels: []oxbow.Label{{Key: profile.LabelProcess, Value: "true"}}},
		oxbow.Add{Name: out.name + " safe", Content: out.later, Labels: in("harbor", sealed)},
		oxbow.Update{Name: out.name, Aliases: []string{out.alias}, Content: out.later, Labels: in(out.project)},
		oxbow.Add{Name: "tide", Content: "High tide at noon.", Labels: in("harbor")},
		oxbow.Add{Name: out.name + " lost", Content: out.text, Labels: in(out.project)},
		oxbow.Remove{Name: out.name + " lost"},
	} {
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	set, harbor := harborProfile(t)
	view := m.Within(harbor.Scope())
	desk := &tool.Desk{Open: func(context.Context) (*oxbow.Memory, error) { return view, nil },
		Now:       func() time.Time { return time.Date(2026, 4, 2, 9, 0, 0, 0, time.UTC) },
		SubAgents: &subagent.Service{Profiles: set, Skills: &skill.Set{}, Bound: harbor, Program: "oxbow"}}
	return overMemory(t, New(desk, &Options{Tools: append(append(tool.Table(), tool.RecallMemory()), tool.SubAgents()...), Rand: strings.NewReader(strings.Repeat("r", 64))}), versions[1])
}

// probes ask each tool for what is outside, and change what is inside.
var probes = map[string][]obj{
	"recall": {
		{"query": "zeppelin"}, {"query": "zepelin zymurgist"}, {"query": "crane", "explain": true}, {"query": "crane", "explain": true, "rank": "seed"},
		{"query": "the passengers", "limit": 100}, {"filter": "project:airfield"}, {"filter": "project:airfeld"}, {"filter": "tag:sealed"},
		{"filter": "has:tag"}, {"filter": `name:"zeppelin"`}, {"query": "zep*"}, {"query": "zeppelin", "as_of": "5"}, {"query": "crane", "as_of": "5", "explain": true},
		{"query": "container", "as_of": "2026-04-01"}, {"filter": "kind:note", "limit": 100},
	},
	"recall_memory": {
		{"query": "zeppelin"}, {"project": "airfield"}, {"tags": []string{"sealed", "x"}, "tags_match": "any"}, {"date": "2026-04-01", "max_results": 100},
		{"date_range": []string{"2026-03-01", ".."}, "query": "passengers"}, {"related_file": "zeppelin.go"},
	},
	"get":          {{"name": "zeppelin"}, {"name": "zepelin"}, {"name": "airship"}, {"name": "zeppelin@2"}, {"name": "zeppelin safe"}, {"name": "zeppelin lost"}, {"name": "zeppelin lost@7"}, {"name": "crane"}},
	"list":         {{}, {"project": "airfield"}, {"project": "airfeld"}, {"tags": []string{"sealed"}}, {"filter": "-project:harbor"}, {"limit": 1}, {"offset": 2}},
	"history":      {{}, {"name": "zeppelin"}, {"name": "zeppelin lost"}, {"name": "airship"}, {"name": "crane"}},
	"forget":       {{"name": "zeppelin"}, {"name": "airship", "dry_run": true}, {"name": "zeppelin safe"}, {"name": "habit"}},
	"restore":      {{"name": "zeppelin", "seq": 2}, {"name": "zeppelin lost", "seq": 7}, {"name": "crane", "seq": 2}},
	"undo":         {{"seq": []int{2}}, {"seq": []int{5, 6}}, {"seq": []int{8}}, {"seq": []int{3}}, {"seq": []int{99}}, {"dry_run": true, "count": 3}, {"dry_run": true, "count": 100}},
	"save_memory":  {{"content": "The ferry is late.", "tags": []string{"decision"}}, {"content": "x", "project": "airfield"}, {"content": "y", "tags": []string{"sealed"}}},
	"handoff_task": {{"summary": "Paint the crane.", "plan": "Ask first."}, {"summary": "Fly.", "project": "airfield"}},
	"spawn_sub_agent": {
		{"agent_id": "a", "task": "Tell of the zeppelin."}, {"agent_id": "a", "task": "Look.", "memory_profile": "airfield"}, {"agent_id": "a", "task": "Look.", "skill_name": "zeppelin"},
		{"agent_id": "a", "task": "Look back.", "memory_profile": "harbor", "as_of": "5", "budget": 2000}, {"agent_id": "a", "task": "Look back.", "as_of": "2026-04-01"},
	},
	"remember": {
		{"name": "crane", "content": "The crane is broken."}, {"name": "x", "content": "x", "project": "airfield"}, {"name": "x", "content": "x", "tags": []string{"sealed"}},
		{"name": "habit", "content": "Never test."}, {"name": "crane", "content": "c", "project": "airfield"}, {"name": "ferry", "content": "The ferry leaves at six."},
	},
}

// transcript returns all answers of a server.
func transcript(t *testing.T, cs *mcp.ClientSession) []string {
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
			r, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: entryURI + name})
			say("read "+name, r, err)
		}
		for _, typed := range []string{"", "z", "air", "cr"} {
			r, err := cs.Complete(t.Context(), &mcp.CompleteParams{Ref: &mcp.CompleteReference{Type: "ref/resource", URI: entryTemplate},
				Argument: mcp.CompleteParamsArgument{Name: "name", Value: typed}})
			say("complete "+typed, r, err)
		}
	}
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tl := range tools.Tools {
		names = append(names, tl.Name)
		if len(probes[tl.Name]) == 0 {
			t.Errorf("no probe for the tool %s: say how it could be asked for what is outside", tl.Name)
		}
	}
	// Twice: the second time in the past that the first has made.
	for range 2 {
		slices.Sort(names)
		for _, name := range names {
			for _, args := range probes[name] {
				r, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
				say(fmt.Sprint(name, args), r, err)
			}
		}
		resources()
	}
	return lines
}

func TestScopeTellsNothing(t *testing.T) {
	one := transcript(t, boundServer(t, stranger{"zeppelin", "airship", "airfield", "The zeppelin carries passengers.", "Sold to the zymurgist, with container and crane."}))
	two := transcript(t, boundServer(t, stranger{"quagmire", "bog", "swamp", "Peat, peat, and the noon test.", "Drained."}))
	if len(one) != len(two) {
		t.Fatalf("%d and %d answers", len(one), len(two))
	}
	for i, a := range one {
		if a != two[i] {
			t.Errorf("what is outside can be told apart:\n%s\n%s", a, two[i])
		}
		for _, word := range []string{"passengers.", "Sold to", "with container"} {
			if strings.Contains(a, word) {
				t.Errorf("an answer holds %q: %s", word, a)
			}
		}
	}
	// That the probes were of use: what is inside is found.
	for _, want := range []string{"The crane lifts containers.", `\"total\":4`, "ferry"} {
		if !slices.ContainsFunc(one, func(a string) bool {
			return strings.Contains(a, want) || strings.Contains(a, strings.ReplaceAll(want, `\`, ""))
		}) {
			t.Errorf("no answer holds %q", want)
		}
	}
}

// What is written through the server is stamped, and a name that is taken
// outside is refused without a word of what has it.
func TestScopeStamps(t *testing.T) {
	cs := boundServer(t, stranger{"zeppelin", "airship", "airfield", "Passengers.", "Sold."})
	got := call[tool.RememberOut](t, cs, "remember", obj{"name": "ferry", "content": "The ferry leaves at six."})
	if got.Source.Profile != "harbor" || !slices.Equal(got.Labels["project"], []string{"harbor"}) || !slices.Equal(got.Labels["profile"], []string{"harbor"}) {
		t.Errorf("source %+v, labels %v, want both of harbor", got.Source, got.Labels)
	}
	res, err := cs.CallTool(t.Context(), &mcp.CallToolParams{Name: "remember", Arguments: obj{"name": "zeppelin", "content": "mine"}})
	if err != nil {
		t.Fatal(err)
	}
	if said := textOf(res); !res.IsError || !strings.Contains(said, "choose another") || strings.Contains(said, "airfield") {
		t.Errorf("remember = %q, want a refusal that names nothing", said)
	}
}
