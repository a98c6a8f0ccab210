// How an index is built: some goroutines analyze items while one puts the
// documents of those before into the index.

package ranking

import (
	"cmp"
	"context"
	"iter"
	"runtime"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

const (
	batchItems   = 64 // that are handed on at once
	buildAhead   = 4  // batches for each worker that may wait to be analyzed, and to be put
	buildWorkers = 8  // batches from which on another worker begins: each learns all words by itself
	mostWorkers  = 4  // the index keeps up with about three
)

// buildBatch is entries on their way into the index.
type buildBatch struct {
	items []Item
	docs  []index.Document
	ready chan struct{} // receives once, when all are analyzed; has room for that
}

// Fill puts items, in order of ID, into an empty index. When ctx is done it ends
// early, with its error; the index is then of no use. So many processors as are
// busy are left to what makes the items. Runs is as [index.Index.Fill] has it: with it,
// all items must be Late.
func (r *Scorer) Fill(ctx context.Context, items iter.Seq2[Item, error], busy int, runs *index.Runs) error {
	most := max(1, min(runtime.GOMAXPROCS(0)-busy, mostWorkers))
	toAnalyze := make(chan *buildBatch, buildAhead*most)
	toPut := make(chan *buildBatch, buildAhead*most)               // the same, in the order of the items
	used := make(chan *buildBatch, cap(toAnalyze)+cap(toPut)+most) // their room is used again
	var failed error                                               // set before toPut is closed
	go func() {
		defer close(toPut)
		defer close(toAnalyze)
		failed = deal(items, used, func(n int, b *buildBatch) {
			if workers := n / buildWorkers; n%buildWorkers == 0 && workers < most {
				go r.analyzeBatches(ctx, toAnalyze, workers > 0)
			}
			toAnalyze <- b
			toPut <- b
		})
	}()
	next := func(fn func(*buildBatch)) {
		for b := range toPut {
			<-b.ready
			fn(b)
			select {
			case used <- b:
			default:
			}
		}
	}
	r.index.Fill(func(yield func(*index.Document) bool) {
		next(func(b *buildBatch) {
			for i := range b.docs {
				if ctx.Err() == nil { // else they may be cut short
					yield(&b.docs[i])
				}
			}
		})
		if ctx.Err() != nil {
			yield(nil)
		}
	}, runs)
	return cmp.Or(failed, ctx.Err())
}

// deal makes batches of the items, and calls fn with the number of each, from
// 0, and with it.
func deal(items iter.Seq2[Item, error], used <-chan *buildBatch, fn func(n int, b *buildBatch)) error {
	next := func() *buildBatch {
		select {
		case b := <-used:
			b.items, b.docs = b.items[:0], b.docs[:0]
			return b
		default:
			return &buildBatch{docs: make([]index.Document, 0, batchItems), ready: make(chan struct{}, 1)}
		}
	}
	n, b := 0, next()
	for it, err := range items {
		if err != nil {
			return err
		}
		b.items = append(b.items, it)
		b.docs = b.docs[:len(b.docs)+1] // it has room from before
		if len(b.items) == batchItems {
			fn(n, b)
			n, b = n+1, next()
		}
	}
	fn(n, b)
	return nil
}

// analyzeBatches analyzes the items of batches, with an analyzer of its own or
// that of the scorer. When ctx is done it hands them on as they are.
func (r *Scorer) analyzeBatches(ctx context.Context, batches <-chan *buildBatch, own bool) {
	if own {
		r = New(r.name, r.index)
	}
	var buf Buffer
	for b := range batches {
		for i, it := range b.items {
			if ctx.Err() == nil {
				r.Analyze(ctx, it, &b.docs[i], &buf)
				b.docs[i].Data = it
				if it.Kept().Late {
					b.docs[i].Data = nil
				}
			}
		}
		b.ready <- struct{}{}
	}
}
