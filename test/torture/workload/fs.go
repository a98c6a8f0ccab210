// This file implements the file system of a tested store. The file system counts calls and open files. It calls a
// function before each call that changes something, so that another process can run at this point. It also has the
// deliberate faults that the StoreSetup selects.

package workload

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// StoreFile is the name of the store's file in all randomized tests (campaigns).
const StoreFile = "m.oxbow"

// IsLockFile reports whether name is the name of a lock file. A lock file begins with a random identity, so its
// content differs each time a test is run.
func IsLockFile(name string) bool { return strings.HasSuffix(name, ".lock") }

// FileDependsOnScript reports whether the content of a file depends on the test script. This is true for all files
// except lock files, which begin with a random identity. A disk that contains only lock files looks the same for many
// scripts. Therefore such a disk need not be counted as a different disk for each script.
func FileDependsOnScript(name string) bool { return !IsLockFile(name) }

// IsSnapshotFile reports whether name is the name of the store's snapshot.
func IsSnapshotFile(name string) bool { return name == StoreFile+".snap" }

// ScriptWritesSnapshots reports whether the test script with this seed makes the store write snapshots. Three out of
// four scripts do.
func ScriptWritesSnapshots(seed uint64) bool { return seed%16/4 != 3 }

// IsTornRecordFile reports whether name is the name of a file in which the store has saved an incomplete record.
func IsTornRecordFile(name string) bool { return strings.HasPrefix(name, StoreFile+".lost/") }

// StoreSetup describes how the tested store differs from a store in real use. The zero StoreSetup is a store without
// faults.
type StoreSetup struct {
	DiskFault             DiskFault // fault of the disk
	FileGrowsInSmallSteps bool      // The file grows in small steps when records are appended (see FreeSpace).
	DiscardsLockContent   bool      // Writes to the lock file have no effect.
	SnapshotOnClose       bool      // closing the store after a change writes the snapshot
}

// HookedFS is a file system that calls a function before every call that changes something or uses a lock. HookedFS is
// safe for concurrent use, but BeforeCall must be set only while no process uses the file system.
type HookedFS struct {
	vfs.FS
	setup StoreSetup

	// BeforeCall is called before each call that changes a file or a directory or uses a lock. It may be nil.
	BeforeCall func()

	// IsHiddenFile reports whether a file cannot be opened. It may be nil.
	IsHiddenFile func(name string) bool

	mu                     sync.Mutex // guards the following fields
	openFileCount          int        // number of open files
	openLockCount          int        // number of open locks
	filesWithPostponedSync []vfs.File // files whose sync is postponed (see PostponeSync)
	isDiskFull             bool       // the disk is full (see SetDiskFull)
}

// NewFS returns a file system on top of fsys, with the deliberate faults that s selects.
func NewFS(fsys vfs.FS, s StoreSetup) *HookedFS { return &HookedFS{FS: fsys, setup: s} }

// FreeSpace returns the step by which a log's file grows and the space to reserve, or 0 for the defaults. With the
// defaults, most bytes of a small store are unused, and examining a larger copy of the disk takes longer. Therefore
// most tests use small steps, with which the same code runs.
func (f *HookedFS) FreeSpace() (growthStep, reserve int64) {
	if f.setup.FileGrowsInSmallSteps {
		return 1 << 10, 512
	}
	return 0, 0
}

// NextTemp implements [vfs.TempNumberer]. If the underlying file system is a TempNumberer, NextTemp returns its number,
// so that each run of a script uses the same names. Otherwise NextTemp returns the present time in nanoseconds.
func (f *HookedFS) NextTemp() uint64 {
	if t, ok := f.FS.(vfs.TempNumberer); ok {
		return t.NextTemp()
	}
	return uint64(time.Now().UnixNano())
}

// CountOpenHandles returns the number of open files and locks.
func (f *HookedFS) CountOpenHandles() (files, locks int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.openFileCount, f.openLockCount
}

// SetDiskFull sets whether the disk is full. On a full disk, existing bytes can be overwritten, but no file can be
// created or extended.
func (f *HookedFS) SetDiskFull(full bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.isDiskFull = full
}

// fullDiskError returns the error of a full disk if the call needs space, otherwise nil.
func (f *HookedFS) fullDiskError(op, name string, needsSpace bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isDiskFull && needsSpace {
		return &fs.PathError{Op: op, Path: name, Err: syscall.ENOSPC}
	}
	return nil
}

func (f *HookedFS) runBeforeCallHook() {
	if f.BeforeCall != nil {
		f.BeforeCall()
	}
}

// OpenFile implements [vfs.FS].
func (f *HookedFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if f.IsHiddenFile != nil && f.IsHiddenFile(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	if flag&(os.O_CREATE|os.O_TRUNC) != 0 {
		f.runBeforeCallHook()
		_, missing := f.FS.Stat(name)
		if err := f.fullDiskError("open", name, missing != nil); err != nil {
			return nil, err
		}
	}
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.openFileCount++
	f.mu.Unlock()
	return &hookedFile{File: file, fs: f, name: name}, nil
}

// Rename implements [vfs.FS].
func (f *HookedFS) Rename(oldname, newname string) error {
	f.runBeforeCallHook()
	if f.setup.DiskFault == RemoveBeforeRename {
		return f.removeThenRename(oldname, newname)
	}
	return f.FS.Rename(oldname, newname)
}

// Remove implements [vfs.FS].
func (f *HookedFS) Remove(name string) error {
	f.runBeforeCallHook()
	return f.FS.Remove(name)
}

// MkdirAll implements [vfs.FS].
func (f *HookedFS) MkdirAll(name string, perm fs.FileMode) error {
	f.runBeforeCallHook()
	_, missing := f.FS.Stat(name)
	if err := f.fullDiskError("mkdir", name, missing != nil); err != nil {
		return err
	}
	return f.FS.MkdirAll(name, perm)
}

// SyncDir implements [vfs.FS].
func (f *HookedFS) SyncDir(name string) error {
	f.runBeforeCallHook()
	if f.setup.DiskFault.ignoresDirSync(name) {
		return nil
	}
	return f.FS.SyncDir(name)
}

// OpenLock implements [vfs.FS].
func (f *HookedFS) OpenLock(name string) (vfs.Lock, error) {
	f.runBeforeCallHook()
	l, err := f.FS.OpenLock(name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.openLockCount++
	f.mu.Unlock()
	return &hookedLock{Lock: l, fs: f}, nil
}

// hookedFile is an open file of a HookedFS.
type hookedFile struct {
	vfs.File
	fs           *HookedFS
	name         string
	wasTruncated bool // The last change of this file was a truncation.
	closed       bool
}

func (t *hookedFile) WriteAt(b []byte, off int64) (int, error) {
	if t.fs.setup.DiscardsLockContent && IsLockFile(t.name) {
		return len(b), nil
	}
	t.fs.runBeforeCallHook()
	if err := t.fs.runPostponedSyncs(); err != nil {
		return 0, err
	}
	if fi, err := t.File.Stat(); err == nil {
		if err := t.fs.fullDiskError("write", t.name, off+int64(len(b)) > fi.Size()); err != nil {
			return 0, err
		}
	}
	t.wasTruncated = false
	return t.File.WriteAt(b, off)
}

func (t *hookedFile) Truncate(size int64) error {
	t.fs.runBeforeCallHook()
	t.wasTruncated = true
	if t.fs.setup.DiskFault == SkipTruncation {
		return nil
	}
	return t.File.Truncate(size)
}

func (t *hookedFile) Sync() error {
	t.fs.runBeforeCallHook()
	b := t.fs.setup.DiskFault
	if b.ignoresFileSync(t.name, t.wasTruncated) {
		return nil
	}
	if b == PostponeSync && t.name == StoreFile {
		t.fs.mu.Lock()
		t.fs.filesWithPostponedSync = append(t.fs.filesWithPostponedSync, t.File)
		t.fs.mu.Unlock()
		return nil
	}
	return t.File.Sync()
}

func (t *hookedFile) Close() error {
	t.fs.mu.Lock()
	if !t.closed {
		t.closed = true
		t.fs.openFileCount--
	}
	t.fs.mu.Unlock()
	return t.File.Close()
}

// hookedLock is an open lock of a HookedFS.
type hookedLock struct {
	vfs.Lock
	fs     *HookedFS
	closed bool
}

func (l *hookedLock) TryLock() (bool, error) {
	l.fs.runBeforeCallHook()
	ok, err := l.Lock.TryLock()
	if l.fs.setup.DiskFault == IgnoreLock && err == nil {
		ok = true
	}
	return ok, err
}

func (l *hookedLock) Unlock() error {
	l.fs.runBeforeCallHook()
	err := l.Lock.Unlock()
	if l.fs.setup.DiskFault == IgnoreLock && errors.Is(err, fs.ErrInvalid) {
		return nil // the lock was never acquired
	}
	return err
}

func (l *hookedLock) Close() error {
	l.fs.mu.Lock()
	if !l.closed {
		l.closed = true
		l.fs.openLockCount--
	}
	l.fs.mu.Unlock()
	return l.Lock.Close()
}
