// This file implements the command named "memory". It measures how much main memory a process uses for a store after
// each operation.

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

func memoryCommand(b *bench, fl *flag.FlagSet) func(context.Context) error {
	sizes := fl.String("n", "10000,20000", "entries in the store, `N,N…`")
	calls := fl.Int("calls", 1000, "queries, and entries written, of a process that stays")
	profiles := fl.String("profiles", "", "write a profile of the heap after each step to `DIR`")
	var src textSource
	src.addFlags(fl)
	b.addDirFlag(fl)
	return func(ctx context.Context) error {
		ns, err := parseNumbers(*sizes)
		if err != nil {
			return err
		}
		if *calls < 1 {
			return errors.New("measuring memory: -calls must be above 0")
		}
		dir, remove, err := b.tempDir()
		if err != nil {
			return err
		}
		defer remove()
		b.printTitle("memory", dir)
		es, from, err := src.readEntries(ctx, 10000)
		if err != nil {
			return err
		}
		head := []string{"live heap after"}
		var rows [][]string
		for i, n := range ns {
			if n < 1 {
				return errors.New("measuring memory: -n must be above 0")
			}
			head = append(head, formatCount(n)+" entries: MB", "bytes an entry", "memory of the process, MB")
			r := memoryUsageRun{bench: b, path: filepath.Join(dir, fmt.Sprint(i), "memory.oxbow"), callCount: *calls,
				entries: repeatEntries(es, n), profilesDir: *profiles}
			if err := r.run(ctx); err != nil {
				return fmt.Errorf("the memory of %d entries: %w", n, err)
			}
			for j, c := range r.stepUsages {
				if i == 0 {
					rows = append(rows, []string{c.stepName})
				}
				rows[j] = append(
					rows[j],
					formatRoundedNumber(float64(c.heapBytes)/1e6),
					formatRoundedNumber(float64(c.heapBytes)/float64(n)),
					formatRoundedNumber(float64(c.residentBytes)/1e6),
				)
			}
		}
		t := newTable(head...)
		for _, r := range rows {
			t.addRow(r...)
		}
		b.emitTable(t)
		b.printf(
			"The entries are from %s. The heap is what is live after a collection, without what the measurement "+
				"holds. \"– \" goes on in the process of the row above.\n\n",
			from,
		)
		return nil
	}
}

// memoryUsageRun measures how much memory oxbow uses after each of several operations on one store.
type memoryUsageRun struct {
	*bench
	path        string
	callCount   int
	entries     []oxbow.Add
	profilesDir string

	memory                *oxbow.Memory
	heapBytesWithoutStore uint64 // size of the live objects without a store, in bytes
	stepUsages            []memoryUsage
}

// memoryUsage is the memory in use after a step.
type memoryUsage struct {
	stepName      string
	heapBytes     int64 // size of the heap objects in use, in bytes
	residentBytes int64 // resident memory of the process, in bytes (0 if the system does not report it)
}

// runStep performs one operation on the store with the function do, and records how much memory is in use afterwards.
// It opens the store if necessary. If r.profilesDir is set, it also writes a heap profile.
func (r *memoryUsageRun) runStep(name string, do func() error) error {
	if r.memory == nil {
		r.heapBytesWithoutStore = liveHeapBytes()
		m, err := oxbow.Open(r.path, nil)
		if err != nil {
			return err
		}
		r.memory = m
	}
	if err := do(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	after := liveHeapBytes()
	debug.FreeOSMemory()
	resident, _ := anonymousMemoryBytes()
	r.stepUsages = append(r.stepUsages, memoryUsage{name, int64(after) - int64(r.heapBytesWithoutStore), resident})
	r.logf("%s: %.1f MB", name, float64(int64(after)-int64(r.heapBytesWithoutStore))/1e6)
	if r.profilesDir == "" {
		return nil
	}
	f, err := os.Create(filepath.Join(
		r.profilesDir,
		fmt.Sprintf("%d-%02d-%s.pprof", len(r.entries), len(r.stepUsages), strings.ReplaceAll(name, " ", "-")),
	))
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("heap").WriteTo(f, 0), f.Close())
}

func (r *memoryUsageRun) close() error {
	m := r.memory
	r.memory = nil
	return m.Close()
}

func (r *memoryUsageRun) run(ctx context.Context) error {
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return err
	}
	if err := fillHome(ctx, filepath.Dir(r.path), r.entries); err != nil {
		return err
	}
	phrases, err := samplePhrases(r.entries, 2*r.callCount, 1)
	if err != nil {
		return err
	}
	recall := func(ps []string) func() error {
		return func() error {
			for _, p := range ps {
				if _, err := r.memory.Recall(ctx, oxbow.Query{Text: p, Limit: 10}); err != nil {
					return err
				}
			}
			return ctx.Err()
		}
	}
	get := func(n int) func() error {
		return func() error {
			for _, e := range r.entries[:n] {
				if _, err := r.memory.Get(ctx, e.Name); err != nil {
					return err
				}
			}
			return ctx.Err()
		}
	}
	written := 0
	remember := func() error {
		for i := range r.callCount {
			written++
			e := oxbow.Add{
				Name:    fmt.Sprintf("written %d", written),
				Content: strings.Clone(r.entries[i%len(r.entries)].Content),
			}
			if err := r.memory.Apply(ctx, e); err != nil {
				return err
			}
		}
		return ctx.Err()
	}
	// Add a copy of each entry under another name, so that the memory has twice as many entries.
	again := func() error {
		es := make([]oxbow.Add, len(r.entries))
		for i, e := range r.entries {
			es[i] = oxbow.Add{Name: e.Name + " again", Content: strings.Clone(e.Content)}
		}
		return fillMemory(ctx, r.memory, es)
	}
	list := func() error {
		_, _, err := r.memory.Newest(ctx, oxbow.Filter{}, 0, 20)
		return err
	}
	many := func(what string) string { return formatCount(r.callCount) + " " + what }
	for _, p := range []struct {
		before func() error // called before the steps, while the store is closed (may be nil)
		steps  []memoryMeasurementStep
	}{
		{r.newDerivedFileRemover(".snap", ".idx"), []memoryMeasurementStep{{"open, no snapshot", func() error { return nil }}}},
		{nil, []memoryMeasurementStep{{"open", func() error { return nil }}, {"– get", get(1)}, {"– list --limit 20", list}}},
		{
			nil,
			[]memoryMeasurementStep{
				{"recall, no index file", recall(phrases[:1])},
				{"– another, which makes the index", recall(phrases[1:2])},
			},
		},
		{nil, []memoryMeasurementStep{
			{"recall, index file", recall(phrases[:1])},
			{"– " + many("recalls"), recall(phrases[:r.callCount])},
			{"– " + many("more"), recall(phrases[r.callCount:])},
			{"– " + many("writes"), remember},
			{"– " + many("more writes"), remember},
			{"– a get of each entry", get(len(r.entries))},
			{"– as many entries imported", again},
			{"– a recall", recall(phrases[:1])},
		}},
		{nil, []memoryMeasurementStep{{"recall, after that", recall(phrases[:1])}}},
	} {
		if p.before != nil {
			if err := p.before(); err != nil {
				return err
			}
		}
		for _, s := range p.steps {
			if err := r.runStep(s.name, s.do); err != nil {
				return errors.Join(err, r.close())
			}
		}
		if err := r.close(); err != nil {
			return err
		}
	}
	runtime.KeepAlive(phrases)
	return nil
}

// memoryMeasurementStep is one operation of the process whose memory use is measured.
type memoryMeasurementStep struct {
	name string
	do   func() error
}

// newDerivedFileRemover returns a function that removes derived files.
func (r *memoryUsageRun) newDerivedFileRemover(suffixes ...string) func() error {
	return func() error {
		for _, s := range suffixes {
			if err := os.RemoveAll(r.path + s); err != nil {
				return err
			}
		}
		return nil
	}
}
