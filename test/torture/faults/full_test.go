// This file tests a full disk: which changes are refused, which still work, and that the store works again without
// being opened when there is room.

package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

func TestFullDisk(t *testing.T) {
	disk := crashfs.New(nil)
	now := time.Unix(1776162225, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	open := func(seed byte) (*oxbow.Memory, *workload.HookedFS) {
		fsys := workload.NewFS(disk.StartProcess(), workload.StoreSetup{})
		m, err := oxbow.Open(
			workload.StoreFile,
			&oxbow.Options{FS: fsys, Clock: clock, Rand: rand.NewChaCha8([32]byte{seed}), LockWait: 1},
		)
		if err != nil {
			t.Fatal(err)
		}
		return m, fsys
	}
	m, fsys := open(1)
	other, otherFS := open(2)
	ctx := t.Context()
	have := map[string]bool{}
	for i := range 20 {
		name := fmt.Sprintf("entry %d", i)
		if _, err := m.Remember(ctx, oxbow.Entry{Name: name, Content: strings.Repeat("some words ", 40)}); err != nil {
			t.Fatal(err)
		}
		have[name] = true
	}
	same := func(when string, m *oxbow.Memory) {
		t.Helper()
		n := 0
		for e, err := range m.Entries(ctx, oxbow.Filter{}) {
			if err != nil {
				t.Fatalf("%s: reading: %v", when, err)
			}
			n++
			if !have[e.Name] {
				t.Errorf("%s: entry %q is there", when, e.Name)
			}
		}
		if n != len(have) {
			t.Errorf("%s: %d entries, want %d", when, n, len(have))
		}
	}
	full := func(on bool) { fsys.SetDiskFull(on); otherFS.SetDiskFull(on) }

	// Entries are added in the existing free space, until one is refused.
	full(true)
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		name := fmt.Sprintf("more %d", i)
		_, err = m.Remember(ctx, oxbow.Entry{Name: name, Content: strings.Repeat("words ", 300)})
		if err == nil {
			have[name] = true
		}
	}
	if !errors.Is(err, oxbow.ErrFull) {
		t.Fatalf("Remember() on a full disk = %v, want ErrFull", err)
	}
	same("full", m)
	same("full", other)

	// Forgetting still works in both processes, because some space is kept in reserve.
	for i := range 20 {
		name := fmt.Sprintf("entry %d", i)
		p := []*oxbow.Memory{m, other}[i%2]
		if err := p.Forget(ctx, name); err != nil {
			t.Fatalf("Forget(%q) on a full disk: %v", name, err)
		}
		delete(have, name)
	}
	same("after forgetting", m)
	same("after forgetting", other)
	if _, err := other.Remember(
		ctx,
		oxbow.Entry{Name: "x", Content: strings.Repeat("words ", 3000)},
	); !errors.Is(err, oxbow.ErrFull) {
		t.Errorf("Remember() on a full disk = %v, want ErrFull", err)
	}

	// When there is room again, everything works.
	full(false)
	for i, p := range []*oxbow.Memory{m, other} {
		name := fmt.Sprintf("room %d", i)
		if _, err := p.Remember(ctx, oxbow.Entry{Name: name, Content: strings.Repeat("words ", 3000)}); err != nil {
			t.Errorf("Remember() when there is room again: %v", err)
		}
		have[name] = true
	}
	same("at the end", m)
	disk.Stop()
	for img := range disk.EachCrashFileSystem {
		again, err := oxbow.Open(workload.StoreFile, &oxbow.Options{FS: img})
		if err != nil {
			t.Fatal(err)
		}
		same("after a crash", again)
	}
}
