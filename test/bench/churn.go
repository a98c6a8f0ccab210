// This file implements the command churn: the size of the log after many updates of few
// entries, and how long the slowest update waits while the log is compacted.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// churnRun updates the entries of one store.
type churnRun struct {
	*bench
	entries, updates, each, keep int
	src                          source

	path    string
	texts   []oxbow.Add
	written int
	applies timings // times of the updates
	bare    timings // times of synced overwrites of as many bytes, in between
	largest int64   // maximum size of the log in bytes
	last    int64   // size of the log at the end
	swaps   int     // number of times that the log became smaller
}

func churnCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &churnRun{bench: b}
	fl.IntVar(&r.entries, "entries", 1000, "entries in the store")
	fl.IntVar(&r.updates, "updates", 1_000_000, "updates of them")
	fl.IntVar(&r.each, "each", 5, "updates in one change")
	fl.IntVar(&r.keep, "keep", 1000, "last changes that the store keeps")
	r.src.addFlags(fl)
	b.dirFlag(fl)
	return func(ctx context.Context) error {
		if min(r.entries, r.updates, r.each, r.keep) < 1 {
			return errors.New("measuring churn: -entries, -updates, -each and -keep must be above 0")
		}
		return b.inTemp("churn", r.run)(ctx)
	}
}

func (r *churnRun) run(ctx context.Context, dir string) (err error) {
	var from string
	r.texts, from, err = r.src.readEntries(ctx, 10000)
	if err != nil {
		return err
	}
	r.path = filepath.Join(dir, "memory.oxbow")
	if err := r.write(ctx, dir); err != nil {
		return err
	}
	t := newTable(
		fmt.Sprintf("%s updates of %s entries", count(r.updates), count(r.entries)),
		"figure",
		"× its own measure",
	)
	held, err := r.rewrittenSize(ctx, dir)
	if err != nil {
		return err
	}
	t.row("the entries and the last changes, in a log of their own", formatMegabytes(held), "1.00×")
	t.row("the log at its largest", formatMegabytes(r.largest), ratio(r.largest, held))
	t.row("the log at the end", formatMegabytes(r.last), ratio(r.last, held))
	t.row("times that it was compacted", count(r.swaps), "–")
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", .5}, {"p99.9", .999}, {"longest", 1}} {
		bare := r.bare.quantile(q.q)
		t.row("a bare overwrite with fsync, "+q.name, span(bare), "1.00×")
		t.row("a change, "+q.name, span(r.applies.quantile(q.q)), ratio(r.applies.quantile(q.q), bare))
	}
	first, err := r.firstRecall(ctx)
	if err != nil {
		return err
	}
	t.row("Open and the first recall after all", span(first), "–")
	r.emit(t)
	r.printf(
		"The texts are from %s. A change has %d updates; the store keeps the last %s changes. Changes and bare "+
			"overwrites are in turns.\n\n",
		from,
		r.each,
		count(r.keep),
	)
	return nil
}

// write creates the store and makes the updates.
func (r *churnRun) write(ctx context.Context, dir string) (err error) {
	m, err := oxbow.Open(r.path, &oxbow.Options{KeepChanges: r.keep})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := fill(ctx, m, stretch(r.texts, r.entries)); err != nil {
		return err
	}
	size := 0
	for _, e := range r.texts {
		size += r.each * (len(e.Content) + 150) / len(r.texts)
	}
	bare, err := bareWriters(dir, 1, &size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	before := int64(0)
	for i := 0; err == nil && r.written < r.updates; i++ {
		ops := r.change()
		err = r.applies.add(func() error { return m.Apply(ctx, ops...) })
		if err != nil {
			break
		}
		if i%10 == 0 {
			if bare.zerosAt+int64(size) > 64<<20 {
				bare.rewind()
			}
			err = errors.Join(err, r.bare.add(func() error { return bare.over.write(oxbow.Add{}) }))
			_, rerr := m.Recall(ctx, oxbow.Query{Text: r.texts[i%len(r.texts)].Name})
			now, serr := logSize(m)
			err = errors.Join(err, rerr, serr)
			r.largest = max(r.largest, now)
			if now < before {
				r.swaps++
			}
			before = now
		}
		if i%10000 == 0 {
			r.logf("churn: %s of %s updates", count(r.written), count(r.updates))
		}
	}
	r.last = before
	return err
}

// change returns the updates of the next change. Each has a new text.
func (r *churnRun) change() []oxbow.Op {
	ops := make([]oxbow.Op, r.each)
	named := stretch(r.texts, r.entries)
	for i := range ops {
		r.written++
		at := r.written * 7919 % r.entries
		text := r.texts[(at+r.written)%len(r.texts)].Content
		ops[i] = oxbow.Update{Name: named[at].Name, Content: fmt.Sprint(r.written, " ", text)}
	}
	return ops
}

// logSize returns the number of bytes that the log of a memory uses.
func logSize(m *oxbow.Memory) (int64, error) {
	s, err := m.Stats(context.Background())
	return s.Used, err
}

// rewrittenSize returns the size of a log with only the entries and the kept changes.
func (r *churnRun) rewrittenSize(ctx context.Context, dir string) (bytes int64, err error) {
	m, err := oxbow.Open(filepath.Join(dir, "held.oxbow"), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	err = fill(ctx, m, stretch(r.texts, r.entries))
	for i := 0; i < r.keep && err == nil; i++ {
		err = m.Apply(ctx, r.change()...)
	}
	if err != nil {
		return 0, err
	}
	return logSize(m)
}

func formatMegabytes(n int64) string { return formatDigits(float64(n)/1e6) + " MB" }

// firstRecall returns the time from opening the memory in a new process to the first result.
func (r *churnRun) firstRecall(ctx context.Context) (time.Duration, error) {
	from := time.Now()
	m, err := oxbow.Open(r.path, nil)
	if err != nil {
		return 0, err
	}
	_, err = m.Recall(ctx, oxbow.Query{Text: r.texts[0].Name})
	took := time.Since(from)
	return took, errors.Join(err, m.Close())
}
