// This file tests that a rewrite removes the files of killed rewrites, and no other files.

package wal

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestSweep(t *testing.T) {
	fsys := vfs.NewMem()
	l := open(t, fsys)
	add(t, l, "one")
	gone := []string{"m.oxbow.0123456789ab.tmp", "m.oxbow.ffffffffffff.tmp"}
	kept := []string{"m.oxbow.tmp", "m.oxbow.0123456789ab.tmp2", "m.oxbow.0123456789xy.tmp", "m.oxbow.0123456789.tmp",
		"n.oxbow.0123456789ab.tmp", "xm.oxbow.0123456789ab.tmp"}
	for _, name := range append(gone, kept...) {
		if err := vfs.WriteFile(fsys, name, []byte("half of a log"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	there := func(name string) bool {
		_, err := fsys.Stat(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}

	// CopyTo does not hold the lock, so another process may be creating these files now. They must be kept.
	if err := l.CopyTo(fsys, "copy.oxbow", false); err != nil {
		t.Fatal(err)
	}
	if err := l.CopyTo(fsys, "m.oxbow", true); err != nil {
		t.Fatal(err)
	}
	for _, name := range gone {
		if !there(name) {
			t.Errorf("a copy removed %s", name)
		}
	}

	l = open(t, fsys)
	all(t, l)
	if err := l.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer l.Unlock()
	if err := l.Rewrite(l.LastSeq(), l.LastChainHash(), func(func(Record) error) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, name := range gone {
		if there(name) {
			t.Errorf("%s is still there after a rewrite", name)
		}
	}
	for _, name := range kept {
		if !there(name) {
			t.Errorf("a rewrite removed %s", name)
		}
	}
}
