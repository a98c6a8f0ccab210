// This file measures the index without a store: the speed at which entries are added, and the
// index's use of memory.

package main

import (
	"context"
	"runtime"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// Entries are cut into terms before their insertion into the index is timed, indexFillBatchSize entries at once.
const indexFillBatchSize = 500

// measureIndexFilling measures how long it takes to fill an index with the terms of all entries, for each way to add
// entries.
func (r *recallRun) measureIndexFilling(ctx context.Context) error {
	t := newTable("the index alone, seed's terms", "an entry", "entries/s", "bytes an entry")
	before := liveHeapBytes()
	x := index.New(index.Params{})
	row := func(name string, took time.Duration) {
		n := float64(len(r.entries))
		t.addRow(
			name,
			formatDuration(time.Duration(float64(took)/n)),
			formatRoundedNumber(n/took.Seconds()),
			formatRoundedNumber((float64(liveHeapBytes())-float64(before))/n),
		)
		runtime.KeepAlive(x)
	}
	took, err := r.putEachDocument(ctx, 0, x.Put)
	if err != nil {
		return err
	}
	row("put one by one", took)
	took, err = r.putEachDocument(ctx, 1, x.Put)
	if err != nil {
		return err
	}
	row("each put again, with the next one's text", took)

	x = nil
	before = liveHeapBytes()
	x = index.New(index.Params{})
	var all []index.Document
	_, err = r.putEachDocument(ctx, 0, func(d index.Document) { all = append(all, d) })
	if err != nil {
		return err
	}
	texts := liveHeapBytes()
	start := cpuOrWallTime()
	x.FillEmptyIndex(func(yield func(*index.Document) bool) {
		for i := range all {
			yield(&all[i])
		}
	}, nil)
	took = cpuOrWallTime() - start
	// Add the size of the documents to the variable before, so that only the index is counted.
	before += texts - before
	row("all at once", took)
	runtime.KeepAlive(all)
	r.emitTable(t)
	r.printf("Cutting texts into terms is not in these times, which are processor time where the system tells it.\n\n")
	return nil
}

// putEachDocument calls put with a document for each entry, and returns the time that these calls took. The document
// for an entry contains the terms of the entry that is entryOffset positions later in the list of entries.
func (r *recallRun) putEachDocument(
	ctx context.Context,
	entryOffset int,
	put func(d index.Document),
) (took time.Duration, err error) {
	n := len(r.entries)
	for from := 0; from < n; from += indexFillBatchSize {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		docs := make([]index.Document, min(indexFillBatchSize, n-from))
		for i := range docs {
			e := r.entries[(from+i+entryOffset)%n]
			docs[i] = index.DocumentOfWords(
				uint64(from+i+1),
				append(text.CrabtalkTerms(e.Name), text.CrabtalkTerms(e.Content)...),
			)
		}
		start := cpuOrWallTime()
		for _, d := range docs {
			put(d)
		}
		took += cpuOrWallTime() - start
	}
	return took, nil
}

// cpuOrWallTime returns the processor time or, if it is not known, the wall-clock time.
func cpuOrWallTime() time.Duration {
	if t, ok := processorTime(); ok {
		return t
	}
	return time.Duration(time.Now().UnixNano())
}
