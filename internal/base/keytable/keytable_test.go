// This file tests that a text is found by each of its keys, and that damage to a file is noticed.

package keytable

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/vfs"
)

var testHead = FileHeader{KeyRulesVersion: 3, UnicodeVersion: "15.0.0", TextCountAtRebuild: 7,
	Position: logpos.Position{LogID: [16]byte{1}, Seq: 2, FileOffset: 3, ChainHash: [32]byte{4}}}

const testName = "table"

// writeTable writes a key table and opens the file.
func writeTable(t *testing.T, disk vfs.FS, old *File, texts []TextRow, runs [][]uint64) *File {
	t.Helper()
	file, temp, err := vfs.CreateTemp(disk, testName, 0o600)
	if err == nil {
		err = WriteTable(file, testHead, old, texts, runs)
	}
	if err == nil {
		err = errors.Join(file.Close(), disk.Rename(temp, testName))
	}
	if err != nil {
		t.Fatal(err)
	}
	return openTable(t, disk)
}

func openTable(t *testing.T, disk vfs.FS) *File {
	t.Helper()
	file, err := disk.OpenFile(testName, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// randomRuns returns three sorted runs of random rows. Each row pairs a key with a text number from first to
// first+texts-1. The function also adds each row to the map wanted, which lists the text numbers of each key. Some keys
// have thousands of texts.
func randomRuns(rng *rand.Rand, first, texts, rows int, wanted map[uint64][]int) [][]uint64 {
	runs := make([][]uint64, 3)
	for range rows {
		key := rng.Uint64() >> textNumberBits << textNumberBits
		switch rng.IntN(4) {
		case 0:
			key = uint64(rng.IntN(3)) << textNumberBits // a few keys get many texts, so the keys are not spread evenly
		case 1:
			key = (1<<40 - 1 - uint64(rng.IntN(3))) << textNumberBits
		}
		number := first + rng.IntN(texts)
		if slices.Contains(wanted[key], number) {
			continue
		}
		wanted[key] = append(wanted[key], number)
		i := rng.IntN(len(runs))
		runs[i] = append(runs[i], PackKeyRow(key, number))
	}
	for _, run := range runs {
		slices.Sort(run)
	}
	return runs
}

func TestTable(t *testing.T) {
	for _, size := range []int{0, 1, 600, 30_000} {
		rng := rand.New(rand.NewPCG(uint64(size), 1))
		disk := vfs.NewMem()
		wanted := map[uint64][]int{}
		var f *File
		var texts []TextRow
		for range 2 { // The second round extends the table of the first round.
			var added []TextRow
			for range 1 + size/4 {
				added = append(added, TextRow{rng.Uint64(), rng.Uint64()})
			}
			runs := randomRuns(rng, len(texts), len(added), size, wanted)
			f = writeTable(t, disk, f, added, runs)
			texts = append(texts, added...)
		}
		head := testHead
		head.TextCount, head.KeyRowCount = len(texts), f.Head.KeyRowCount
		if f.Head != head {
			t.Errorf("the head is %+v, want %+v", f.Head, head)
		}
		keys := []uint64{0, 5 << textNumberBits, 1 << 63, (1<<40 - 1) << textNumberBits}
		for key := range wanted {
			keys = append(keys, key, key+1<<textNumberBits)
		}
		for _, key := range keys {
			var got []int
			f.EachTextWithKey(key+uint64(rng.IntN(MaxTexts)), func(n int) { got = append(got, n) })
			slices.Sort(wanted[key])
			if !slices.Equal(got, wanted[key]) {
				t.Fatalf("of %d texts, %d have the key %x, want %d", len(texts), len(got), key, len(wanted[key]))
			}
		}
		i := 0
		err := f.EachText(func(text TextRow) {
			if text != texts[i] || f.TextAt(i) != text {
				t.Fatalf("text %d is %v and %v, want %v", i, text, f.TextAt(i), texts[i])
			}
			i++
		})
		if err != nil || i != len(texts) || f.Err() != nil {
			t.Errorf("the table has %d texts, want %d; errors %v, %v", i, len(texts), err, f.Err())
		}
	}
}

// TestSortRows compares the result of SortRows with that of package slices.
func TestSortRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for _, count := range []int{0, 1, 500, 1024, 50_000} {
		var rows []uint64
		for i := range count {
			key := rng.Uint64()
			if i%3 == 0 {
				key %= 1 << (textNumberBits + 9) // few different keys, so that many texts have the same key
			}
			rows = append(rows, PackKeyRow(key, i/4))
		}
		want := slices.Sorted(slices.Values(rows))
		if got := SortRows(rows); !slices.Equal(got, want) {
			t.Errorf("%d rows are not in order", count)
		}
	}
}

func TestRowsInMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	wanted := map[uint64][]int{}
	rows := MergeRowLists(randomRuns(rng, 0, 100, 5000, wanted))
	if !slices.IsSorted(rows) {
		t.Error("the merged rows are not in order")
	}
	for key, numbers := range wanted {
		var got []int
		EachTextInRows(rows, key, func(n int) { got = append(got, n) })
		slices.Sort(numbers)
		if !slices.Equal(got, numbers) {
			t.Fatalf("texts with the key %x: %v, want %v", key, got, numbers)
		}
	}
}

// TestSearchReadsFewPages tests that finding a key in a file with 300,000 rows reads at most 5 pages on average.
func TestSearchReadsFewPages(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	rows := make([]uint64, 300_000)
	for i := range rows {
		rows[i] = PackKeyRow(rng.Uint64(), 0)
	}
	slices.Sort(rows)
	disk := vfs.NewMem()
	writeTable(t, disk, nil, []TextRow{{}}, [][]uint64{rows})
	pages := 0
	const searches = 200
	for range searches {
		file, err := disk.OpenFile(testName, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(&countingFile{file, &pages})
		if err != nil {
			t.Fatal(err)
		}
		f.EachTextWithKey(rows[rng.IntN(len(rows))], func(int) {})
		_ = f.Close()
	}
	if most := 5 * searches; pages > most { // the limit includes page 0
		t.Errorf("%d searches read %d pages, want at most %d", searches, pages, most)
	}
}

type countingFile struct {
	vfs.File
	pages *int
}

func (f *countingFile) ReadAt(b []byte, at int64) (int, error) {
	*f.pages += len(b) / pagefile.PageSize
	return f.File.ReadAt(b, at)
}

// TestCheck damages a table in many ways and checks that CheckFile notices each change.
func TestCheck(t *testing.T) {
	disk := vfs.NewMem()
	runs := randomRuns(rand.New(rand.NewPCG(7, 1)), 0, 300, 3000, map[uint64][]int{})
	writeTable(t, disk, nil, make([]TextRow, 300), runs)
	sound, err := vfs.ReadFile(disk, testName, -1)
	if err != nil {
		t.Fatal(err)
	}
	check := func(b []byte) error { return CheckFile(bytes.NewReader(b), int64(len(b))) }
	if err := check(sound); err != nil {
		t.Error(err)
	}
	for i := 0; i < len(sound); i += 101 {
		b := bytes.Clone(sound)
		b[i] ^= 4
		if check(b) == nil {
			t.Errorf("a changed byte %d was not noticed", i)
		}
	}
	for _, b := range [][]byte{nil, sound[:100], sound[:len(sound)-1], append(bytes.Clone(sound), 0)} {
		if check(b) == nil {
			t.Errorf("a file of %d bytes instead of %d was not noticed", len(b), len(sound))
		}
	}
	for what, rows := range map[string][]uint64{
		"descending rows": {PackKeyRow(2<<30, 0), PackKeyRow(1<<30, 0)},
		"a missing text":  {1},
	} {
		f := writeTable(t, disk, nil, []TextRow{{}}, [][]uint64{rows})
		b, err := io.ReadAll(io.NewSectionReader(f.file, 0, 1<<20))
		if err != nil || check(b) == nil {
			t.Errorf("%s were not noticed: %v", what, err)
		}
	}
}
