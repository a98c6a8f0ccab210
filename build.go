// How an index is built: some goroutines analyze entries while one puts the
// documents of those before into the index.

package oxbow

import (
	"cmp"
	"context"
	"iter"
	"runtime"

	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/internal/index"
)

const (
	batchEntries = 64 // that are handed on at once
	buildAhead   = 4  // batches for each worker that may wait to be analyzed, and to be put
	buildWorkers = 8  // batches from which on another worker begins: each learns all words by itself
	mostWorkers  = 4  // the index keeps up with about three
)

// buildBatch is entries on their way into the index.
type buildBatch struct {
	entries []*Entry
	docs    []index.Document
	ready   chan struct{} // receives once, when all are analyzed; has room for that
}

// fill puts entries, in order of ID, into an empty searcher. When ctx is done it ends early, with its error;
// the searcher is then of no use.
func (s *searcher) fill(ctx context.Context, entries iter.Seq2[Entry, error]) error {
	var r *scorer
	for _, r = range *s.scorers.Load() { // there is one
	}
	most := min(runtime.GOMAXPROCS(0), mostWorkers)
	toAnalyze := make(chan *buildBatch, buildAhead*most)
	toPut := make(chan *buildBatch, buildAhead*most)               // the same, in the order of the entries
	used := make(chan *buildBatch, cap(toAnalyze)+cap(toPut)+most) // their room is used again
	var failed error                                               // set before toPut is closed
	go func() {
		defer close(toPut)
		defer close(toAnalyze)
		failed = s.deal(entries, used, func(n int, b *buildBatch) {
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
			s.unsaved.Add(int64(len(b.docs)))
		})
	})
	return cmp.Or(failed, ctx.Err())
}

// deal makes batches of the entries, and calls fn with the number of each, from
// 0, and with it.
func (s *searcher) deal(entries iter.Seq2[Entry, error], used <-chan *buildBatch, fn func(n int, b *buildBatch)) error {
	next := func() *buildBatch {
		select {
		case b := <-used:
			b.entries, b.docs = b.entries[:0], b.docs[:0]
			return b
		default:
			return &buildBatch{docs: make([]index.Document, 0, batchEntries), ready: make(chan struct{}, 1)}
		}
	}
	n, b := 0, next()
	for e, err := range entries {
		if err != nil {
			return err
		}
		b.entries = append(b.entries, &e)
		b.docs = b.docs[:len(b.docs)+1] // it has room from before
		if len(b.entries) == batchEntries {
			fn(n, b)
			n, b = n+1, next()
		}
	}
	fn(n, b)
	return nil
}

// analyzeBatches analyzes the entries of batches, with an analyzer of its own or
// that of the scorer. When ctx is done it hands them on as they are.
func (r *scorer) analyzeBatches(ctx context.Context, batches <-chan *buildBatch, own bool) {
	if own {
		r = &scorer{name: r.name, texts: r.texts}
		if r.texts != nil {
			r.texts = analysis.NewAnalyzer()
		}
	}
	var words []string
	for b := range batches {
		for i, e := range b.entries {
			if ctx.Err() == nil {
				r.analyze(ctx, e, &b.docs[i], &words)
				b.docs[i].Data = newIndexed(e)
			}
		}
		b.ready <- struct{}{}
	}
}
