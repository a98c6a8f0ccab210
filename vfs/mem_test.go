// Tests of the functions that only the file system in memory has.

package vfs_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestMemClone(t *testing.T) {
	m := vfs.NewMem()
	must(t, m.Put("d/a", []byte("abc"), 0o640, time.Unix(7, 0)))
	must(t, m.Link("d/a", "b"))
	held := lockOf(t, m, "d/a")
	wantAcquired(t, "of a free lock", held)
	c := m.Clone()
	f, err := c.OpenFile("b", os.O_RDWR, 0)
	must(t, err)
	if _, err := f.WriteAt([]byte("X"), 0); err != nil {
		t.Fatal(err)
	}
	wantFile(t, c, "d/a", "Xbc") // the names are hard links of the same file in the copy
	wantFile(t, m, "d/a", "abc")
	g, err := m.OpenFile("d/a", os.O_RDWR, 0)
	must(t, err)
	must(t, g.Truncate(1))
	wantFile(t, c, "d/a", "Xbc")
	wantFile(t, m, "b", "a")
	x, err := m.Stat("d/a")
	must(t, err)
	y, err := c.Stat("d/a")
	must(t, err)
	if x.Sys() != y.Sys() || vfs.SameFile(x, y) {
		t.Errorf("inodes %v and %v, same file %v, want equal inodes of two files", x.Sys(), y.Sys(), vfs.SameFile(x, y))
	}
	wantAcquired(t, "in the copy", lockOf(t, c, "d/a"))
	if want := []string{"b", "d/", "d/a"}; !slices.Equal(c.Names(), want) {
		t.Errorf("Names = %v, want %v", c.Names(), want)
	}
}

func TestMemPutKeepsTheCallersBytes(t *testing.T) {
	m := vfs.NewMem()
	data := []byte("abc")
	must(t, m.Put("a", data, 0o600, time.Unix(7, 0)))
	info, err := m.Stat("a")
	must(t, err)
	if !info.ModTime().Equal(time.Unix(7, 0)) || info.Mode() != 0o600 {
		t.Errorf("Stat = %v, %v, want 0600 at second 7", info.Mode(), info.ModTime())
	}
	f, err := m.OpenFile("a", os.O_RDWR, 0)
	must(t, err)
	if _, err := f.WriteAt([]byte("X"), 0); err != nil {
		t.Fatal(err)
	}
	if string(data) != "abc" {
		t.Errorf("the caller's bytes became %q, want abc", data)
	}
	wantFile(t, m, "a", "Xbc")
}

func TestMemIsDeterministic(t *testing.T) {
	run := func() (times []time.Time, temps []uint64) {
		m := vfs.NewMem()
		for range 3 {
			must(t, vfs.WriteFile(m, "a", []byte("x"), 0o600))
			info, err := m.Stat("a")
			must(t, err)
			times, temps = append(times, info.ModTime()), append(temps, m.NextTemp())
		}
		return times, temps
	}
	t1, n1 := run()
	t2, n2 := run()
	if !slices.Equal(t1, t2) || !slices.Equal(n1, n2) {
		t.Errorf("two runs gave %v, %v and %v, %v, want the same", t1, n1, t2, n2)
	}
	if !t1[0].Before(t1[1]) || n1[0] >= n1[1] {
		t.Errorf("times %v and numbers %v do not grow", t1, n1)
	}
	m := vfs.NewMem()
	now := time.Date(2026, 4, 18, 9, 30, 0, 0, time.UTC)
	m.SetClock(func() time.Time { return now })
	put(t, m, "a", "x")
	if info, err := m.Stat("a"); err != nil || !info.ModTime().Equal(now) {
		t.Errorf("ModTime = %v, %v, want %v", info.ModTime(), err, now)
	}
}

func TestMemRefusesHugeFiles(t *testing.T) {
	f := create(t, vfs.NewMem(), "a", "x")
	wantErr(t, "Truncate to 1 TB", f.Truncate(1<<40), vfs.ErrTooLarge)
	_, err := f.WriteAt([]byte("x"), 1<<62)
	wantErr(t, "WriteAt 2^62", err, vfs.ErrTooLarge)
	wantOpen(t, f, "x")
}

// TestSameFileOfTwoFileSystems tests SameFile with files in two different kinds of file systems. It must return false
// for files in different file systems, for both orders of the arguments. It must return true if both arguments are the
// same file.
func TestSameFileOfTwoFileSystems(t *testing.T) {
	m, o := vfs.NewMem(), openDir(t, t.TempDir())
	put(t, m, "a", "")
	put(t, o, "a", "")
	x, err := m.Stat("a")
	must(t, err)
	y, err := o.Stat("a")
	must(t, err)
	if vfs.SameFile(x, y) || vfs.SameFile(y, x) || !vfs.SameFile(x, x) || !vfs.SameFile(y, y) {
		t.Errorf("SameFile = %v, %v, %v, %v, want false, false, true, true",
			vfs.SameFile(x, y), vfs.SameFile(y, x), vfs.SameFile(x, x), vfs.SameFile(y, y))
	}
}
