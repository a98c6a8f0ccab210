// This file holds how a shelf is filled: some goroutines cut entries into terms
// while one puts the terms of those before into the index.

package oxbow

import (
	"iter"
	"maps"
	"runtime"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/bm25"
)

const (
	fillBatch   = 64 // entries that are handed on at once
	fillAhead   = 4  // batches for each who cuts that may wait to be cut, and to be put
	fillAnother = 8  // batches from which on another one begins to cut: each learns all words by itself
	mostCutters = 4  // who puts keeps up with about three
)

// cut is an entry and its terms.
type cut struct {
	entry *Entry
	known bool       // the saved index has it
	docs  []bm25.Doc // one for each ranking; of no meaning when it is known
}

// batch is entries on their way into the index.
type batch struct {
	cuts  []cut
	ready chan struct{} // told once when all are cut; has room for that
}

// fill puts entries, in order of ID, into an empty shelf. What the saved index
// knows is not cut again.
func (s *shelf) fill(entries iter.Seq2[Entry, error]) error {
	rs := slices.Collect(maps.Values(s.rankings))
	most := min(runtime.GOMAXPROCS(0), mostCutters)
	toCut := make(chan *batch, fillAhead*most)
	toPut := make(chan *batch, fillAhead*most)            // the same, in the order of the entries
	used := make(chan *batch, cap(toCut)+cap(toPut)+most) // their room is used again
	var failed error                                      // set before toPut is closed
	go func() {
		defer close(toPut)
		defer close(toCut)
		failed = s.deal(entries, used, func(n int, b *batch) {
			if cutters := n / fillAnother; n%fillAnother == 0 && cutters < most {
				go cutAll(toCut, forCutter(rs, cutters))
			}
			toCut <- b
			toPut <- b
		})
	}()
	puts := make([]func(id uint64, newer int64, d bm25.Doc), len(rs))
	var bulks []*bm25.Bulk
	for i, r := range rs {
		if puts[i] = r.index.Put; s.saved == nil {
			bulk := bm25.NewBulk(r.index)
			puts[i], bulks = bulk.Add, append(bulks, bulk)
		}
	}
	for b := range toPut {
		<-b.ready
		for _, c := range b.cuts {
			if !c.known {
				for i, put := range puts {
					put(c.entry.ID, c.entry.Updated.UnixNano(), c.docs[i])
				}
				s.unsaved++
			}
			s.docs[c.entry.ID] = c.entry
		}
		select {
		case used <- b:
		default:
		}
	}
	for _, b := range bulks {
		b.Done()
	}
	if failed == nil && s.saved != nil {
		for i := range s.saved.rows.len() {
			if id := s.saved.rows.id(i); s.docs[id] == nil {
				s.rankings[s.saved.head.ranking].index.Delete(id)
				s.unsaved++
			}
		}
		s.saved.rows = nil
	}
	return failed
}

// deal makes batches of the entries, and calls fn with the number of each, from
// 0, and with it.
func (s *shelf) deal(entries iter.Seq2[Entry, error], used <-chan *batch, fn func(n int, b *batch)) error {
	next := func() *batch {
		select {
		case b := <-used:
			b.cuts = b.cuts[:0]
			return b
		default:
			return &batch{make([]cut, 0, fillBatch), make(chan struct{}, 1)}
		}
	}
	n, b := 0, next()
	for e, err := range entries {
		if err != nil {
			return err
		}
		b.cuts = b.cuts[:len(b.cuts)+1]
		c := &b.cuts[len(b.cuts)-1] // its docs have room from before
		c.entry, c.known = &e, s.saved.knows(e.ID, e.Version)
		if len(b.cuts) == fillBatch {
			fn(n, b)
			n, b = n+1, next()
		}
	}
	fn(n, b)
	return nil
}

// forCutter returns the rankings as the cutter of that number needs them: each
// has an analyzer of its own, the first those of the rankings themselves.
func forCutter(rs []*ranking, number int) []*ranking {
	if number == 0 {
		return rs
	}
	own := make([]*ranking, len(rs))
	for i, r := range rs {
		own[i] = &ranking{name: r.name}
		if r.texts != nil {
			own[i].texts = analysis.NewAnalyzer()
		}
	}
	return own
}

// cutAll cuts the entries of batches into terms.
func cutAll(batches <-chan *batch, rs []*ranking) {
	var words []string
	for b := range batches {
		for i := range b.cuts {
			c := &b.cuts[i]
			if c.docs == nil {
				c.docs = make([]bm25.Doc, len(rs))
			}
			for j, r := range rs {
				if !c.known {
					r.cut(c.entry, &c.docs[j], &words)
				}
			}
		}
		b.ready <- struct{}{}
	}
}
