// This file tests which files are recognized as logs although their header is damaged.

package wal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"testing"

	"github.com/oxbow-memory/oxbow/vfs"
)

// countingReader counts the bytes that are read through it.
type countingReader struct {
	io.ReaderAt
	n int64
}

func (c *countingReader) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, off)
	c.n += int64(n)
	return n, err
}

func TestGuessReadsLittle(t *testing.T) {
	mark := func(body int) []byte {
		b := make([]byte, prefixSize)
		copy(b, recordMagic[:])
		binary.LittleEndian.PutUint32(b[4:], uint32(body))
		b[32] = 1
		return b
	}
	for _, size := range []int{1 << 18, 1 << 19} {
		file := make([]byte, HeaderSize, size)
		for len(file)+prefixSize <= size {
			m := mark(max(0, (size-len(file))/2-RecordOverhead))
			// the seed of each record differs, so guessHeader finds no pair of records
			binary.LittleEndian.PutUint32(m[8:], uint32(len(file)))
			file = append(file, m...)
		}
		r := &countingReader{ReaderAt: bytes.NewReader(file)}
		if _, _, err := guessHeader(r, int64(len(file)), nil); !errors.Is(err, ErrNotLog) {
			t.Errorf("guessHeader = %v, want ErrNotLog", err)
		}
		if most := int64(len(file)) * (maxGuessReadsPerByte + 3); r.n > most {
			t.Errorf("of a file of %d bytes it reads %d, want at most %d", len(file), r.n, most)
		}
	}
}

func TestOtherFiles(t *testing.T) {
	l := open(t, vfs.NewMem())
	add(t, l, "one")
	img := image(t, l.fs)
	newer := append([]byte{}, img...)
	newer[8] = 2
	wrong := append([]byte{}, newer...)
	binary.LittleEndian.PutUint32(newer[92:], crc32.Checksum(newer[:92], crcTable))
	headless := append([]byte{}, img...)
	headless[0] = 0
	for name, tc := range map[string]struct {
		b    []byte
		want func(error) bool
	}{
		"empty": {nil, func(err error) bool { return errors.Is(err, ErrNotLog) }},
		"text":  {[]byte("# Memory\n"), func(err error) bool { return errors.Is(err, ErrNotLog) }},
		"newer": {newer, func(err error) bool { var v *VersionError; return errors.As(err, &v) && v.Version == 2 }},
		"wrong": {wrong, func(err error) bool { var c *CorruptError; return errors.As(err, &c) && c.Offset == 8 }},
		"magic": {headless, func(err error) bool { var c *CorruptError; return errors.As(err, &c) && c.Offset == 0 }},
		"short": {img[:50], func(err error) bool { var c *CorruptError; return errors.As(err, &c) }},
	} {
		if _, err := Open(fsWith(t, tc.b), "m.oxbow", testOptions()); !tc.want(err) {
			t.Errorf("%s: Open() = %v", name, err)
		}
	}
	m := vfs.NewMem()
	if err := m.MkdirAll("m.oxbow", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(m, "m.oxbow", testOptions()); err == nil {
		t.Error("a directory was opened as a log")
	}
}
