// This file tests that an append examines the bytes after the last record while the append holds the lock, even if the
// log already examined these bytes before it was locked.

package wal

import (
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// A reader sees free space after the last record. Then another process begins to write a record there and is killed.
// The next append must save these bytes. Without a new check, it would overwrite them.
func TestTailAfterAnOldLook(t *testing.T) {
	m := vfs.NewMem()
	l := open(t, m)
	add(t, l, "one")
	if news, err := l.PollChanges(); err != nil || news != LogFileUnchanged {
		t.Fatalf("Poll() = %v, %v; want Same", news, err)
	}
	f, err := m.OpenFile("m.oxbow", 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(recordMagic[:3], l.EndOffset()); err != nil {
		t.Fatal(err)
	}
	if err := l.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Append(Payload{Type: 1, TimeUnixNano: 1, Body: []byte("two")}); err != nil {
		t.Fatal(err)
	}
	if err := l.Unlock(); err != nil {
		t.Fatal(err)
	}
	if kept, err := m.ReadDir("m.oxbow.lost"); len(kept) != 1 || err != nil {
		t.Errorf("%d torn tails were kept (%v), want 1", len(kept), err)
	}
	same(t, all(t, open(t, m)), "1 one", "2 two")
}
