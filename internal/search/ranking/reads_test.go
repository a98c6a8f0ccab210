// This file tests how many items a search reads.

package ranking

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// chat is an item whose content is a conversation between a user and an assistant. The content is not stored in the
// index, but read when the content is needed.
type chat struct {
	ItemTextCache
	id uint64
}

func (c *chat) FillText(t *ItemText) {
	*t = ItemText{
		ID:          c.id,
		LabelValues: t.LabelValues[:0],
		Name:        fmt.Sprint("chat ", c.id),
		Updated:     time.Unix(int64(c.id), 0),
		Content: fmt.Sprintf(
			"user: where is the lantern of %d?\n\nassistant: in the harbour\n\nuser: thanks for number %d",
			c.id,
			c.id,
		),
	}
}

func (c *chat) Keywords() []string { return nil }

// TestReads checks that a search for chats reads each item at most once. A search finds more items than it reads. It
// must read only the hits and those items whose best stretch (the part with the most words of the query) could make the
// item a hit.
func TestReads(t *testing.T) {
	r := NewScorer(OxbowRanking, nil)
	const n = 200
	err := r.FillIndex(t.Context(), func(yield func(Item, error) bool) {
		for id := range uint64(n) {
			if !yield(&chat{id: id + 1, ItemTextCache: ItemTextCache{IsReadOnDemand: true}}, nil) {
				return
			}
		}
	}, 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for id := range r.index.Searcher().EachDocument() {
		if _, ok := r.index.Searcher().DocumentData(id); !ok {
			t.Fatalf("document %d is not there", id)
		}
	}
	reads := map[uint64]int{}
	for range 2 { // the second search already knows that the index contains chats
		clear(reads)
		v := r.NewView(context.Background(), func(id uint64) Item {
			reads[id]++
			return &chat{id: id}
		})
		q := Query{QueryText: analysis.QueryText{Words: "where is the lantern in the harbour"}}
		if hits := v.Search(v.MakePlan(q), 5); len(hits) != 5 {
			t.Fatalf("%d hits, want 5", len(hits))
		}
	}
	for id, times := range reads {
		if times > 1 {
			t.Errorf("item %d was read %d times", id, times)
		}
	}
	if len(reads) < 5 || len(reads) > maxHitsForPassageSearch {
		t.Errorf("%d items were read, want from 5 to %d", len(reads), maxHitsForPassageSearch)
	}
}
