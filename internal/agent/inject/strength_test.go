// This file tests how strongly notes match the words of a prompt.

package inject

import (
	"math"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/gate"
)

func TestCompareAsNote(t *testing.T) {
	compare := func(length float64) []gate.PromptTerm {
		x := &oxbow.Explanation{Entries: 150, Length: length, AvgLen: 20, Terms: []oxbow.TermScore{
			{Term: "kayak", Weight: 1, TF: 2, DF: 1, IDF: 5},
			{Term: "price", Weight: 3, DF: 4, IDF: 3},
		}}
		terms := termsFromExplanation(x, nil)
		adjustTermScoresForNoteLength(x, terms)
		return terms
	}
	short := compare(10)
	// 2.2·5·2 ÷ (2 + 1.2)
	if got := short[0].Score; math.Abs(got-6.875) > 1e-9 {
		t.Errorf("a word that occurs twice has the score %v, want 6.875", got)
	}
	if got := short[1].MaxScore; math.Abs(got-6.6) > 1e-9 {
		t.Errorf("a missing word that the prompt repeats can reach %v, want 6.6", got)
	}
	if got := compare(60); !slices.Equal(got, short) {
		t.Errorf("a note of 60 words has %v, a note of 10 words %v", got, short)
	}
	if got := compare(600)[0].Score; got >= short[0].Score {
		t.Errorf("a note of 600 words has %v, a note of 10 words %v", got, short[0].Score)
	}
	if !short[0].IsUniqueInMemory || short[1].IsUniqueInMemory {
		t.Errorf("unique: %v", short)
	}
}

func TestIdentifierChunks(t *testing.T) {
	got := slices.Collect(identifierChunks("the dry-run of crates/tide-core/src/plan.rs - in user-name"))
	want := []string{"the", "dry", "run", "of", "crates/tide-core/src/plan.rs", "in", "user", "name"}
	if !slices.Equal(got, want) {
		t.Errorf("chunks %q, want %q", got, want)
	}
}
