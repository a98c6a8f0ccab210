// This file tests the end of a process. A kill keeps everything that the process wrote. A crash keeps only what was
// synced.

package crashfs

import (
	"errors"
	"os"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestNothingWorksAfterTheCrash(t *testing.T) {
	d := durable(t, map[string]string{"a": "abc"})
	p := d.StartProcess()
	f := open(t, p, "a")
	l, err := p.OpenLock("a")
	must(t, err)
	d.Stop()
	_, statErr := f.Stat()
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, writeErr := f.WriteAt(make([]byte, 1), 0)
	_, openErr := p.OpenFile("a", os.O_RDONLY, 0)
	_, dirErr := p.ReadDir(".")
	_, nameErr := p.Stat("a")
	_, lockErr := l.TryLock()
	_, newErr := p.OpenLock("a")
	for name, err := range map[string]error{
		"File.Stat": statErr, "ReadAt": readErr, "WriteAt": writeErr, "Sync": f.Sync(),
		"Truncate": f.Truncate(0), "Close": f.Close(), "OpenFile": openErr, "ReadDir": dirErr,
		"Stat": nameErr, "TryLock": lockErr, "Unlock": l.Unlock(), "Lock.Close": l.Close(),
		"OpenLock": newErr, "Remove": p.Remove("a"), "Rename": p.Rename("a", "b"),
		"MkdirAll": p.MkdirAll("d", 0o700), "SyncDir": p.SyncDir("."),
	} {
		if !errors.Is(err, ErrCrashed) {
			t.Errorf("%s after the crash = %v, want %v", name, err, ErrCrashed)
		}
	}
	wantImages(t, d, `a="abc"`)
}

func TestKillReleasesLocksAndKeepsTheCache(t *testing.T) {
	d := New(nil)
	p, q := d.StartProcess(), d.StartProcess()
	lp, err := p.OpenLock("lock")
	must(t, err)
	lq, err := q.OpenLock("lock")
	must(t, err)
	if ok, err := lp.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock = %v, %v, want true, nil", ok, err)
	}
	write(t, open(t, p, "a"), 0, "x")
	if ok, err := lq.TryLock(); ok || err != nil {
		t.Errorf("TryLock while held = %v, %v, want false, nil", ok, err)
	}
	d.Kill(p)
	if err := p.SyncDir("."); !errors.Is(err, ErrKilled) {
		t.Errorf("SyncDir of a killed process = %v, want %v", err, ErrKilled)
	}
	if ok, err := lq.TryLock(); !ok || err != nil {
		t.Errorf("TryLock after the holder died = %v, %v, want true, nil", ok, err)
	}
	if got, err := vfs.ReadFile(q, "a", -1); string(got) != "x" || err != nil {
		t.Errorf("ReadFile = %q, %v, want %q, nil", got, err, "x")
	}
	if _, ok := images(t, d)[`lock=""`]; !ok {
		t.Errorf("what the killed process wrote cannot be lost any more")
	}
}

func TestKillAt(t *testing.T) {
	d := New(nil)
	p, q := d.StartProcess(), d.StartProcess()
	f := open(t, p, "a") // This is operation 1.
	d.KillAt(p, 2)
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, ErrKilled) {
		t.Errorf("WriteAt = %v, want %v", err, ErrKilled)
	}
	must(t, q.SyncDir("."))
	if got := show(t, d.CopyLiveFiles()); got != `a="x"` {
		t.Errorf("Live = %s, want %s", got, `a="x"`)
	}
}

func TestStopAtASyncLeavesItPending(t *testing.T) {
	d := durable(t, map[string]string{"a": ""})
	f := open(t, d.StartProcess(), "a")
	write(t, f, 0, "x")
	d.StopAt(2)
	if err := f.Sync(); !errors.Is(err, ErrCrashed) {
		t.Fatalf("Sync = %v, want %v", err, ErrCrashed)
	}
	wantImages(t, d, `a=""`, `a="\x00"`, `a="x"`)
}

func TestClone(t *testing.T) {
	d := durable(t, map[string]string{"a": "abc"})
	p := d.StartProcess()
	f := open(t, p, "a")
	write(t, f, 0, "X")
	l, err := p.OpenLock("a")
	must(t, err)
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatalf("TryLock = %v, %v, want true, nil", ok, err)
	}
	c := d.Clone()
	// The copy contains what is pending on d. A sync of the copy does not sync d.
	q := c.StartProcess()
	g := open(t, q, "a")
	must(t, g.Sync())
	write(t, g, 0, "YYYY")
	must(t, g.Sync())
	wantImages(t, c, `a="YYYY"`)
	wantImages(t, d, `a="abc"`, `a="Xbc"`)
	must(t, f.Sync())
	wantImages(t, d, `a="Xbc"`)
	lc, err := q.OpenLock("a")
	must(t, err)
	if ok, err := lc.TryLock(); !ok || err != nil {
		t.Errorf("TryLock in a clone = %v, %v, want true, nil", ok, err)
	}
	if d.CountOps() != 2 || c.CountOps() != 4 {
		t.Errorf("Ops = %d and %d in the clone, want 2 and 4", d.CountOps(), c.CountOps())
	}
}
