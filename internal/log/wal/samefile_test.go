// This file tests logs whose file is overwritten by another program or gets a second name.

package wal

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// openDir opens the log in a directory of the real file system.
func openDir(t *testing.T, dir string) *Log {
	t.Helper()
	fsys, err := vfs.Dir(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = fsys.Close() })
	return open(t, fsys)
}

// copyInPlace overwrites a file with the bytes of another file, as cp does. It does not create a new file.
func copyInPlace(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestOverwrittenInPlace tests that an open log notices if its file is overwritten with an older copy of the file or
// with another log. The log must notice this even if the length of the file stays the same, and after any number of
// records.
func TestOverwrittenInPlace(t *testing.T) {
	for _, bodies := range [][]string{{}, {"one"}, {"one", "two", "three"}} {
		dir := t.TempDir()
		path, old := filepath.Join(dir, "m.oxbow"), filepath.Join(dir, "old")
		l := openDir(t, dir)
		if err := l.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := l.CreateFile(); err != nil {
			t.Fatal(err)
		}
		_ = l.Unlock()
		other := t.TempDir()
		copyInPlace(t, path, old)
		for _, b := range bodies {
			copyInPlace(t, path, old)
			add(t, l, b)
		}
		if len(bodies) == 0 { // The log has no record, and another log is written over it.
			o := openDir(t, other)
			o.opts.Rand = strings.NewReader(strings.Repeat("another identity", 9))
			add(t, o, "of another log")
			old = filepath.Join(other, "m.oxbow")
		}
		if news, err := l.PollChanges(); news != LogFileUnchanged || err != nil || l.HaveReadBytesChanged() {
			t.Fatalf("Poll() = %v, %v before the file is overwritten", news, err)
		}
		copyInPlace(t, old, path)
		if _, err := l.PollChanges(); !l.HaveReadBytesChanged() || err != nil {
			t.Errorf("after %d records, an older copy in the same file was not noticed (%v)", len(bodies), err)
		}
	}
}

// TestSecondName tests a log whose file has a second name, because a hard link to the file was made. Before an append
// writes, it copies the log to a new file under its own name. The file under the other name keeps its content.
// Processes that use the two names may hold different locks. Nevertheless, neither overwrites records of the other.
func TestSecondName(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	first := openDir(t, a)
	add(t, first, "one", "two")
	for _, name := range []string{"m.oxbow", "m.oxbow.lock"} { // create hard links, as cp -al does for a directory
		if err := os.Link(filepath.Join(a, name), filepath.Join(b, name)); err != nil {
			t.Skipf("no hard links here: %v", err)
		}
	}
	second := openDir(t, b)
	for i := range 3 { // write in turn, so that each log finds a lock file that the other log wrote
		add(t, first, strings.Repeat("first", i+1))
		add(t, second, strings.Repeat("second", 9*i+1))
		add(t, second, "more")
	}
	for dir, want := range map[string][]string{
		a: {"1 one", "2 two", "3 first", "4 firstfirst", "5 firstfirstfirst"},
		b: {"1 one", "2 two", "3 second", "4 more", "5 " + strings.Repeat("second", 10), "6 more",
			"7 " + strings.Repeat("second", 19), "8 more"},
	} {
		if got := all(t, openDir(t, dir)); !slices.Equal(got, want) {
			t.Errorf("the log has %q, want %q", got, want)
		}
		if meta, _ := ReadLockFileContent(openDir(t, dir).fs, "m.oxbow"); meta.DurableSeq != 0 {
			t.Errorf("the lock file of two logs says that change %d was durable", meta.DurableSeq)
		}
	}
}
