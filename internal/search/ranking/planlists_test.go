// This file tests how often a search makes a list of all entries with a word.

package ranking

import (
	"fmt"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// listCounter counts the calls of DocumentIDs. Each call makes a list of all documents that contain a term.
type listCounter struct {
	termStats
	lists int
}

func (c *listCounter) DocumentIDs(term string) []uint64 {
	c.lists++
	return c.termStats.DocumentIDs(term)
}

// note is an item with a text.
type note struct {
	ItemTextCache
	id   uint64
	text string
}

func (n *note) FillText(t *ItemText) {
	*t = ItemText{ID: n.id, LabelValues: t.LabelValues[:0], Content: n.text}
}

func (n *note) Keywords() []string { return nil }

// TestClausesInTheIndexMakeNoLists tests that a search makes no list of all entries that contain a word, because the
// index evaluates which entries contain the words of a clause.
func TestClausesInTheIndexMakeNoLists(t *testing.T) {
	r := NewScorer(OxbowRanking, nil)
	err := r.FillIndex(t.Context(), func(yield func(Item, error) bool) {
		for i := range 100 {
			text := fmt.Sprintf("crane harbor pier%d", i)
			if i%2 == 0 {
				text += " rope"
			}
			if !yield(&note{id: uint64(i + 1), text: text}, nil) {
				return
			}
		}
	}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		query Query
	}{
		{Query{QueryText: analysis.QueryText{Words: "crane", Excluded: []string{"rope"}}}},
		{Query{QueryText: analysis.QueryText{Words: "crane", Required: []string{"rope"}}}},
		{Query{QueryText: analysis.QueryText{Words: "crane", Excluded: []string{"pier1*"}}}},
		{Query{QueryText: analysis.QueryText{Words: "crane", Required: []string{"harbor pier7"}}}},
		{Query{QueryText: analysis.QueryText{Words: "crane", Excluded: []string{"harbor pier7"}}}},
	} {
		v := r.NewView(t.Context(), nil)
		counter := &listCounter{termStats: v.termStats}
		v.termStats = counter
		if hits := v.Search(v.MakePlan(c.query), 10); len(hits) == 0 {
			t.Errorf("%+v finds nothing", c.query)
		}
		if counter.lists > 0 {
			t.Errorf("%+v makes %d lists", c.query, counter.lists)
		}
	}
}
