// This file tests that an append looks behind the end of the log once it has
// the lock, whatever was seen there before.

package wal

import (
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// brokenFS is a file system whose logs have faults.
type brokenFS struct {
	vfs.FS
	breaks Breaks
}

func (b brokenFS) Breaks() Breaks { return b.breaks }

// A reader saw free space behind the end, then another process began a record
// there and was killed: the next append keeps those bytes aside. A log that
// went by what it had seen before would write over them.
func TestTailBehindAnOldLook(t *testing.T) {
	for _, tt := range []struct {
		name   string
		breaks Breaks
		kept   int // files in the directory of torn tails
	}{
		{"as it is", 0, 1},
		{"an old look believed", BreakTailLook, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := vfs.NewMem()
			l := open(t, brokenFS{m, tt.breaks})
			add(t, l, "one")
			if news, err := l.Poll(); err != nil || news != Same {
				t.Fatalf("Poll() = %v, %v; want Same", news, err)
			}
			f, err := m.OpenFile("m.oxbow", 2, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt(recordMark[:3], l.End()); err != nil {
				t.Fatal(err)
			}
			if err := l.Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			if _, err := l.Append(Draft{Type: 1, Time: 1, Body: []byte("two")}); err != nil {
				t.Fatal(err)
			}
			if err := l.Unlock(); err != nil {
				t.Fatal(err)
			}
			kept, err := m.ReadDir("m.oxbow.lost")
			if len(kept) != tt.kept || err != nil && tt.kept > 0 {
				t.Errorf("%d torn tails were kept (%v), want %d", len(kept), err, tt.kept)
			}
			same(t, all(t, open(t, m)), "1 one", "2 two")
		})
	}
}
