// This file fuzzes the opening of damaged files and directories.

package faults

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
	"github.com/oxbow-memory/oxbow/vfs"
)

// allocated returns how many bytes fn allocates.
func allocated(fn func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	fn()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// most returns the maximum number of bytes that opening a file of n bytes may allocate.
func most(n int) uint64 { return uint64(16*n + 1<<20) }

// samples returns small sound stores and some damaged stores.
func samples(f *testing.F) [][]byte {
	var bs [][]byte
	for _, k := range storeKinds {
		s, err := buildStore(k, 1, workload.StoreSetup{FileGrowsInSmallSteps: true, DiscardsLockContent: true})
		if err != nil {
			f.Fatal(err)
		}
		bs = append(bs, s.file, s.file[:len(s.file)/2])
		torn := bytes.Clone(s.file)
		clear(torn[s.records[1].fromOffset+8 : s.records[1].fromOffset+20])
		bs = append(bs, torn)
	}
	// The last sample is the header of a store, followed by many marks. Each mark begins a record and specifies a very
	// large length.
	claim := []byte("\noxr\x00\x00\x00\x03")
	head := bytes.Clone(bs[0][:96])
	return append(bs, nil, head, append(head, bytes.Repeat(claim, 4000)...))
}

func openDamaged(m *vfs.Mem) (*oxbow.Memory, error) {
	now := time.Unix(1776200000, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	s := damagedStore{seed: 3}
	return oxbow.Open(
		workload.StoreFile,
		workload.StoreOptions(workload.NewFS(m, workload.StoreSetup{}), clock, s.newRandomReader()),
	)
}

// known reports whether an error is one that callers must expect.
func known(err error) bool {
	for _, e := range []error{oxbow.ErrCorrupt, oxbow.ErrVersion, oxbow.ErrNotStore, oxbow.ErrRolledBack} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

func FuzzOpen(f *testing.F) {
	for _, b := range samples(f) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := vfs.NewMem()
		if err := mem.Put(workload.StoreFile, b, 0o600, storeStartTime); err != nil {
			t.Fatal(err)
		}
		var m *oxbow.Memory
		var es []oxbow.Entry
		var err error
		used := allocated(func() {
			m, err = openDamaged(mem)
			if err == nil {
				es, err = workload.CollectEntries(m)
			}
		})
		if used > most(len(b)) {
			t.Errorf("opening %d bytes took %d bytes of memory, the most is %d", len(b), used, most(len(b)))
		}
		if err != nil {
			if !known(err) {
				t.Errorf("Open() = %v, of no known sort", err)
			}
			return
		}
		for i, e := range es {
			if e.Name == "" || e.ID == 0 || (i > 0 && es[i-1].ID >= e.ID) {
				t.Errorf("entry %d = %+v", i, e)
			}
		}
		if _, err := m.Store().(oxbow.Checker).Check(context.Background()); err != nil && !known(err) {
			t.Errorf("Check() = %v", err)
		}
	})
}

// split divides bytes into files. Two bytes before each file are its length.
func split(b []byte, names ...string) map[string][]byte {
	files := map[string][]byte{}
	for _, name := range names {
		if len(b) < 2 {
			break
		}
		n := min(int(binary.LittleEndian.Uint16(b)), len(b)-2)
		files[name], b = b[2:2+n], b[2+n:]
	}
	return files
}

func join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(len(p))), p...)
	}
	return b
}

// FuzzDirectory opens a directory as a crash may have left it: with a store, its lock file, a torn tail, and a file
// that was about to replace the store. A change must either be made and stay, or be refused with a known error.
func FuzzDirectory(f *testing.F) {
	for _, b := range samples(f) {
		f.Add(join(
			b,
			[]byte(`{"pid":1,"program":"x","since":"2026-04-14T10:23:45Z","id":"00","durable":3}`),
			[]byte("torn"),
			b,
		))
		f.Add(join(b, []byte("{"), nil, nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		mem := vfs.NewMem()
		for name, data := range split(b, workload.StoreFile, workload.StoreFile+".lock", workload.StoreFile+
			".lost/1-at-96.torn", workload.StoreFile+".0123456789ab.tmp") {
			if err := mem.Put(name, data, 0o600, storeStartTime); err != nil {
				t.Fatal(err)
			}
		}
		m, err := openDamaged(mem)
		if err != nil {
			if !known(err) {
				t.Errorf("Open() = %v, of no known sort", err)
			}
			return
		}
		before, err := workload.CollectEntries(m)
		if err != nil {
			if !known(err) {
				t.Errorf("Entries() = %v, of no known sort", err)
			}
			return
		}
		e, err := m.Remember(context.Background(), oxbow.Entry{Name: "new, by the fuzzer", Content: "x"})
		if err != nil {
			if !known(err) {
				t.Errorf("Remember() = %v, of no known sort", err)
			}
			return
		}
		again, err := openDamaged(mem)
		if err != nil {
			t.Fatalf("Open() after a change = %v", err)
		}
		after, err := workload.CollectEntries(again)
		if err != nil {
			t.Fatalf("Entries() after a change = %v", err)
		}
		if len(after) != len(before)+1 || after[len(after)-1].ID != e.ID || after[len(after)-1].Name != e.Name {
			t.Errorf("after a change there are %d entries, and there were %d", len(after), len(before))
		}
	})
}
