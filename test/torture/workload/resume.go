// This file continues a script after a crash of the machine, or after a process was killed.

package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
)

// KillAt lets process i be killed at operation n of the disk.
func (w *World) KillAt(i, n int) {
	w.killAtOp = n
	w.Disk.KillAt(w.procs[i].fs.FS.(*crashfs.Process), n)
}

// ContinueAfterKill continues with process i after the other process was killed. Its store must be in one of the
// allowed states, and must work. The same applies to the store of a new process.
func (w *World) ContinueAfterKill(i int, allowed []*State) error {
	m, err := w.Memory(i)
	if err != nil {
		return fmt.Errorf("the other process: open: %w", err)
	}
	got, err := collect(m)
	if err != nil {
		return fmt.Errorf("the other process: read: %w", err)
	}
	last, err := lastChange(m)
	if err != nil {
		return fmt.Errorf("the other process: %w", err)
	}
	st, err := matchState(got, last, allowed)
	if err != nil {
		return fmt.Errorf("the other process: %w", err)
	}
	// A third process makes a compaction in the meantime. This replaces the file that process i has open, and also the
	// bytes after the end of the file.
	third := NewFS(w.Disk.Process(), w.setup)
	m3, err := oxbow.Open(StoreFile, Options(third, w.clock.nextTime, w.rand))
	if err != nil {
		return fmt.Errorf("a third process: open: %w", err)
	}
	rep, err := m3.Compact(context.Background(), oxbow.Compaction{Before: time.Unix(1<<40, 0)})
	if err != nil {
		return fmt.Errorf("a third process: compact: %w", err)
	}
	if rep.Seq != 0 {
		model := st.Model.Clone()
		model.Compact()
		st = &State{Model: model, Entries: st.Entries}
	}
	want, err := useStore(m, st, got)
	if err != nil {
		return fmt.Errorf("the other process: %w", err)
	}
	es, err := collect(m3)
	if err != nil {
		return fmt.Errorf("a third process: read: %w", err)
	}
	if d := firstDifference(es, want); d != "" {
		return fmt.Errorf("a third process: %s", d)
	}
	// A new process must find the same entries.
	fresh, err := oxbow.Open(StoreFile, Options(NewFS(w.Disk.Process(), w.setup), w.clock.nextTime, w.rand))
	if err != nil {
		return fmt.Errorf("a new process: open: %w", err)
	}
	es, err = collect(fresh)
	if err != nil {
		return fmt.Errorf("a new process: read: %w", err)
	}
	if d := firstDifference(es, want); d != "" {
		return fmt.Errorf("a new process: %s", d)
	}
	return nil
}

// ResumeWorld returns a world with a single process that opens the store on an existing disk.
func ResumeWorld(d *crashfs.Disk, s Script, setup Setup) *World {
	w := &World{Script: s, Disk: d, setup: setup, model: &Model{}}
	// The clock starts an hour later. The fractions of a second have nine digits, so that the lengths of records
	// depend only on their contents.
	w.clock = &clock{rand.New(rand.NewPCG(s.Seed, 3)), time.Unix(1776165825, 987654321)}
	w.rand = seededReader(^s.Seed)
	w.procs = []*proc{{fs: NewFS(d.Process(), setup)}}
	return w
}

// OpenInAllowedState opens the store, and checks that it is in one of the allowed states. The error may be caused by a
// simulated crash.
func (w *World) OpenInAllowedState(allowed []*State) error {
	m, err := w.Memory(0)
	if err != nil {
		return err
	}
	got, err := collect(m)
	if err != nil {
		return err
	}
	last, err := lastChange(m)
	if err != nil {
		return err
	}
	st, err := matchState(got, last, allowed)
	if err != nil {
		return err
	}
	w.model = st.Model
	w.States = []*State{st}
	return nil
}
