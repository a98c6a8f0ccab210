// This file tests that tables are read as they were written, and that damage is detected.

package pagefile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"
)

// tables returns the tables of the test file: a table whose rows do not fill a page exactly, an empty table, plain
// bytes, and a table with small rows.
func tables(rows int) []TableSize {
	return []TableSize{{24, rows}, {16, 0}, {1, 3*rows + 1}, {4, rows}}
}

func text(rows int) []byte { return bytes.Repeat([]byte("abc"), rows+1)[:3*rows+1] }

func write(rows int) []byte {
	var b bytes.Buffer
	w := NewWriter(&b)
	w.Write([]byte("head"))
	w.FinishPage()
	for i := range uint64(rows) {
		w.AppendRow(2*i, i, i*i)
	}
	w.FinishPage()
	w.FinishPage() // The second table is empty.
	w.Write(text(rows))
	w.FinishPage()
	for i := range rows {
		w.AppendUint32Row(uint32(i))
	}
	w.FinishPage()
	return b.Bytes()
}

func open(b []byte, rows int) (*Reader, error) {
	return Open(bytes.NewReader(b), func([]byte) ([]TableSize, error) { return tables(rows), nil })
}

func TestRoundTrip(t *testing.T) {
	for _, rows := range []int{0, 1, 170, 171, 1000, 100_000} {
		b := write(rows)
		if len(b) != CountPages(tables(rows))*PageSize {
			t.Fatalf("%d rows are %d bytes, want %d pages", rows, len(b), CountPages(tables(rows)))
		}
		r, err := open(b, rows)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			row := r.Row(0, i)
			if r.RowKey(0, i) != 2*uint64(i) || binary.LittleEndian.Uint64(row[16:]) != uint64(i*i) ||
				binary.LittleEndian.Uint32(r.Row(3, i)) != uint32(i) {
				t.Fatalf("row %d of %d: %v", i, rows, row)
			}
		}
		for key := range min(400, 2*rows+2) {
			if got, want := r.SearchKey(0, uint64(key)), min(rows, (key+1)/2); got != want {
				t.Fatalf("%d is at row %d of %d, want %d", key, got, rows, want)
			}
		}
		next := uint64(0)
		err = r.EachTablePage(0, func(b []byte) {
			for ; len(b) > 0; b = b[24:] {
				if binary.LittleEndian.Uint64(b) != 2*next || binary.LittleEndian.Uint64(b[8:]) != next {
					t.Fatalf("row %d of %d: %v", next, rows, b[:24])
				}
				next++
			}
		})
		if err != nil || next != uint64(rows) {
			t.Fatalf("%d rows of %d, %v", next, rows, err)
		}
		if r.SearchKey(1, 7) != 0 || !bytes.Equal(r.TableBytes(2), text(rows)) || r.Err() != nil {
			t.Fatalf("%d rows: %v", rows, r.Err())
		}
	}
}

// TestDamage checks that a page is refused if it was changed or truncated, or if it belongs to another position or
// another file.
func TestDamage(t *testing.T) {
	const rows = 1000
	sound := write(rows)
	readAll := func(b []byte) error {
		r, err := open(b, rows)
		if err != nil {
			return err
		}
		for i := range tables(rows) {
			r.LoadTable(i)
		}
		return r.Err()
	}
	if err := readAll(sound); err != nil {
		t.Fatal(err)
	}
	try := func(what string, n int, b []byte) {
		if err := readAll(b); !errors.Is(err, errDamaged) {
			t.Errorf("page %d %s: %v", n, what, err)
		}
	}
	for n := range len(sound) / PageSize {
		for _, at := range []int{0, PageDataBytes - 1, PageDataBytes, PageSize - 1} {
			b := bytes.Clone(sound)
			b[n*PageSize+at] ^= 1
			try("changed", n, b)
		}
		try("cut off", n, sound[:n*PageSize+PageSize/2])
		if n > 0 {
			b := bytes.Clone(sound)
			copy(b[n*PageSize:], sound[(n-1)*PageSize:n*PageSize])
			try("twice", n, b)
		}
	}
	b := bytes.Clone(sound)
	copy(b, "HEAD")
	binary.LittleEndian.PutUint32(b[PageDataBytes:], PageChecksum(b[:PageDataBytes], 0, 0))
	try("of a file with another head", 1, b)
}

// TestFind checks that FindKey finds keys with and without gaps between them. If the keys are evenly spaced, it must
// need few reads.
func TestFind(t *testing.T) {
	even := make([]uint64, 1000)
	gaps := make([]uint64, 1000)
	ends := make([]uint64, 1000)
	for i := range uint64(1000) {
		even[i] = 7 + i
		gaps[i] = i * i * i
		ends[i] = i
	}
	ends[999] = math.MaxUint64
	for _, keys := range [][]uint64{even, gaps, ends, {5}, nil} {
		looks := 0
		at := func(i int) uint64 { looks++; return keys[i] }
		for i, key := range keys {
			if got, ok := FindKey(len(keys), key, at); !ok || got != i {
				t.Fatalf("%d is at %d, %t, want %d", key, got, ok, i)
			}
			if _, ok := FindKey(len(keys), key+1, at); ok != slices.Contains(keys, key+1) {
				t.Fatalf("%d is found: %t", key+1, ok)
			}
		}
		if most := 7 * len(even); len(keys) > 0 && keys[0] == 7 && looks > most {
			t.Errorf("%d looks, want at most %d", looks, most)
		}
	}
}

// TestUnreadableIsZeros checks that a page which cannot be read is returned as zeros, without a panic.
func TestUnreadableIsZeros(t *testing.T) {
	b := write(1000)
	b[2*PageSize] ^= 1
	r, err := open(b, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if row := r.Row(0, 171); !bytes.Equal(row, make([]byte, 24)) || !errors.Is(r.Err(), errDamaged) {
		t.Errorf("an unreadable row is %v, %v", row, r.Err())
	}
	if err := r.EachTablePage(0, func([]byte) {}); !errors.Is(err, errDamaged) {
		t.Errorf("a table with an unreadable page: %v", err)
	}
	if r.RowKey(0, 3) != 6 {
		t.Error("a sound page is not read")
	}
}
