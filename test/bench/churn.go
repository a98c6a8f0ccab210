// This file implements the command churn. It measures the log's size after many updates of few entries, and how long
// the slowest update waits while the log is compacted.

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

// repeatedUpdateRun updates the entries of one store.
type repeatedUpdateRun struct {
	*bench
	entryCount, updateCount, updatesPerChange, keptChangeCount int
	textSource                                                 textSource

	storePath    string
	texts        []oxbow.Add
	writtenCount int
	changeTimes  timings // time of each call that updated an entry
	// For comparison, the times of overwriting a part of a plain file and syncing it. Each write has as many bytes as
	// an update of an entry adds to the log. The overwrites and the updates alternate.
	overwriteTimes timings
	largestSize    int64 // largest size of the log, in bytes
	finalSize      int64 // size of the log at the end, in bytes
	compactions    int   // how often the log became smaller
}

func churnCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &repeatedUpdateRun{bench: b}
	fl.IntVar(&r.entryCount, "entries", 1000, "entries in the store")
	fl.IntVar(&r.updateCount, "updates", 1_000_000, "updates of them")
	fl.IntVar(&r.updatesPerChange, "each", 5, "updates in one change")
	fl.IntVar(&r.keptChangeCount, "keep", 1000, "last changes that the store keeps")
	r.textSource.addFlags(fl)
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		if min(r.entryCount, r.updateCount, r.updatesPerChange, r.keptChangeCount) < 1 {
			return errors.New("measuring churn: -entries, -updates, -each and -keep must be above 0")
		}
		return b.withTempDir("churn", r.run)(ctx)
	}
}

func (r *repeatedUpdateRun) run(ctx context.Context, dir string) (err error) {
	var from string
	r.texts, from, err = r.textSource.readEntries(ctx, 10000)
	if err != nil {
		return err
	}
	r.storePath = filepath.Join(dir, "memory.oxbow")
	if err := r.writeUpdates(ctx, dir); err != nil {
		return err
	}
	t := newTable(
		fmt.Sprintf("%s updates of %s entries", formatCount(r.updateCount), formatCount(r.entryCount)),
		"figure",
		"× its own measure",
	)
	held, err := r.rewrittenLogSize(ctx, dir)
	if err != nil {
		return err
	}
	t.addRow("the entries and the last changes, in a log of their own", formatMegabytes(held), "1.00×")
	t.addRow("the log at its largest", formatMegabytes(r.largestSize), formatRatio(r.largestSize, held))
	t.addRow("the log at the end", formatMegabytes(r.finalSize), formatRatio(r.finalSize, held))
	t.addRow("times that it was compacted", formatCount(r.compactions), "–")
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", .5}, {"p99.9", .999}, {"longest", 1}} {
		bare := r.overwriteTimes.quantile(q.q)
		t.addRow("a bare overwrite with fsync, "+q.name, formatDuration(bare), "1.00×")
		t.addRow(
			"a change, "+q.name,
			formatDuration(r.changeTimes.quantile(q.q)),
			formatRatio(r.changeTimes.quantile(q.q), bare),
		)
	}
	first, err := r.measureFirstRecall(ctx)
	if err != nil {
		return err
	}
	t.addRow("Open and the first recall after all", formatDuration(first), "–")
	r.emitTable(t)
	r.printf(
		"The texts are from %s. A change has %d updates; the store keeps the last %s changes. Changes and bare "+
			"overwrites are in turns.\n\n",
		from,
		r.updatesPerChange,
		formatCount(r.keptChangeCount),
	)
	return nil
}

// writeUpdates creates the store, updates its entries r.updateCount times, and measures the time of each change. At
// every tenth change, it also recalls a text and measures how long it takes to overwrite the same number of bytes in a
// plain file. If the log has become smaller since the previous tenth change, writeUpdates counts a compaction.
func (r *repeatedUpdateRun) writeUpdates(ctx context.Context, dir string) (err error) {
	m, err := oxbow.Open(r.storePath, &oxbow.Options{KeepChanges: r.keptChangeCount})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	if err := fillMemory(ctx, m, repeatEntries(r.texts, r.entryCount)); err != nil {
		return err
	}
	size := 0
	for _, e := range r.texts {
		size += r.updatesPerChange * (len(e.Content) + 150) / len(r.texts)
	}
	bare, err := newPlainWriteFiles(dir, 1, &size)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	before := int64(0)
	for i := 0; err == nil && r.writtenCount < r.updateCount; i++ {
		ops := r.nextChange()
		err = r.changeTimes.timeCall(func() error { return m.Apply(ctx, ops...) })
		if err != nil {
			break
		}
		if i%10 == 0 {
			if bare.overwriteOffset+int64(size) > 64<<20 {
				bare.rewindOverwrites()
			}
			err = errors.Join(
				err,
				r.overwriteTimes.timeCall(func() error { return bare.overwriteWriter.writeEntry(oxbow.Add{}) }),
			)
			_, rerr := m.Recall(ctx, oxbow.Query{Text: r.texts[i%len(r.texts)].Name})
			now, serr := logSize(m)
			err = errors.Join(err, rerr, serr)
			r.largestSize = max(r.largestSize, now)
			if now < before {
				r.compactions++
			}
			before = now
		}
		if i%10000 == 0 {
			r.logf("churn: %s of %s updates", formatCount(r.writtenCount), formatCount(r.updateCount))
		}
	}
	r.finalSize = before
	return err
}

// nextChange returns the ops of the next change, which update r.updatesPerChange entries. Each entry gets a new text.
func (r *repeatedUpdateRun) nextChange() []oxbow.Op {
	ops := make([]oxbow.Op, r.updatesPerChange)
	named := repeatEntries(r.texts, r.entryCount)
	for i := range ops {
		r.writtenCount++
		at := r.writtenCount * 7919 % r.entryCount
		text := r.texts[(at+r.writtenCount)%len(r.texts)].Content
		ops[i] = oxbow.Update{Name: named[at].Name, Content: fmt.Sprint(r.writtenCount, " ", text)}
	}
	return ops
}

// logSize returns how many bytes of a memory's log are used.
func logSize(m *oxbow.Memory) (int64, error) {
	s, err := m.Stats(context.Background())
	return s.Used, err
}

// rewrittenLogSize returns the size in bytes of a log that contains only r.entryCount entries and the last
// r.keptChangeCount changes. It is the smallest log with which the measured log can be compared. To find the size,
// rewrittenLogSize creates a new memory in the directory dir and writes these entries and changes to it.
func (r *repeatedUpdateRun) rewrittenLogSize(ctx context.Context, dir string) (bytes int64, err error) {
	m, err := oxbow.Open(filepath.Join(dir, "held.oxbow"), nil)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	err = fillMemory(ctx, m, repeatEntries(r.texts, r.entryCount))
	for i := 0; i < r.keptChangeCount && err == nil; i++ {
		err = m.Apply(ctx, r.nextChange()...)
	}
	if err != nil {
		return 0, err
	}
	return logSize(m)
}

func formatMegabytes(n int64) string { return formatRoundedNumber(float64(n)/1e6) + " MB" }

// measureFirstRecall returns how long it takes to open the memory and to return the first result. A new process would
// need the same time.
func (r *repeatedUpdateRun) measureFirstRecall(ctx context.Context) (time.Duration, error) {
	from := time.Now()
	m, err := oxbow.Open(r.storePath, nil)
	if err != nil {
		return 0, err
	}
	_, err = m.Recall(ctx, oxbow.Query{Text: r.texts[0].Name})
	took := time.Since(from)
	return took, errors.Join(err, m.Close())
}
