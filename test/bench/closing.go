// This file implements the command "close". The command measures the cost of closing a memory, which depends on how
// much was written since the memory was opened.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func closeCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	sizes := fl.String("n", "1000,100000", "entries in the store, `N,N…`")
	written := fl.String("changes", "1,100,10000,100000", "entries that change before the close, `N,N…`")
	var src textSource
	src.addFlags(fl)
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		ns, err := parseNumbers(*sizes)
		if err != nil {
			return err
		}
		changes, err := parseNumbers(*written)
		if err != nil {
			return err
		}
		texts, from, err := src.readEntries(ctx, 10000)
		if err != nil {
			return err
		}
		return b.withTempDir("close", func(ctx context.Context, dir string) error {
			t := newTable(
				"Close of a memory of",
				"changes since it was opened",
				"without a recall: time",
				"processor",
				"with recalls: time",
				"processor",
				"Checkpoint after those: time",
				"processor",
			)
			for _, n := range ns {
				r := closeRun{path: filepath.Join(dir, fmt.Sprint(n), "memory.oxbow"), entries: repeatEntries(texts, n)}
				if err := r.createStore(ctx); err != nil {
					return err
				}
				for _, c := range changes {
					row := []string{formatCount(n) + " entries", formatCount(c)}
					for _, recalls := range []bool{false, true} {
						b.logf("close: %d entries, %d changes, recalls: %v", n, c, recalls)
						costs, err := r.measureClose(ctx, c, recalls)
						if err != nil {
							return fmt.Errorf("closing %d entries after %d changes: %w", n, c, err)
						}
						row = append(row, formatDuration(costs[0].elapsedTime), formatProcessorTime(costs[0].cpu))
						if recalls {
							row = append(row, formatDuration(costs[1].elapsedTime), formatProcessorTime(costs[1].cpu))
						}
					}
					t.addRow(row...)
				}
			}
			b.emitTable(t)
			b.printf(
				"The entries are from %s. Each change replaces an entry. Before each close the files next to the log "+
					"lacked nothing.\n\n",
				from,
			)
			return nil
		})(ctx)
	}
}

// closeRun measures how much time it takes to close one store.
type closeRun struct {
	path              string
	entries           []oxbow.Add
	writtenEntryCount int
}

// callCost is the elapsed time and the processor time of a call.
type callCost struct{ elapsedTime, cpu time.Duration }

func measureCost(fn func() error) (s callCost, err error) {
	cpu, _ := processorTime()
	from := time.Now()
	err = fn()
	s.elapsedTime = time.Since(from)
	now, _ := processorTime()
	s.cpu = now - cpu
	return s, err
}

// createStore creates the store whose closing is measured, with its snapshot and index files.
func (r *closeRun) createStore(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	m, err := oxbow.Open(r.path, nil)
	if err != nil {
		return err
	}
	if err := fillMemory(ctx, m, r.entries); err != nil {
		return errors.Join(err, m.Close())
	}
	_, err = r.checkpointAndClose(ctx, m)
	return err
}

// checkpointAndClose brings the derived files up to date, and closes the store. It returns the cost of the checkpoint.
func (r *closeRun) checkpointAndClose(ctx context.Context, m *oxbow.Memory) (callCost, error) {
	_, err := m.Recall(ctx, oxbow.Query{Text: "warm up"})
	s, cerr := measureCost(func() error { return m.Checkpoint(ctx) })
	return s, errors.Join(err, cerr, m.Close())
}

// measureClose opens the store, makes the given number of changes, closes the store and opens it again. If withRecalls
// is set, it also searches the store before and during the changes. costs[0] is the cost of closing the store. costs[1]
// is the cost of a checkpoint after the store was opened again.
func (r *closeRun) measureClose(ctx context.Context, changes int, withRecalls bool) (costs [2]callCost, err error) {
	m, err := oxbow.Open(r.path, nil)
	if err != nil {
		return costs, err
	}
	recall := func() error {
		if !withRecalls {
			return nil
		}
		_, err := m.Recall(ctx, oxbow.Query{Text: "what does it return", Limit: 10})
		return err
	}
	err = recall()
	for left := changes; left > 0 && err == nil; {
		some := min(left, 100, max(1, changes/10))
		ops := make([]oxbow.Op, some)
		for i := range ops {
			r.writtenEntryCount++
			at := r.writtenEntryCount * 7919 % len(r.entries)
			text := r.entries[(at+r.writtenEntryCount)%len(r.entries)].Content
			ops[i] = oxbow.Update{Name: r.entries[at].Name, Content: fmt.Sprint(r.writtenEntryCount, " ", text)}
		}
		err = m.Apply(ctx, ops...)
		if before := left; err == nil && (before-1)*10/changes != (before-some-1)*10/changes {
			err = recall()
		}
		left -= some
	}
	if err != nil {
		return costs, errors.Join(err, m.Close())
	}
	costs[0], err = measureCost(m.Close)
	if err != nil {
		return costs, err
	}
	m, err = oxbow.Open(r.path, nil)
	if err != nil {
		return costs, err
	}
	costs[1], err = r.checkpointAndClose(ctx, m)
	return costs, err
}
