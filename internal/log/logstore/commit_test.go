// This file tests the results of requests that share a sync.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

var errDisk = errors.New("the disk is gone")

// fullFS is a file system that refuses all writes while full is set.
type fullFS struct {
	vfs.FS
	full bool
}

type fullFile struct {
	vfs.File
	fs *fullFS
}

func (f *fullFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &fullFile{file, f}, nil
}

func (f *fullFile) WriteAt(b []byte, off int64) (int, error) {
	if f.fs.full {
		return 0, errDisk
	}
	return f.File.WriteAt(b, off)
}

func (f *fullFile) Sync() error {
	if f.fs.full {
		return errDisk
	}
	return f.File.Sync()
}

// TestAnswersWaitForTheSync tests a request whose result depends on an earlier change in the same batch. The request
// must not succeed if that change does not become durable.
func TestAnswersWaitForTheSync(t *testing.T) {
	add := func(opID string) *commitRequest {
		ctx := t.Context()
		if opID != "" {
			ctx = store.WithOpID(ctx, opID)
		}
		return newCommitRequest(ctx, func(g *commitBatch) (*recordBody, error) {
			p, err := g.stageOp(store.Add{Name: "a", Content: "text"})
			return &recordBody{ops: []loggedOp{p}}, err
		})
	}
	for _, tt := range []struct {
		name         string
		full         bool
		again, other error // errors of the retry and of the other request
	}{
		{"durable", false, nil, store.ErrExists},
		{"not durable", true, errDisk, errDisk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			disk := &fullFS{FS: vfs.NewMem()}
			m := openTest(t, disk, "memory.oxbow", Options{})
			if err := m.Apply(t.Context(), store.Add{Name: "first", Content: "text"}); err != nil {
				t.Fatal(err)
			}
			d := m
			var err error
			batch := []*commitRequest{add("x"), add("x"), add("")}
			disk.full = tt.full
			err = d.withLock(t.Context(), func() error { return d.commitRequests(batch) })
			if (err != nil) != tt.full {
				t.Fatalf("the batch ends with %v", err)
			}
			for i, want := range []error{1: tt.again, 2: tt.other} {
				if i == 0 {
					continue
				}
				r := batch[i]
				got := err
				if r.isFinished() {
					got = r.err
				}
				if !errors.Is(got, want) {
					t.Errorf("request %d is told %v, want %v", i, got, want)
				}
			}
			disk.full = false
			if err := m.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
			n := openTest(t, disk.FS, "memory.oxbow", Options{})
			if rep, err := n.Check(context.Background()); err != nil || len(rep.Problems) > 0 {
				t.Errorf("Check() = %+v, %v", rep.Problems, err)
			}
			if err := n.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
		})
	}
}

// TestFullDiskIsReportedOnce tests that the error for a full disk says only once that nothing was written. When the
// disk has room again, the store must be usable.
func TestFullDiskIsReportedOnce(t *testing.T) {
	disk := crashfs.New(nil)
	m := openTest(t, disk.StartProcess(), "m.oxbow", Options{})
	var err error
	for at := 1; ; at++ {
		disk.Inject(crashfs.OpFault{FirstOpNumber: disk.CountOps() + at, Err: syscall.ENOSPC})
		err = remember(t.Context(), m, store.Entry{Name: "a", Content: "x"})
		if errors.Is(err, store.ErrFull) {
			break
		}
		if at == 50 {
			t.Fatalf("no write failed for want of space; the last said %v", err)
		}
	}
	if n := strings.Count(err.Error(), "nothing was written"); n != 1 {
		t.Errorf("the error says %d times that nothing was written: %v", n, err)
	}
	disk.Mend()
	if err := remember(t.Context(), m, store.Entry{Name: "a", Content: "x"}); err != nil {
		t.Errorf("with room again, Remember() = %v", err)
	}
	if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %v, %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

// TestLine tests two requests that wait in the queue to be committed. If the first request is canceled, the second must
// succeed. If the first request panics, the second must fail with ErrUnknownOutcome. In both cases, the store must
// accept the next change.
func TestLine(t *testing.T) {
	for _, tt := range []struct {
		name   string
		first  error // error of the first request in the queue (nil if it panics)
		second error
	}{
		{"the first gives up", context.Canceled, nil},
		{"the first panics", nil, store.ErrUnknownOutcome},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := openTest(t, vfs.NewMem(), "m.oxbow", Options{})
				d := m
				d.writerMu.Lock()
				ctx, cancel := context.WithCancel(t.Context())
				var first, second error
				var panicked any
				go func() {
					defer func() { panicked = recover() }()
					first = d.commitChange(ctx, func(*commitBatch) (*recordBody, error) { panic("a mistake") }).err
				}()
				synctest.Wait()
				go func() { second = m.Apply(t.Context(), store.Add{Name: "a", Content: "text"}) }()
				synctest.Wait()
				if tt.first != nil {
					cancel()
				}
				d.writerMu.Unlock()
				synctest.Wait()
				cancel()
				if !errors.Is(first, tt.first) || (panicked != nil) != (tt.first == nil) {
					t.Errorf("the first is told %v and panics with %v, want %v", first, panicked, tt.first)
				}
				if !errors.Is(second, tt.second) {
					t.Errorf("the second is told %v, want %v", second, tt.second)
				}
				if err := m.Apply(t.Context(), store.Add{Name: "b", Content: "text"}); err != nil {
					t.Errorf("afterwards, Apply() = %v", err)
				}
				_, err := m.Get(t.Context(), "a")
				if there := err == nil; there != (tt.second == nil) {
					t.Errorf("the second's entry is there: %v (%v)", there, err)
				}
				if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
					t.Errorf("Check() = %+v, %v", rep.Problems, err)
				}
				if err := m.Close(); err != nil {
					t.Errorf("Close() = %v", err)
				}
			})
		})
	}
}

// TestManyWriters tests changes that are encoded in parallel in reused memory. Each change must be stored as its
// caller passed it, and the hash chain must be valid.
func TestManyWriters(t *testing.T) {
	m := openTest(t, vfs.NewMem(), "m.oxbow", Options{})
	content := func(i int) string { return strings.Repeat(fmt.Sprint("text ", i, " "), 1+i%7*300) }
	const writers, each = 32, 20
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for j := range each {
				i := w*each + j
				if err := m.Apply(t.Context(), store.Add{Name: fmt.Sprint(i), Content: content(i)}); err != nil {
					t.Errorf("Apply(%d) = %v", i, err)
				}
			}
		})
	}
	wg.Wait()
	for i := range writers * each {
		if e, err := m.Get(t.Context(), fmt.Sprint(i)); err != nil || e.Content != content(i) {
			t.Errorf("Get(%d) = %d bytes, %v; want %d", i, len(e.Content), err, len(content(i)))
		}
	}
	if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 || rep.Entries != writers*each {
		t.Errorf("Check() = %+v, %v", rep, err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}

// TestDryRunIsApply tests that a dry run returns the same error as Apply, also for a change that is too large, and
// changes nothing.
func TestDryRunIsApply(t *testing.T) {
	m := openTest(t, vfs.NewMem(), "m.oxbow", Options{})
	defer m.Close()
	dry := m
	large := make([]store.Op, 17)
	for i := range large {
		large[i] = store.Add{Name: fmt.Sprint("large ", i), Content: strings.Repeat("x", store.MaxContent)}
	}
	for _, ops := range [][]store.Op{large, {store.Remove{Name: "ghost"}}, {store.Add{Name: " "}}, large[:2],
		{large[0]}} {
		err := dry.DryRun(t.Context(), ops...)
		if got := m.Apply(t.Context(), ops...); fmt.Sprint(got) != fmt.Sprint(err) {
			t.Errorf("DryRun of %d ops = %v, Apply = %v", len(ops), err, got)
		}
	}
	if cs, err := store.Undoable(t.Context(), m, 10); err != nil || len(cs) != 1 {
		t.Errorf("there are %d changes, %v", len(cs), err)
	}
}
