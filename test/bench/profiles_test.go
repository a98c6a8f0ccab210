// This file tests how the benchmark scores the entries that profiles select, and how it compares estimated with counted
// numbers of tokens.

package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/test/bench/quality"
)

func TestProfiles(t *testing.T) {
	day := func(d int) time.Time { return time.Date(2026, 4, d, 0, 0, 0, 0, time.UTC) }
	x := multiProjectMemory{tokenBudgets: []int{90, 2000}}
	x.addProject(
		"ann",
		[]quality.MemoryEntry{
			{ID: "A1", Text: "Ann keeps bees on the roof.", Date: day(1)},
			{ID: "A2", Text: "Ann sold the red bicycle.", Date: day(2)},
		},
	)
	x.addProject(
		"bob",
		[]quality.MemoryEntry{
			{ID: "B1", Text: "Bob plays the tuba at night.", Date: day(3)},
			{ID: "B2", Text: "Bob wrote about bees.", Date: day(4)},
		},
	)
	x.questions = []projectQuestion{{"ann", "what does she keep on the roof", map[string]bool{"A1": true}},
		{"ann", "what was sold, and what is kept", map[string]bool{"A1": true, "A2": true}}}
	x.sortAndRenameEntries()
	if x.entries[0].Name != "e00001" || x.entries[3].ID != "B2" {
		t.Fatalf("entries %+v", x.entries)
	}
	got := map[string][]string{}
	if err := x.measureSelections(t.Context(), func(budget int, way string, j selectionSum) {
		got[formatCount(budget)+" "+way] = j.tableCells()
	}); err != nil {
		t.Fatal(err)
	}
	// The values are averages for each question: the number of selected entries, the share of tokens from other
	// projects, the share of entries from other projects, the share of right entries that were selected, and the share
	// of questions for which at least one right entry was selected.
	//
	// A budget of 90 tokens has room for only one entry after the fixed beginning of the selection. This is the newest
	// entry or, if the question is used, the entry that matches the question.
	for way, want := range map[string][]string{
		"90 default":                       {"1.0", "1.000", "1.000", "0.000", "0.000"},
		"90 profile":                       {"1.0", "0.000", "0.000", "0.250", "0.500"},
		"90 profile, with the question":    {"1.0", "0.000", "0.000", "0.750", "1.000"},
		"2,000 profile":                    {"2.0", "0.000", "0.000", "1.000", "1.000"},
		"2,000 default, with the question": {"4.0", got["2,000 default"][1], "0.500", "1.000", "1.000"},
	} {
		if !slices.Equal(got[way], want) {
			t.Errorf("%s: %v, want %v", way, got[way], want)
		}
	}
}

func TestEstimates(t *testing.T) {
	words := func(s string) (int, error) { return len(strings.Fields(s)), nil }
	e, err := compareTokenEstimates(t.Context(), []string{"", "one two", "one"}, words)
	if err != nil || e.estimatedTokens != 4 || e.countedTokens != 3 ||
		!slices.Equal(e.tableCells(), []string{"1.00", "1.00", "1.50", "1.50", "1.50", "1.33"}) {
		t.Errorf("estimates() = %+v, %v", e.tableCells(), err)
	}
	if _, err := compareTokenEstimates(t.Context(), nil, words); err == nil {
		t.Error("estimates of nothing is no error")
	}
	if got := sampleEvenly([]string{"a", "b", "c", "d"}, 2); !slices.Equal(got, []string{"a", "c"}) {
		t.Errorf("spread() = %v", got)
	}
	if ps := equalizeTextSizes([]string{strings.Repeat("word ", tokenCountTextBytes/2), "short"}); len(ps) < 2 ||
		len(ps[0]) > tokenCountTextBytes {
		t.Errorf("pieces() gives %d", len(ps))
	}
}
