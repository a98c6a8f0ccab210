// This file implements the command catchup. It measures the first recall of an open memory after another process has
// written many entries.

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

// catchupRun is one run of the command catchup.
type catchupRun struct {
	*bench
	entryCount, writtenCount, rounds int
	textSource                       textSource

	storePath string
	query     oxbow.Query
	entries   []oxbow.Add
}

func catchupCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	r := &catchupRun{bench: b}
	fl.IntVar(&r.entryCount, "n", 100_000, "entries in the store before the first round")
	fl.IntVar(&r.writtenCount, "written", 10_000, "entries that the other process writes in each round")
	fl.IntVar(&r.rounds, "rounds", 5, "rounds")
	r.textSource.addFlags(fl)
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		if min(r.entryCount, r.writtenCount, r.rounds) < 1 {
			return errors.New("measuring catchup: --n, --written and --rounds must be above 0")
		}
		return b.withTempDir("catchup", r.run)(ctx)
	}
}

func (r *catchupRun) run(ctx context.Context, dir string) error {
	r.storePath = filepath.Join(dir, "memory.oxbow")
	r.textSource.entryBytes = 230
	entries, from, err := r.textSource.readEntries(ctx, r.entryCount)
	if err != nil {
		return err
	}
	phrases, err := samplePhrases(entries, 1, 1)
	if err != nil {
		return err
	}
	r.entries, r.query = entries, oxbow.Query{Text: phrases[0]}
	if err := r.write(ctx, 0, r.entryCount, true); err != nil {
		return err
	}
	b := r.bench
	b.printf("Each round writes %s entries to a store of %s or more (%s).\n\n", formatCount(r.writtenCount),
		formatCount(r.entryCount), from)
	t := newTable("first recall after another process wrote", "time", "processor time", "next recall")
	for _, isSaved := range []bool{true, false} {
		name := "and saved its index"
		if !isSaved {
			name = "and did not save its index"
		}
		var times, processorTimes, next timings
		for round := range r.rounds {
			first := r.entryCount + 2*round*r.writtenCount
			if !isSaved {
				first += r.writtenCount
			}
			if err := r.measureRound(ctx, first, isSaved, &times, &processorTimes, &next); err != nil {
				return err
			}
		}
		t.addRow(
			name,
			formatDuration(times.p50()),
			formatProcessorTime(processorTimes.p50()),
			formatDuration(next.p50()),
		)
	}
	b.emitTable(t)
	return nil
}

// measureRound measures how long a recall takes after another memory of the same store has written entries. It opens a
// memory and recalls, writes the entries (see write), and recalls twice with the first memory. The time of the first of
// these recalls is appended to times, and its processor time to processorTimes. The time of the second is appended to
// next.
func (r *catchupRun) measureRound(
	ctx context.Context,
	first int,
	isSaved bool,
	times, processorTimes, next *timings,
) (err error) {
	reader, err := oxbow.Open(r.storePath, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for range 3 {
		if _, err := reader.Recall(ctx, r.query); err != nil {
			return err
		}
	}
	if err := r.write(ctx, first, r.writtenCount, isSaved); err != nil {
		return err
	}
	recall := func() error {
		_, err := reader.Recall(ctx, r.query)
		return err
	}
	before, _ := processorTime()
	if err := times.timeCall(recall); err != nil {
		return err
	}
	after, _ := processorTime()
	*processorTimes = append(*processorTimes, after-before)
	return next.timeCall(recall)
}

// write opens the store separately, as another process would, and adds count entries in changes of 100 entries. The
// first entry has the name "entry" followed by the number first. Each further entry has the next number. If isSaved is
// set, write then also writes the index file and a checkpoint.
func (r *catchupRun) write(ctx context.Context, first, count int, isSaved bool) (err error) {
	m, err := oxbow.Open(r.storePath, nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	for from := first; from < first+count; from += 100 {
		var ops []oxbow.Op
		for i := from; i < min(from+100, first+count); i++ {
			e := r.entries[i%len(r.entries)]
			e.Name = fmt.Sprint("entry ", i)
			e.Created = time.Unix(1_700_000_000+int64(i), 0)
			ops = append(ops, e)
		}
		if err := m.Apply(ctx, ops...); err != nil {
			return err
		}
	}
	if !isSaved {
		return nil
	}
	return errors.Join(m.MakeIndex(ctx), m.Checkpoint(ctx))
}
