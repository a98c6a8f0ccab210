// A dump and a load keep a row for each entry in tables in memory. This file tests the size of the rows, and the
// functions that find a row.

package mdtree

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// TestRowsAreSmall checks the size of a row. A dump or a load of a million entries keeps a row for each entry, so that
// each additional byte costs a megabyte.
func TestRowsAreSmall(t *testing.T) {
	if size := unsafe.Sizeof(outputFile{}); size > 64 {
		t.Errorf("a row of a dump has %d bytes, the most is 64", size)
	}
	if size := unsafe.Sizeof(manifestRow{}); size > 56 {
		t.Errorf("a row of a manifest has %d bytes, the most is 56", size)
	}
}

func TestRowIndex(t *testing.T) {
	var rows []string
	x := newRowIndex(1000)
	for i := range 1000 {
		key := fmt.Sprint("key", i%900)
		other, isTaken := x.addRow(key, i, func(row int) bool { return rows[row] == key })
		if wantTaken := i >= 900; isTaken != wantTaken || (isTaken && other != i-900) {
			t.Errorf("add(%q) = %d, %v", key, other, isTaken)
		}
		rows = append(rows, key)
	}
	for i := range 1000 {
		key := fmt.Sprint("key", i)
		row, ok := x.findRow(key, func(row int) bool { return rows[row] == key })
		if ok != (i < 900) || (ok && row != i) {
			t.Errorf("find(%q) = %d, %v", key, row, ok)
		}
	}
	if _, ok := new(rowsByString).findRow("key", func(int) bool { return true }); ok {
		t.Error("an empty index finds a row")
	}
}

func TestNameTable(t *testing.T) {
	var names nameBlockAllocator
	var got, want []string
	for i := range 5000 {
		s := strings.Repeat(fmt.Sprint(i, " "), i%40)
		want = append(want, s)
		got = append(got, names.copyNameIntoBlock(s))
	}
	long := strings.Repeat("x", 2*nameBlockBytes)
	if !slices.Equal(got, want) || names.copyNameIntoBlock(long) != long {
		t.Error("the names differ from what was added")
	}
}

func TestCompareStems(t *testing.T) {
	stems := []string{"", "a", "a b", "a-", "a.", "a.m", "a.md", "a.md.md", "a.n", "a/", "ab", "a~2", "b", "日"}
	for _, a := range stems {
		for _, b := range stems {
			if got, want := compareFileStems(a, b), strings.Compare(a+".md", b+".md"); got != want {
				t.Errorf("compareStems(%q, %q) = %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestParseDigest(t *testing.T) {
	d := sha256Digest{1, 2, 0xab}
	for s, want := range map[string]sha256Digest{
		d.hexText(): d, "": {}, strings.ToUpper(d.hexText()): {}, d.hexText() + "0": {}, d.hexText()[1:] + "x": {},
	} {
		if got := parseDigest(s); got != want {
			t.Errorf("parseDigest(%q) = %x, want %x", s, got, want)
		}
	}
}
