// This file measures the index alone: how fast it takes entries in, and how much
// memory it needs for them.

package main

import (
	"context"
	"runtime"
	"time"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/text"
)

// fillBatch is how many entries are cut into terms before the clock runs.
const fillBatch = 500

// filling fills an index with the terms of all entries in each way.
func (r *recallRun) filling(ctx context.Context) error {
	t := newTable("the index alone, seed's terms", "an entry", "entries/s", "bytes an entry")
	before := heap()
	x := bm25.New(bm25.Params{})
	row := func(name string, took time.Duration) {
		n := float64(len(r.entries))
		t.row(name, span(time.Duration(float64(took)/n)), digits(n/took.Seconds()), digits((float64(heap())-float64(before))/n))
		runtime.KeepAlive(x)
	}
	took, err := r.eachDoc(ctx, 0, x.Put)
	if err != nil {
		return err
	}
	row("put one by one", took)
	if took, err = r.eachDoc(ctx, 1, x.Put); err != nil {
		return err
	}
	row("each put again, with the next one's text", took)

	x = nil
	before = heap()
	x = bm25.New(bm25.Params{})
	bulk := bm25.NewBulk(x)
	if took, err = r.eachDoc(ctx, 0, bulk.Add); err != nil {
		return err
	}
	start := spent()
	bulk.Done()
	row("all at once", took+spent()-start)
	t.print(r.out)
	r.printf("Cutting texts into terms is not in these times, which are processor time where the system tells it.\n\n")
	return nil
}

// eachDoc calls put for each entry with the terms of the one that is so many
// places further, and returns the time that put took.
func (r *recallRun) eachDoc(ctx context.Context, further int, put func(id uint64, newer int64, d bm25.Doc)) (took time.Duration, err error) {
	n := len(r.entries)
	for from := 0; from < n; from += fillBatch {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		docs := make([]bm25.Doc, min(fillBatch, n-from))
		for i := range docs {
			e := r.entries[(from+i+further)%n]
			docs[i] = bm25.Words(append(text.Crabtalk(e.Name), text.Crabtalk(e.Content)...))
		}
		start := spent()
		for i, d := range docs {
			put(uint64(from+i+1), int64(from+i), d)
		}
		took += spent() - start
	}
	return took, nil
}

// spent returns processor time or, where that is not known, the time of day.
func spent() time.Duration {
	if t, ok := processorTime(); ok {
		return t
	}
	return time.Duration(time.Now().UnixNano())
}
