// This file tests which call of a client is found to have written a file.

package session

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestWrote(t *testing.T) {
	m, err := oxbow.Open(filepath.Join(t.TempDir(), StoreFile), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	a := &Archive{Memory: m}
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	at := func(s int) time.Time { return now.Add(time.Duration(s) * time.Second) }
	say := func(second int, turn string, k EventKind, c *ToolCall) Event {
		return Event{Client: "claude", Session: "a", TurnID: turn, Kind: k, ID: turn + string(k) + at(second).String(),
			Text: map[bool]string{true: turn}[k == KindPrompt], Dir: "/p", Time: at(second), Call: c}
	}
	const clean, mixed, rel = "/home/u/m/CLEAN.md", "/home/u/m/MIXED.md", "/p/notes/REL.md"
	if _, err := a.AddEvents(t.Context(), []Event{
		say(0, "p1", KindPrompt, nil), say(1, "p1", KindToolCall, &ToolCall{Tool: "Read", ReadFiles: []string{clean}}),
		say(10, "p1", KindToolCall, &ToolCall{Tool: "Write", WrittenFiles: []string{clean}}),
		say(11, "p1", KindToolCall, &ToolCall{Tool: "Write", WrittenFiles: []string{"notes/REL.md"}}),
		say(12, "p1", KindToolCall, &ToolCall{Tool: "WebSearch", WebQuery: "x"}),
		say(20, "p1", KindToolCall, &ToolCall{Tool: "Edit", WrittenFiles: []string{mixed}}),
		say(30, "p2", KindPrompt, nil), say(40, "p2", KindToolCall, &ToolCall{Tool: "Edit",
			WrittenFiles: []string{mixed}}),
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, client, file string
		since, changed     int
		own                []string
		want               bool
		taints             []string
	}{
		{"the call", "claude", clean, 0, 10, []string{clean}, true, nil},
		{"what it read is not its own", "claude", clean, 0, 10, nil, true, []string{"Read " + clean}},
		{"reported a little before", "claude", clean, 0, 12, []string{clean}, true, nil},
		{"reported much later", "claude", clean, -100, -51, nil, false, nil},
		{"changed later", "claude", clean, 0, 13, []string{clean}, false, nil},
		{"another client", "codex", clean, 0, 10, nil, false, nil},
		{"another file", "claude", "/home/u/m/OTHER.md", 0, 10, nil, false, nil},
		{"a file that ends so", "claude", "/x" + clean, 0, 10, nil, false, nil},
		{"a relative path", "claude", rel, 0, 11, []string{clean}, true, nil},
		{"all since the last time", "claude", mixed, 0, 40, []string{clean}, true, []string{"WebSearch x"}},
		{"the last call alone", "claude", mixed, 25, 40, nil, true, nil},
	} {
		taints, ok, err := a.CheckFileWrite(t.Context(), c.client, c.file, at(c.since), at(c.changed), c.own)
		if want := c.taints; err != nil || ok != c.want || (ok && !slices.Equal(taints, want)) {
			t.Errorf("%s: Wrote = %q, %v, %v, want %q, %v", c.name, taints, ok, err, want, c.want)
		}
	}
	r, err := m.Store().(oxbow.Checker).Check(t.Context())
	if err != nil || len(r.Problems) > 0 {
		t.Errorf("Check = %v, %v", r.Problems, err)
	}
}
