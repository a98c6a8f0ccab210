// This file tests JumpToRecord, which moves the read position of a log to a given record without reading the records
// before that record.

package wal

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

func TestJump(t *testing.T) {
	fsys := vfs.NewMem()
	a := open(t, fsys)
	for _, s := range []string{"one", "two", "three", "four", "five", "six"} {
		add(t, a, s)
	}
	type place struct {
		offset int64
		seq    uint64
		chain  [32]byte
	}
	var places []place
	b := open(t, fsys)
	if err := b.Read(func(r *Record) error {
		places = append(places, place{r.FileOffset, r.Seq, r.ChainHash})
		return nil
	}); err != nil || len(places) != 6 {
		t.Fatal(err, len(places))
	}

	p := places[2]
	c := open(t, fsys)
	for what, wrong := range map[string]place{
		"another number":     {p.offset, 4, p.chain},
		"another chain":      {p.offset, 3, places[3].chain},
		"another record":     {places[3].offset, 3, p.chain},
		"no record":          {p.offset + 1, 3, p.chain},
		"the header":         {1, 3, p.chain},
		"behind the end":     {1 << 40, 3, p.chain},
		"the base, not zero": {0, 3, p.chain},
	} {
		var corrupt *CorruptError
		if err := c.JumpToRecord(wrong.offset, wrong.seq, wrong.chain, 0); !errors.As(err, &corrupt) {
			t.Errorf("%s: %v", what, err)
		}
		if c.EndOffset() != HeaderSize || c.LastSeq() != 0 {
			t.Fatalf("%s: the position is %d, after change %d", what, c.EndOffset(), c.LastSeq())
		}
	}
	if err := c.JumpToRecord(p.offset, p.seq, p.chain, 0); err != nil {
		t.Fatal(err)
	}
	same(t, all(t, c), "4 four", "5 five", "6 six")
	add(t, c, "seven")
	same(t, all(t, a), "7 seven")

	// Damage before the position is not noticed, but damage after it is.
	damaged := image(t, fsys)
	damaged[places[0].offset+40] ^= 1
	d := open(t, fsWith(t, damaged))
	if err := d.JumpToRecord(p.offset, p.seq, p.chain, 0); err != nil {
		t.Fatal(err)
	}
	same(t, all(t, d), "4 four", "5 five", "6 six", "7 seven")
	damaged[places[4].offset+40] ^= 1
	d = open(t, fsWith(t, damaged))
	if err := d.JumpToRecord(p.offset, p.seq, p.chain, 0); err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if got, err := read(d); !errors.As(err, &corrupt) || len(got) != 1 {
		t.Errorf("read %q, %v; want one change, and the damage", got, err)
	}
}

func TestJumpToTheBase(t *testing.T) {
	fsys := vfs.NewMem()
	a := open(t, fsys)
	add(t, a, "one")
	add(t, a, "two")
	chain := a.LastChainHash()
	if err := a.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.Rewrite(2, chain, func(emit func(Record) error) error {
		return emit(Record{Seq: 2, TimeUnixNano: 1, Type: TypeBaseSection, Body: []byte("both"), ChainHash: chain})
	}); err != nil {
		t.Fatal(err)
	}
	a.Unlock()
	all(t, a)
	add(t, a, "three")
	b := open(t, fsys)
	for _, wrong := range []struct {
		seq   uint64
		chain [32]byte
	}{{1, chain}, {2, a.LastChainHash()}} {
		if b.JumpToRecord(0, wrong.seq, wrong.chain, 0) == nil {
			t.Error("a base that is another was believed")
		}
	}
	if err := b.JumpToRecord(HeaderSize, 2, chain, 0); err == nil {
		t.Error("a record of the base was taken for a change")
	}
	if err := b.JumpToRecord(0, 2, chain, 0); err != nil {
		t.Fatal(err)
	}
	same(t, all(t, b), "3 three")
	if open(t, vfs.NewMem()).JumpToRecord(0, 0, [32]byte{}, 0) == nil {
		t.Error("a log without a file has a base")
	}
}

// countingFile counts the bytes and the calls with which a file is read.
type countingFile struct {
	vfs.File
	bytesRead int64
	readCalls int
}

func (f *countingFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.File.ReadAt(p, off)
	f.bytesRead += int64(n)
	f.readCalls++
	return n, err
}

// TestReaderReadsLittle tests that a Reader reads large parts of the file only if the records follow one another.
func TestReaderReadsLittle(t *testing.T) {
	fsys := vfs.NewMem()
	a := open(t, fsys)
	const count, bodySize = 800, 3 * smallReadSize
	var bodies []string
	for i := range count {
		bodies = append(bodies, strings.Repeat(string(rune('a'+i%26)), bodySize))
	}
	add(t, a, bodies...)
	var offsets []int64
	b := open(t, fsys)
	if err := b.Read(func(r *Record) error {
		offsets = append(offsets, r.FileOffset)
		return nil
	}); err != nil || len(offsets) != count {
		t.Fatal(err, len(offsets))
	}
	size := int64(len(image(t, fsys)))
	for _, c := range []struct {
		name         string
		step         int // distance between two consecutive records that are read
		maxBytesRead int64
		maxReadCalls int
	}{
		// Each record is at least readChunkBytes away from the record before, so it is read alone: first its beginning,
		// then all of it.
		{"scattered records", 397, count * (bodySize + 2*smallReadSize), 2 * count},
		{"consecutive records", 1, size + size/10, int(size/readChunkBytes) + 10},
	} {
		f := &countingFile{File: b.file}
		b.file = f
		reader := b.NewReader()
		for i := range count {
			n := i * c.step % count
			r, err := reader.RecordAt(offsets[n])
			if err != nil || !bytes.Equal(r.Body, []byte(bodies[n])) {
				t.Fatalf("%s: record %d: %d bytes, %v", c.name, n, len(r.Body), err)
			}
		}
		b.file = f.File
		if f.bytesRead > c.maxBytesRead || f.readCalls > c.maxReadCalls {
			t.Errorf("%s: %d bytes in %d calls, want at most %d bytes in %d calls",
				c.name, f.bytesRead, f.readCalls, c.maxBytesRead, c.maxReadCalls)
		}
	}
}
