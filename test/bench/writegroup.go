// This file measures simultaneous writes, also on a disk with a slow sync.

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// slowDisk is a file system with slower syncs of files.
type slowDisk struct {
	vfs.FS
	delay time.Duration
}

type slowFile struct {
	vfs.File
	delay time.Duration
}

func (d slowDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return slowFile{f, d.delay}, nil
}

func (f slowFile) Sync() error {
	time.Sleep(f.delay)
	return f.File.Sync()
}

// runOnSlowDisk measures concurrent writes to an empty store, on a disk whose syncs take w.syncDelay longer. Then it
// verifies the store.
func (w *writeRun) runOnSlowDisk(ctx context.Context) (err error) {
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return err
	}
	dir, err := vfs.Dir(w.dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	w.memoryPath = filepath.Join(w.dir, "memory.oxbow")
	w.memory, err = oxbow.Open("memory.oxbow", &oxbow.Options{FS: slowDisk{dir, w.syncDelay}})
	if err != nil {
		return err
	}
	if err := errors.Join(w.measureConcurrentWrites(ctx), w.memory.Close()); err != nil {
		return err
	}
	return w.verifyStore(ctx)
}

// measureConcurrentWrites prints a table with the writes per second of 1, 8 and 64 goroutines that write at the same
// time, and the times of single writes.
func (w *writeRun) measureConcurrentWrites(ctx context.Context) error {
	title := fmt.Sprintf("goroutines that write, beside %s entries", formatCount(w.entryCount))
	if w.syncDelay > 0 {
		title = fmt.Sprintf("goroutines that write; a sync takes %s more", formatDuration(w.syncDelay))
	}
	t := newTable(title, "writes", "writes/s", "p50 of one", "p99 of one", "× 1 goroutine")
	var one float64
	for _, g := range []int{1, 8, 64} {
		each := max(w.rounds/2, 1)
		w.logf("write: %d goroutines", g)
		times := make([]timings, g)
		errs := make([]error, g)
		var wg sync.WaitGroup
		from := time.Now()
		for i := range g {
			wg.Go(func() {
				for j := range each {
					e := w.newEntry(fmt.Sprintf("group %d", g), i*each+j)
					errs[i] = times[i].timeCall(func() error { return w.memory.Apply(ctx, e) })
					if errs[i] != nil {
						return
					}
				}
			})
		}
		wg.Wait()
		took := time.Since(from)
		if err := errors.Join(errs...); err != nil {
			return err
		}
		w.acknowledgedEntryCount += g * each
		var all timings
		for _, ts := range times {
			all = append(all, ts...)
		}
		rate := float64(g*each) / took.Seconds()
		if g == 1 {
			one = rate
		}
		t.addRow(
			formatCount(g),
			formatCount(g*each),
			formatRoundedNumber(rate),
			formatDuration(all.p50()),
			formatDuration(all.quantile(.99)),
			formatRoundedNumber(rate/one)+"×",
		)
	}
	w.emitTable(t)
	return nil
}
