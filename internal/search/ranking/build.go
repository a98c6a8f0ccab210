// This file fills an index. Several goroutines analyze items, and a single goroutine adds
// the documents to the index.

package ranking

import (
	"cmp"
	"context"
	"iter"
	"runtime"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

const (
	itemsPerBatch     = 64 // number of items in a batch
	maxWaitingBatches = 4  // number of batches for each worker that may wait before and after the analysis
	// number of batches of items after which another goroutine starts to analyze items (each has its own word cache)
	batchesBeforeNextWorker = 8
	// maximum number of goroutines that analyze items (the index can keep up with about three)
	maxWorkers = 4
)

// buildBatch is a group of items and their documents.
type buildBatch struct {
	items     []Item
	documents []index.Document
	analyzed  chan struct{} // receives a value when all items are analyzed (buffered)
}

// FillIndex adds items to an empty index. The items must be in order of ID. If ctx is done, FillIndex returns an
// error, and the index must not be used. FillIndex does not use busyProcessors of the processors, because the
// goroutines that produce the items need them. If runOptions is not nil, parts of the index are written to files to
// save memory (see [index.Index.FillEmpty]). All items must be Late then.
func (r *Scorer) FillIndex(
	ctx context.Context,
	items iter.Seq2[Item, error],
	busyProcessors int,
	runOptions *index.RunOptions,
) error {
	most := max(1, min(runtime.GOMAXPROCS(0)-busyProcessors, maxWorkers))
	toAnalyze := make(chan *buildBatch, maxWaitingBatches*most)
	// the same batches in the order of the items (a single goroutine adds them to the index)
	toPut := make(chan *buildBatch, maxWaitingBatches*most)
	// batches that were added to the index, whose memory is used again
	used := make(chan *buildBatch, cap(toAnalyze)+cap(toPut)+most)
	// error from the sequence of items (set before toPut is closed)
	var failed error
	go func() {
		defer close(toPut)
		defer close(toAnalyze)
		failed = groupIntoBatches(items, used, func(n int, b *buildBatch) {
			if workers := n / batchesBeforeNextWorker; n%batchesBeforeNextWorker == 0 && workers < most {
				go r.analyzeBatches(ctx, toAnalyze, workers > 0)
			}
			toAnalyze <- b
			toPut <- b
		})
	}()
	next := func(fn func(*buildBatch)) {
		for b := range toPut {
			<-b.analyzed
			fn(b)
			select {
			case used <- b:
			default:
			}
		}
	}
	r.index.FillEmpty(func(yield func(*index.Document) bool) {
		next(func(b *buildBatch) {
			for i := range b.documents {
				if ctx.Err() == nil { // do not add documents, because they may be incomplete if ctx is done
					yield(&b.documents[i])
				}
			}
		})
		if ctx.Err() != nil {
			yield(nil)
		}
	}, runOptions)
	return cmp.Or(failed, ctx.Err())
}

// groupIntoBatches groups the items into batches, and calls fn for each batch with its number, counting
// from 0.
func groupIntoBatches(
	items iter.Seq2[Item, error],
	freeBatches <-chan *buildBatch,
	fn func(n int, b *buildBatch),
) error {
	next := func() *buildBatch {
		select {
		case b := <-freeBatches:
			b.items, b.documents = b.items[:0], b.documents[:0]
			return b
		default:
			return &buildBatch{documents: make([]index.Document, 0, itemsPerBatch), analyzed: make(chan struct{}, 1)}
		}
	}
	n, b := 0, next()
	for it, err := range items {
		if err != nil {
			return err
		}
		b.items = append(b.items, it)
		b.documents = b.documents[:len(b.documents)+1] // extend documents, whose capacity is enough for a whole batch
		if len(b.items) == itemsPerBatch {
			fn(n, b)
			n, b = n+1, next()
		}
	}
	fn(n, b)
	return nil
}

// analyzeBatches analyzes the items of the batches. If withOwnAnalyzer is set, it uses a new analyzer instead of the
// scorer's. As soon as ctx is done, it passes the remaining batches on without analysis.
func (r *Scorer) analyzeBatches(ctx context.Context, batches <-chan *buildBatch, withOwnAnalyzer bool) {
	if withOwnAnalyzer {
		r = NewScorer(r.rankingName, r.index)
	}
	var buf AnalysisBuffer
	for b := range batches {
		for i, it := range b.items {
			if ctx.Err() == nil {
				r.AnalyzeItem(ctx, it, &b.documents[i], &buf)
				b.documents[i].Data = it
				if it.ItemMemo().Late {
					b.documents[i].Data = nil
				}
			}
		}
		b.analyzed <- struct{}{}
	}
}
