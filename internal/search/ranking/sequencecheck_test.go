// This file tests how a search checks whether an item contains the words of a phrase one after the other.

package ranking

import (
	"context"
	"fmt"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// berth is an item whose content is not stored in the index, but read when it is needed.
type berth struct {
	ItemTextCache
	id      uint64
	content string
}

func (b *berth) FillText(t *ItemText) {
	*t = ItemText{ID: b.id, LabelValues: t.LabelValues[:0], Name: fmt.Sprint("berth ", b.id), Content: b.content}
}

func (b *berth) Keywords() []string { return nil }

// TestSequenceCheck searches for a phrase in items of which few contain the words in this order. Only these items
// match. The other items must not be read, because the index shows that they do not contain the words as a pair. If the
// search's context is canceled, no item is read.
func TestSequenceCheck(t *testing.T) {
	contents := []string{"", "a lantern harbour at night", "the lantern harbour"}
	for len(contents) < 300 {
		contents = append(contents, "the harbour lantern", "a harbour with a lantern")
	}
	r := NewScorer(OxbowRanking, nil)
	err := r.FillIndex(t.Context(), func(yield func(Item, error) bool) {
		for id, content := range contents {
			item := &berth{ItemTextCache{IsReadOnDemand: true}, uint64(id), content}
			if id > 0 && !yield(item, nil) {
				return
			}
		}
	}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	q := Query{QueryText: analysis.QueryText{Words: "lantern harbour", Required: []string{"lantern harbour"}}}
	for _, isCanceled := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		reads := map[uint64]bool{}
		v := r.NewView(ctx, func(id uint64) Item {
			reads[id] = true
			return &berth{id: id, content: contents[id]}
		})
		p := v.MakePlan(q)
		if isCanceled {
			cancel()
			for id := range uint64(3) {
				if p.WordClauses[0].MatchesDocument(id) {
					t.Errorf("after the cancellation, item %d matches", id)
				}
			}
			if len(reads) > 0 {
				t.Errorf("after the cancellation, %d items were read", len(reads))
			}
			continue
		}
		hits := v.Search(p, 10)
		if len(hits) != 2 {
			t.Errorf("%d hits, want 2", len(hits))
		}
		if len(reads) > 20 {
			t.Errorf("%d items were read", len(reads))
		}
		for id := range uint64(6) {
			if got, want := p.WordClauses[0].MatchesDocument(id), id == 1 || id == 2; got != want {
				t.Errorf("item %d matches: %v, want %v", id, got, want)
			}
		}
	}
}
