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
	itemsPerBatch = 64 // number of items in a batch
	// For each worker, at most this number of batches may wait until their texts are analyzed. At most the same number
	// of analyzed batches may wait until they are added to the index.
	maxWaitingItemBatches = 4
	// number of batches of items after which another goroutine starts to analyze items (each has its own word cache)
	itemBatchesPerNewWorker = 8
	// maximum number of goroutines that analyze items (the index can keep up with about three)
	maxWorkers = 4
)

// itemBatch is a group of items (entries) that are added to the index together, and the documents that the analysis
// makes from these items.
type itemBatch struct {
	items        []Item
	documents    []index.Document
	analysisDone chan struct{} // receives a value when all items of this batch are analyzed (buffered)
}

// FillIndex adds items to an empty index. The items must be in order of ID. If ctx is done, FillIndex returns an error,
// and the index must not be used. The argument busyProcessors is the number of processors that FillIndex leaves to the
// goroutines that produce the items.
//
// If runOptions is not nil, parts of the index are written to files to save memory (see [index.Index.FillEmptyIndex]).
// The field IsReadOnDemand in the [ItemTextCache] of all items must then be true, so that the index does not keep the
// items in memory.
func (r *Scorer) FillIndex(
	ctx context.Context,
	items iter.Seq2[Item, error],
	busyProcessors int,
	runOptions *index.DocumentRunOptions,
) error {
	documents := analyzedDocuments{
		ctx:             ctx,
		items:           items,
		busyProcessors:  busyProcessors,
		newItemAnalysis: r.newItemAnalysis,
	}
	r.index.FillEmptyIndex(func(yield func(*index.Document) bool) {
		documents.yieldDocuments(func(d *index.Document) { yield(d) })
		if ctx.Err() != nil {
			yield(nil)
		}
	}, runOptions)
	return documents.err()
}

// itemAnalysis sets d to the document of an item, except for Data. It may reuse the memory of d.
type itemAnalysis func(ctx context.Context, it Item, d *index.Document)

// newItemAnalysis returns the function with which the worker with the number workerNumber analyzes items. Worker 0 uses
// the Scorer r. Every other worker gets a Scorer of its own, because two workers cannot share an analyzer.
func (r *Scorer) newItemAnalysis(workerNumber int) itemAnalysis {
	if workerNumber > 0 {
		r = NewScorer(r.rankingName, r.index)
	}
	var buf AnalysisBuffer
	return func(ctx context.Context, it Item, d *index.Document) { r.AnalyzeItem(ctx, it, d, &buf) }
}

// analyzedDocuments are the documents of items, which several goroutines analyze.
type analyzedDocuments struct {
	ctx             context.Context
	items           iter.Seq2[Item, error]
	busyProcessors  int // number of processors that are left to other work, so that fewer goroutines analyze items
	newItemAnalysis func(workerNumber int) itemAnalysis
	readError       error // error that was returned with an item while the items were read
}

// err returns the error that stopped the analysis before all documents were yielded, or nil if no document is missing.
// It must be called after yieldDocuments.
func (a *analyzedDocuments) err() error { return cmp.Or(a.readError, a.ctx.Err()) }

// yieldDocuments passes each item's document to the given function, in the order of the items. A document is valid only
// during the call. If ctx is done, yieldDocuments does not call the function any more.
func (a *analyzedDocuments) yieldDocuments(useDocument func(d *index.Document)) {
	ctx := a.ctx
	most := max(1, min(runtime.GOMAXPROCS(0)-a.busyProcessors, maxWorkers))
	toAnalyze := make(chan *itemBatch, maxWaitingItemBatches*most)
	// the batches of toAnalyze in the items' order (a single goroutine uses the batches)
	toPut := make(chan *itemBatch, maxWaitingItemBatches*most)
	// batches that are not needed any more, because their documents were added to the index; their memory is reused
	// for new batches
	used := make(chan *itemBatch, cap(toAnalyze)+cap(toPut)+most)
	go func() {
		defer close(toPut)
		defer close(toAnalyze)
		a.readError = groupIntoBatches(a.items, used, func(n int, b *itemBatch) {
			if workers := n / itemBatchesPerNewWorker; n%itemBatchesPerNewWorker == 0 && workers < most {
				go analyzeBatches(ctx, toAnalyze, a.newItemAnalysis(workers))
			}
			toAnalyze <- b
			toPut <- b
		})
	}()
	for b := range toPut {
		<-b.analysisDone
		for i := range b.documents {
			if ctx.Err() == nil { // do not use documents, because they may be incomplete if ctx is done
				useDocument(&b.documents[i])
			}
		}
		select {
		case used <- b:
		default:
		}
	}
}

// groupIntoBatches groups the items into batches, and calls fn for each batch with its number, counting from 0. The
// last batch may be empty. Batches from freeBatches are reused if there are any. If items yields an error,
// groupIntoBatches returns it without a call of fn for the unfinished batch.
func groupIntoBatches(
	items iter.Seq2[Item, error],
	freeBatches <-chan *itemBatch,
	fn func(n int, b *itemBatch),
) error {
	next := func() *itemBatch {
		select {
		case b := <-freeBatches:
			b.items, b.documents = b.items[:0], b.documents[:0]
			return b
		default:
			return &itemBatch{documents: make([]index.Document, 0, itemsPerBatch), analysisDone: make(chan struct{}, 1)}
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

// analyzeBatches analyzes the items of the batches. As soon as ctx is done, it passes the remaining batches on without
// analysis.
func analyzeBatches(ctx context.Context, batches <-chan *itemBatch, analyze itemAnalysis) {
	for b := range batches {
		for i, it := range b.items {
			if ctx.Err() == nil {
				analyze(ctx, it, &b.documents[i])
				b.documents[i].Data = it
				if it.TextCache().IsReadOnDemand {
					b.documents[i].Data = nil
				}
			}
		}
		b.analysisDone <- struct{}{}
	}
}
