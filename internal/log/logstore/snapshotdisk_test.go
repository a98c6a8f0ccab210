// This file tests snapshots on disks that are full or read-only, that crash, or that lose unsynced data.

package logstore

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// fullDisk is a file system that refuses writes to temporary files.
type fullDisk struct{ *vfs.Mem }

func (f fullDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&os.O_CREATE != 0 && strings.HasPrefix(name, testSnapshot) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: syscall.ENOSPC}
	}
	return f.Mem.OpenFile(name, flag, perm)
}

// TestSnapshotOnFullDisk tests that a snapshot that cannot be written is not an error.
func TestSnapshotOnFullDisk(t *testing.T) {
	h, _ := snapshotHome(t)
	mem := h.fs.(*vfs.Mem)
	old, err := vfs.ReadFile(mem, testSnapshot, -1)
	if err != nil {
		t.Fatal(err)
	}
	h.fs = fullDisk{mem}
	m := h.open(Options{MinSnapshotOps: 1})
	if err := m.Apply(t.Context(), store.Add{Name: "one more", Content: "x"}); err != nil {
		t.Fatal(err)
	}
	checkAndCloseStore(t, m)
	h.fs = mem
	now, err := vfs.ReadFile(mem, testSnapshot, -1)
	if err != nil || !bytes.Equal(old, now) {
		t.Errorf("the snapshot before is not left as it was: %v", err)
	}
	m = h.open(Options{})
	if _, err := m.Get(t.Context(), "one more"); err != nil {
		t.Error(err)
	}
	checkAndCloseStore(t, m)
}

// TestSnapshotOfUnsyncedRecords tests a snapshot of records that are not on stable storage yet. If a crash loses a
// record but keeps the last record, the log ends at the lost record. The store must not use the snapshot then.
func TestSnapshotOfUnsyncedRecords(t *testing.T) {
	h := newRandomHistory(t, 14)
	m := h.open(Options{})
	for i := range 3 {
		if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint("name ", i), Content: "some text"}); err != nil {
			t.Fatal(err)
		}
	}
	d := m
	var drafts []wal.Payload
	for _, off := range d.changeOffsets {
		r, err := d.log.RecordAt(off)
		if err != nil {
			t.Fatal(err)
		}
		drafts = append(drafts, wal.Payload{Type: r.Type, TimeUnixNano: r.TimeUnixNano, Body: bytes.Clone(r.Body)})
	}
	opts := d.logOptions()
	checkAndCloseStore(t, m)
	h.fs = vfs.NewMem()
	log, err := wal.Open(h.fs, "memory.oxbow", opts)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Append all records at once, so that none of them proves that another is durable.
	recs, err := log.Append(drafts...)
	if err != nil {
		t.Fatal(err)
	}
	file, err := vfs.ReadFile(h.fs, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Unlock(), log.Close()); err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) { // The lock file contains no number, as after a process was killed.
		mem := h.fs.(*vfs.Mem)
		if err := errors.Join(
			mem.Put("memory.oxbow", b, 0o600, time.Unix(1, 0)),
			mem.Put(wal.LockName("memory.oxbow"), nil, 0o600, time.Unix(1, 0)),
		); err != nil {
			t.Fatal(err)
		}
	}
	put(bytes.Clone(file)) // Omit the seal that closing has written.
	reader := h.open(Options{ReadOnly: true, WriteDerivedFiles: true, MinSnapshotOps: 1})
	checkAndCloseStore(t, reader)
	if _, err := h.fs.Stat(testSnapshot); err != nil {
		t.Fatal(err)
	}
	lost := bytes.Clone(file)
	clear(lost[recs[1].FileOffset+20 : recs[2].FileOffset])
	put(lost)
	want := h.replayed()
	m = h.open(Options{})
	sameAnswers(t, "with a record lost", answers(t, m), want)
	if err := m.Apply(t.Context(), store.Add{Name: "name 9", Content: "acknowledged"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.fs.Remove(testSnapshot); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	m = h.open(Options{})
	if _, err := m.Get(t.Context(), "name 9"); err != nil {
		t.Error(err)
	}
	checkAndCloseStore(t, m)
}

// TestSnapshotCrashWhileWriting crashes the disk at every operation of a close that writes a snapshot.
func TestSnapshotCrashWhileWriting(t *testing.T) {
	h, want := snapshotHome(t)
	img := h.fs.(*vfs.Mem)
	images := 0
	for k := 1; ; k++ {
		disk := crashfs.New(img.Clone())
		one := *h
		one.fs = disk.StartProcess()
		m := one.open(Options{MinSnapshotOps: 1})
		before := disk.CountOps()
		disk.StopAt(before + k)
		_ = m.Close() // The disk stops during this call.
		over := disk.CountOps() < before+k
		disk.Stop()
		n := 0
		disk.EachCrashFileSystem(func(left *vfs.Mem, label string) bool {
			n++
			if n > 16 && n%29 != 0 {
				return true
			}
			images++
			after := *h
			after.fs = left
			m := after.open(Options{ReadOnly: true})
			sameAnswers(t, fmt.Sprintf("operation %d, %s", k, label), answers(t, m), want)
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
			return true
		})
		if over {
			break
		}
	}
	if images < 50 {
		t.Errorf("%d images", images)
	}
}

// readOnlyDir is a file system in which no file can be created or changed.
type readOnlyDir struct{ *vfs.Mem }

func (r readOnlyDir) refuse(name string) error {
	return &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func (r readOnlyDir) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if flag&(os.O_RDWR|os.O_WRONLY|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, r.refuse(name)
	}
	return r.Mem.OpenFile(name, flag, perm)
}

func (r readOnlyDir) Rename(old, _ string) error { return r.refuse(old) }

func (r readOnlyDir) Remove(name string) error { return r.refuse(name) }

func (r readOnlyDir) OpenLock(name string) (vfs.Lock, error) { return nil, r.refuse(name) }

// TestSnapshotInReadOnlyDirectory tests a store in a directory that cannot be written. The store must use the snapshot
// if the file exists, and otherwise the log.
func TestSnapshotInReadOnlyDirectory(t *testing.T) {
	h, want := snapshotHome(t)
	mem := h.fs.(*vfs.Mem)
	for _, there := range []bool{true, false} {
		if !there {
			if err := mem.Remove(testSnapshot); err != nil {
				t.Fatal(err)
			}
		}
		one := *h
		one.fs = readOnlyDir{mem}
		for _, o := range []Options{
			{ReadOnly: true},
			{ReadOnly: true, WriteDerivedFiles: true, MinSnapshotOps: 1},
			{MinSnapshotOps: 1},
		} {
			m := one.open(o)
			if hasBase(m) != there {
				t.Errorf("%+v: a snapshot is used: %v, want %v", o, hasBase(m), there)
			}
			sameAnswers(t, "in a read-only directory", answers(t, m), want)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
