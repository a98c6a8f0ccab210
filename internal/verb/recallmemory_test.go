// This file tests recall_memory with each parameter alone and with several parameters.

package verb

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestRecallMemory(t *testing.T) {
	b := newBench(t)
	for _, e := range []struct {
		name, text, day string
		kind            oxbow.Kind
		labels          string
	}{
		{"grid", "The grid is square.", "2026-04-01", oxbow.Note, "project:vtt tag:decision tag:map file:pkg/grid.go"},
		{"fog", "Fog hides the grid.", "2026-04-18", oxbow.Journal, "project:vtt tag:map"},
		{"plot", "The butler fogged the mirror.", "2026-04-30", oxbow.Note, "project:novel tag:decision"},
	} {
		day, err := time.Parse(time.DateOnly, e.day)
		if err != nil {
			t.Fatal(err)
		}
		var ls []oxbow.Label
		for _, s := range strings.Fields(e.labels) {
			l, err := oxbow.ParseLabel(s)
			if err != nil {
				t.Fatal(err)
			}
			ls = append(ls, l)
		}
		if err := b.m.Apply(
			t.Context(),
			oxbow.Add{Name: e.name, Kind: e.kind, Content: e.text, Labels: ls, Created: day.Add(12 * time.Hour)},
		); err != nil {
			t.Fatal(err)
		}
	}
	verb := NewRecallMemoryTool()
	if n := len(verb.Description); n > 1024 {
		t.Errorf("the description has %d bytes, want at most 1024", n)
	}
	for _, tt := range []struct {
		args string
		want string // names of the expected hits in alphabetical order, or a part of the expected error
	}{
		{`{"date":"2026-04-18"}`, "fog"},
		{`{"date":"2026-04"}`, "fog grid plot"},
		{`{"date_range":["2026-04-01","2026-04-18"]}`, "fog grid"},
		{`{"date_range":["2026-04-18",".."]}`, "fog plot"},
		{`{"date_range":["..","2026-04-17"]}`, "grid"},
		{`{"project":"vtt"}`, "fog grid"},
		{`{"tags":["decision","map"]}`, "grid"},
		{`{"tags":["decision","map"],"tags_match":"any"}`, "fog grid plot"},
		{`{"kind":"journal"}`, "fog"},
		{`{"related_file":"pkg/grid.go"}`, "grid"},
		{`{"query":"butler"}`, "plot"},
		{`{"query":"in:notes butler"}`, "plot"},
		{
			`{"query":"grid","project":"vtt","tags":["map"],"date_range":["2026-04-01","2026-04-30"],"kind":"note","related_file":"pkg/grid.go","max_tokens":500}`,
			"grid",
		},
		{`{"project":"vtt","date":"2026-04-30"}`, ""},
		{`{}`, "give one of query, date"},
		{`{"date":"someday"}`, `is not a date`},
		{`{"date_range":["2026-04-01"]}`, "has 1 date"},
		{`{"date_range":["2026-05-01","2026-04-01"]}`, "ends before it begins"},
		{`{"tags_match":"some","tags":["map"]}`, "any"},
		{`{"project":"vtt","max_results":0}`, "would return nothing"},
	} {
		answer, err := verb.CallForModel(t.Context(), b.Workspace, json.RawMessage(tt.args))
		if err != nil {
			if !strings.Contains(err.Error(), tt.want) || tt.want == "" {
				t.Errorf("recall_memory(%s) = %v, want %q", tt.args, err, tt.want)
			}
			continue
		}
		out := answer.Result.(RecallOut)
		var names []string
		for _, h := range out.Hits {
			names = append(names, h.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("recall_memory(%s) = %q, want %q", tt.args, got, tt.want)
		}
		if len(names) == 0 && len(out.EmptyReasons) == 0 {
			t.Errorf("recall_memory(%s) is empty and does not say why", tt.args)
		}
	}
	out, err := verb.CallForModel(t.Context(), b.Workspace, json.RawMessage(`{"date":"2026-04","max_results":1}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Result.(RecallOut); len(got.Hits) != 1 || !got.HasMore {
		t.Errorf("max_results 1 gives %d hits, more %v, want 1 and more", len(got.Hits), got.HasMore)
	}
}
