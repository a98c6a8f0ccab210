// This file tests what requests that share a sync are told.

package oxbow

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/vfs"
	"github.com/oxbow-memory/oxbow/vfs/crashfs"
)

var errDisk = errors.New("the disk is gone")

// fullFS is a disk that takes no bytes while full is set.
type fullFS struct {
	vfs.FS
	full   bool
	breaks wal.Breaks
}

type fullFile struct {
	vfs.File
	fs *fullFS
}

func (f *fullFS) Breaks() wal.Breaks { return f.breaks }

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

// A request that is answered because of a change before it in the same batch
// must not be answered when that change is not durable in the end.
func TestAnswersWaitForTheSync(t *testing.T) {
	add := func(opID string) *request {
		ctx := t.Context()
		if opID != "" {
			ctx = WithOpID(ctx, opID)
		}
		return newRequest(ctx, func(g *stage) (*body, error) {
			p, err := g.op(Add{Name: "a", Content: "text"})
			return &body{ops: []put{p}}, err
		})
	}
	for _, tt := range []struct {
		name         string
		full         bool
		breaks       wal.Breaks
		again, other error // what the retry and the other are told
	}{
		{"durable", false, 0, nil, ErrExists},
		{"not durable", true, 0, errDisk, errDisk},
		{"not durable, answered early", true, wal.BreakEarlyAnswer, nil, ErrExists},
	} {
		t.Run(tt.name, func(t *testing.T) {
			disk := &fullFS{FS: vfs.NewMem(), breaks: tt.breaks}
			m, err := Open("memory.oxbow", &Options{FS: disk})
			if err != nil {
				t.Fatal(err)
			}
			if err := m.Apply(t.Context(), Add{Name: "first", Content: "text"}); err != nil {
				t.Fatal(err)
			}
			d := m.Store().(*db)
			batch := []*request{add("x"), add("x"), add("")}
			disk.full = tt.full
			err = d.locked(t.Context(), func() error { return d.commitAll(batch) })
			if (err != nil) != tt.full {
				t.Fatalf("the batch ends with %v", err)
			}
			for i, want := range []error{1: tt.again, 2: tt.other} {
				if i == 0 {
					continue
				}
				r := batch[i]
				got := err
				if r.finished() {
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
			n, err := Open("memory.oxbow", &Options{FS: disk.FS})
			if err != nil {
				t.Fatal(err)
			}
			if rep, err := n.Check(context.Background()); err != nil || len(rep.Problems) > 0 {
				t.Errorf("Check() = %+v, %v", rep.Problems, err)
			}
			if err := n.Close(); err != nil {
				t.Errorf("Close() = %v", err)
			}
		})
	}
}

// A disk that is full is told of once, with the store's path.
func TestFullDiskIsToldOnce(t *testing.T) {
	disk := crashfs.New(nil)
	m, err := Open("m.oxbow", &Options{FS: disk.Process()})
	if err != nil {
		t.Fatal(err)
	}
	for at := 1; ; at++ {
		disk.Inject(crashfs.Fault{At: disk.Ops() + at, Err: syscall.ENOSPC})
		_, err = m.Remember(t.Context(), Entry{Name: "a", Content: "x"})
		if errors.Is(err, ErrFull) {
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
	if _, err := m.Remember(t.Context(), Entry{Name: "a", Content: "x"}); err != nil {
		t.Errorf("with room again, Remember() = %v", err)
	}
	if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Errorf("Check() = %v, %v", rep.Problems, err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("Close() = %v", err)
	}
}
