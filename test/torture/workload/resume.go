// This file continues a test script after a crash of the simulated machine, or after a process was killed.

package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
)

// KillProcessAt arranges that the process is killed when it performs the disk operation with the number operation.
func (w *World) KillProcessAt(process, operation int) {
	w.killOpNumber = operation
	w.Disk.KillAt(w.processes[process].fs.FS.(*crashfs.Process), operation)
}

// ContinueAfterKill tests that the process survivorIndex can continue after another process was killed. The survivor
// must read one of the allowed states, and must be able to change the store. Then a third process compacts the store,
// and a new process opens it. Both must read the same entries as the survivor.
func (w *World) ContinueAfterKill(survivorIndex int, allowed []*StoreState) error {
	m, err := w.OpenedMemory(survivorIndex)
	if err != nil {
		return fmt.Errorf("the other process: open: %w", err)
	}
	got, err := collectEntries(m)
	if err != nil {
		return fmt.Errorf("the other process: read: %w", err)
	}
	last, err := lastChangeSeq(m)
	if err != nil {
		return fmt.Errorf("the other process: %w", err)
	}
	st, err := findMatchingState(got, last, allowed)
	if err != nil {
		return fmt.Errorf("the other process: %w", err)
	}
	// A third process now compacts the store into a new file. The surviving process must notice that its open file was
	// replaced. The incomplete record that the killed process may have left at the end of the old file is gone then.
	third := NewFS(w.Disk.StartProcess(), w.setup)
	m3, err := oxbow.Open(StoreFile, StoreOptions(third, w.clock.nextTime, w.rand))
	if err != nil {
		return fmt.Errorf("a third process: open: %w", err)
	}
	rep, err := m3.Compact(context.Background(), oxbow.Compaction{Before: time.Unix(1<<40, 0)})
	if err != nil {
		return fmt.Errorf("a third process: compact: %w", err)
	}
	if rep.Seq != 0 {
		model := st.Model.Clone()
		model.RecordCompaction()
		st = &StoreState{Model: model, Entries: st.Entries}
	}
	want, err := makeThreeChanges(m, st, got)
	if err != nil {
		return fmt.Errorf("the other process: %w", err)
	}
	es, err := collectEntries(m3)
	if err != nil {
		return fmt.Errorf("a third process: read: %w", err)
	}
	if d := firstDifference(es, want); d != "" {
		return fmt.Errorf("a third process: %s", d)
	}
	// A new process must find the same entries as the processes before.
	fresh, err := oxbow.Open(StoreFile, StoreOptions(NewFS(w.Disk.StartProcess(), w.setup), w.clock.nextTime, w.rand))
	if err != nil {
		return fmt.Errorf("a new process: open: %w", err)
	}
	es, err = collectEntries(fresh)
	if err != nil {
		return fmt.Errorf("a new process: read: %w", err)
	}
	if d := firstDifference(es, want); d != "" {
		return fmt.Errorf("a new process: %s", d)
	}
	return nil
}

// ResumeWorld returns a World (processes, disk and clock for a test script) with a single process that opens the store
// on an existing disk.
func ResumeWorld(d *crashfs.Disk, s Script, setup StoreSetup) *World {
	w := &World{Script: s, Disk: d, setup: setup, model: &StoreModel{}}
	// Start the clock an hour after the clock of NewWorld. The fractions of a second have nine digits, so that record
	// lengths depend only on the contents.
	w.clock = &scriptClock{rand.New(rand.NewPCG(s.Seed, 3)), time.Unix(1776165825, 987654321)}
	w.rand = seededReader(^s.Seed)
	w.processes = []*storeProcess{{fs: NewFS(d.StartProcess(), setup)}}
	return w
}

// OpenInAllowedState opens the store, and checks that the store is in one of the allowed states. It makes this state
// the expected state of the world w. If a crash is simulated meanwhile, it returns the error of the crash.
func (w *World) OpenInAllowedState(allowedStates []*StoreState) error {
	m, err := w.OpenedMemory(0)
	if err != nil {
		return err
	}
	got, err := collectEntries(m)
	if err != nil {
		return err
	}
	last, err := lastChangeSeq(m)
	if err != nil {
		return err
	}
	st, err := findMatchingState(got, last, allowedStates)
	if err != nil {
		return err
	}
	w.model = st.Model
	w.States = []*StoreState{st}
	return nil
}
