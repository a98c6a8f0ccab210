// This file tests that damage to a snapshot is noticed, and that a snapshot needs little memory.

package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// smallSnapshot returns an index with a few documents, some of which were deleted, and its snapshot.
func smallSnapshot(t testing.TB) (*Index, []byte) {
	t.Helper()
	x := New(Params{})
	for i := range 20 {
		x.put(
			uint64(100-i),
			int64(i%3),
			Doc{
				Created: int64(i % 4),
				Terms: []Term{
					{Text: "common", Frequency: FrequencyPerOccurrence},
					{Text: fmt.Sprint("w", i%7), Frequency: uint16(i + 1)},
					{Text: fmt.Sprint("own", i), Frequency: 700},
				},
				WeightedLength: uint32(40 + i),
			},
		)
	}
	for i, dl := range []uint32{longDocLengthMark - 1, longDocLengthMark, unscoredLengthMark,
		unscoredDocumentLength - 1} {
		x.put(
			uint64(40+i),
			5,
			Doc{
				Created:        int64(i),
				Terms:          []Term{{Text: "common", Frequency: FrequencyPerOccurrence}},
				WeightedLength: dl,
			},
		)
	}
	x.put(30, 5, Doc{Created: 1})
	x.Delete(95)
	x.put(90, 9, DocumentOfWords(0, []string{"common", "again", "again"}))
	b, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	return x, b
}

var smallQueries = [][]string{{"common"}, {"w1", "w2", "own3"}, {"again", "common", "absent"}, {"own19"}}

func TestSnapshotAnswersAlike(t *testing.T) {
	x, b := smallSnapshot(t)
	y, err := OpenSnapshot(bytes.NewReader(b), int64(len(b)), Params{})
	if err != nil {
		t.Fatal(err)
	}
	if y.Len() != x.Len() {
		t.Errorf("Len = %d, want %d", y.Len(), x.Len())
	}
	for _, q := range smallQueries {
		if got, want := y.Search(ask(q, 10, nil)), x.Search(ask(q, 10, nil)); !slices.Equal(got, want) {
			t.Errorf("Search(%q) = %v, want %v", q, got, want)
		}
	}
	if again, err := y.AppendSnapshot(nil); err != nil || !bytes.Equal(again, b) {
		t.Errorf("the image of an image is another, %v", err)
	}
	if _, err := OpenSnapshot(bytes.NewReader(b), int64(len(b)), Params{B: 0.5}); !errors.Is(err, errDamagedSnapshot) {
		t.Errorf("opened with another b: %v", err)
	}
}

// Goroutines that search at the same time must find what each of them would find alone. The race detector checks their
// access to cached data.
func TestSnapshotTogether(t *testing.T) {
	x := New(Params{})
	for i, d := range zipfText(2000) {
		x.put(uint64(i), 0, DocumentOfWords(0, d))
	}
	b, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := OpenSnapshot(bytes.NewReader(b), int64(len(b)), Params{})
	if err != nil {
		t.Fatal(err)
	}
	terms := maps.Collect(x.TermsWithPrefix(""))
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			n := 0
			for term, df := range terms { // each goroutine uses a different order
				if got := y.DF(term); got != df {
					t.Errorf("DF(%q) = %d, want %d", term, got, df)
				}
				if got, want := y.Search(ask(
					[]string{term},
					3,
					nil,
				)), x.Search(ask([]string{term}, 3, nil)); !slices.Equal(got, want) {
					t.Errorf("Search(%q) = %v, want %v", term, got, want)
				}
				n++
				if n == 300+i {
					return
				}
			}
		})
	}
	all.Wait()
}

// Only the necessary data is read: a query with one rare term does not read the lists of other terms.
func TestSnapshotIsReadByNeed(t *testing.T) {
	x := New(Params{})
	for i, d := range zipfText(2000) {
		x.put(uint64(i), 0, DocumentOfWords(0, d))
	}
	b, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	r := &countingReader{Reader: bytes.NewReader(b)}
	y, err := OpenSnapshot(r, int64(len(b)), Params{})
	if err != nil {
		t.Fatal(err)
	}
	opened := r.n
	if want := 2*pagefile.PageSize + len(y.Searcher().views[0].snapshot.blocks)*(termBlockRowBytes+20) +
		1000; opened > want {
		t.Errorf("opening read %d bytes, want at most %d", opened, want)
	}
	rare := ""
	for term, df := range x.TermsWithPrefix("") {
		if df == 2 {
			rare = term
		}
	}
	if hits := y.Search(ask([]string{rare}, 10, nil)); len(hits) != 2 {
		t.Fatalf("%d hits, want 2", len(hits))
	}
	if got := r.n - opened; got > termsPerBlock*(termEntrySize+20)+50+2*pagefile.PageSize {
		t.Errorf("a query of one rare term read %d bytes", got)
	}
}

// TestTermsOfAPrefix tests that TermsWithPrefix returns the terms that begin with a prefix, and the number of documents
// of each. For a prefix with few terms, the snapshot's other terms must not be read, apart from those in the same
// blocks.
func TestTermsOfAPrefix(t *testing.T) {
	x := New(Params{})
	for i := range 3000 {
		x.put(uint64(i), 0, DocumentOfWords(0, []string{fmt.Sprintf("w%04d", i), fmt.Sprint("v", i%7), "w"}))
	}
	b, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, prefix := range []string{"w01", "w", "v", "v3", "u", "x", "w2999", "", "w0", "w064"} {
		r := &countingReader{Reader: bytes.NewReader(b)}
		y, err := OpenSnapshot(r, int64(len(b)), Params{})
		if err != nil {
			t.Fatal(err)
		}
		y.put(5000, 0, DocumentOfWords(0, []string{"w01", "later"}))
		y.Delete(1234)
		want := map[string]int{}
		for i := range 3000 {
			if i != 1234 {
				want[fmt.Sprintf("w%04d", i)]++
				want[fmt.Sprint("v", i%7)]++
				want["w"]++
			}
		}
		want["w01"], want["later"] = 1, 1
		maps.DeleteFunc(want, func(s string, _ int) bool { return !strings.HasPrefix(s, prefix) })
		before := r.n
		if got := maps.Collect(y.TermsWithPrefix(prefix)); !maps.Equal(got, want) {
			t.Errorf("%q: %d terms, want %d", prefix, len(got), len(want))
		}
		if read := r.n - before; prefix == "w064" && read > 3*termsPerBlock*(termEntrySize+20) {
			t.Errorf("%q: %d of %d bytes were read", prefix, read, len(b))
		}
		if y.Err() != nil {
			t.Fatal(y.Err())
		}
	}
}

// countingReader counts the bytes that are read after some offset.
type countingReader struct {
	*bytes.Reader
	from int64
	n    int
}

func (r *countingReader) ReadAt(b []byte, off int64) (int, error) {
	if off >= r.from {
		r.n += len(b)
	}
	return r.Reader.ReadAt(b, off)
}

// failingReader fails after a number of reads, like a file that was closed.
type failingReader struct {
	*bytes.Reader
	left int
}

func (r *failingReader) ReadAt(b []byte, off int64) (int, error) {
	r.left--
	if r.left < 0 {
		return 0, fs.ErrClosed
	}
	return r.Reader.ReadAt(b, off)
}

// If a snapshot can no longer be read, all methods that read the whole snapshot must return an error.
func TestSnapshotFailsMeanwhile(t *testing.T) {
	x := New(Params{})
	for i, d := range zipfText(100) {
		x.put(uint64(i), 0, DocumentOfWords(0, d))
	}
	b, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, read := range map[string]func(y *Index) error{
		"AppendSnapshot": func(y *Index) error { _, err := y.AppendSnapshot(nil); return err },
		"Compact":        func(y *Index) error { return y.Compact().Err() },
		"merge":          func(y *Index) error { now := y.Searcher(); now.mergeViews(now.views); return now.Err() },
		"Apply": func(y *Index) error {
			for i := range 2 * maxMemtableDocs { // enough documents that memtables become segments
				y.put(uint64(1000+i), 1, DocumentOfWords(0, []string{"fresh"}))
			}
			var deletions []Change
			for i := range minDeletedDocs + 1 { // enough deletions that the snapshot is merged
				deletions = append(deletions, Change{ID: uint64(i)})
			}
			y.Apply(deletions...)
			y.WaitForMerges()
			return y.Err()
		},
	} {
		failed := 0
		for reads, done := 0, false; !done; reads += 1 + reads/16 {
			r := &failingReader{Reader: bytes.NewReader(b), left: math.MaxInt}
			y, err := OpenSnapshot(r, int64(len(b)), Params{})
			if err != nil {
				t.Fatal(err)
			}
			y.put(7, 1, DocumentOfWords(0, []string{"fresh", "words"}))
			r.left = reads
			if err := read(y); err == nil {
				done, r.left = true, math.MaxInt
				checkInside(t, y)
			} else {
				failed++
				if !errors.Is(err, fs.ErrClosed) {
					t.Fatalf("%s after %d reads: %v", name, reads, err)
				}
			}
		}
		if failed < 3 {
			t.Errorf("%s failed %d times, and reads all", name, failed)
		}
	}
}

// A changed byte must cause an error or must not be read. It must never change a result.
func TestSnapshotDamageShows(t *testing.T) {
	x, b := smallSnapshot(t)
	terms, step := len(b)/pagefile.PageSize*pagefile.PageSize, testenv.RepeatCount(5, 1)
	for i := range b {
		if i < terms && i%step != 0 {
			continue // skip most bytes of the pages, which are mostly zeros
		}
		bad := slices.Clone(b)
		bad[i] ^= 1 << (i % 8)
		y, err := OpenSnapshot(bytes.NewReader(bad), int64(len(bad)), Params{})
		if err != nil {
			continue
		}
		for _, q := range smallQueries {
			got := y.Search(ask(q, 10, nil))
			if y.Err() == nil && !slices.Equal(got, x.Search(ask(q, 10, nil))) {
				t.Fatalf("byte %d changed: Search(%q) = %v", i, q, got)
			}
		}
		recent := Query{
			Terms:        TermsForWords([]string{"common"}),
			Limit:        30,
			CreatedRange: &TimeRange{FirstTime: 1, LastTime: 2},
		}
		if got := y.Search(recent); y.Err() == nil && !slices.Equal(got, x.Search(recent)) {
			t.Fatalf("byte %d changed: by time %v", i, got)
		}
		if got := y.Newest(recent); y.Err() == nil && !slices.Equal(got, x.Newest(recent)) {
			t.Fatalf("byte %d changed: the newest are %v", i, got)
		}
		if y.Searcher().CheckSnapshot() == nil {
			t.Fatalf("byte %d changed, and all was read without an error", i)
		}
	}
	for n := 0; n < len(b); n += testenv.RepeatCount(7, 1) {
		if _, err := OpenSnapshot(bytes.NewReader(b[:n]), int64(n), Params{}); err == nil {
			t.Fatalf("opened the first %d bytes of %d", n, len(b))
		}
	}
}

// FuzzSnapshot passes arbitrary bytes with valid checksums to the decoder. It must not panic, and must not use more
// memory than the size of the snapshot justifies.
func FuzzSnapshot(f *testing.F) {
	_, b := smallSnapshot(f)
	f.Add(b)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		b = slices.Clone(b)
		resum(b)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		x, err := OpenSnapshot(bytes.NewReader(b), int64(len(b)), Params{})
		if err == nil {
			_ = x.Searcher().CheckSnapshot()
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16*uint64(len(b))+1<<20 {
			t.Fatalf("%d bytes took %d of memory", len(b), used)
		}
		if err != nil {
			return
		}
		for _, q := range smallQueries {
			x.Search(ask(q, 10, nil))
		}
		x.Searcher().EachTermText(t.Context(), needsAnyTerm, func([]byte, int) bool { return true })
		x.Delete(100)
		x.put(99, 0, DocumentOfWords(0, smallQueries[1]))
		x.Search(ask(smallQueries[1], 10, nil))
	})
}

func needsAnyTerm([]byte, *text.LetterPairSet) bool { return true }

// The texts of the terms are stored twice. A check must notice if they differ, although all checksums are valid.
func TestTermTextsAreCompared(t *testing.T) {
	_, sound := smallSnapshot(t)
	open := func(b []byte) *Searcher {
		t.Helper()
		resum(b)
		x, err := OpenSnapshot(bytes.NewReader(b), int64(len(b)), Params{})
		if err != nil {
			t.Fatal(err)
		}
		return x.Searcher()
	}
	x := open(slices.Clone(sound))
	if err := x.CheckSnapshot(); err != nil {
		t.Fatal(err)
	}
	batch := x.views[0].snapshot.textBatches[0]
	for i := range int(batch.size) {
		bad := slices.Clone(sound)
		bad[int(batch.offset)+i] ^= 1
		x := open(bad)
		x.EachTermText(t.Context(), needsAnyTerm, func([]byte, int) bool { return true })
		if x.CheckSnapshot() == nil {
			t.Errorf("byte %d of %d of the texts changed, and no check notices it", i, batch.size)
		}
	}
}

// TestEachTermText compares the texts with the terms of the index, for several batches and long texts.
func TestEachTermText(t *testing.T) {
	x := New(Params{})
	want := map[string]bool{}
	for i := range 2000 {
		words := []string{fmt.Sprint("word", i), strings.Repeat("long", 30) + fmt.Sprint(i)}
		if i%100 == 0 {
			words = append(words, strings.Repeat(fmt.Sprint(i, "longer"), 3000))
		}
		for _, w := range words {
			want[w] = true
		}
		x.put(uint64(i), 0, DocumentOfWords(0, words))
	}
	b, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	y, err := OpenSnapshot(bytes.NewReader(b), int64(len(b)), Params{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(y.Searcher().views[0].snapshot.textBatches); n < 2 {
		t.Fatalf("%d batches", n)
	}
	for _, x := range []*Index{x, y} {
		got := map[string]bool{}
		previous, shared := "", 0
		x.Searcher().EachTermText(t.Context(), needsAnyTerm, func(text []byte, sharedBytes int) bool {
			if got[string(text)] || string(text[:sharedBytes]) != previous[:sharedBytes] {
				t.Fatalf("%.50q after %.50q, %d bytes shared", text, previous, sharedBytes)
			}
			previous = string(text)
			got[previous] = true
			shared += sharedBytes
			return true
		})
		if !maps.Equal(got, want) {
			t.Errorf("%d texts, want %d", len(got), len(want))
		}
		if x == y && shared == 0 {
			t.Error("no text shares bytes with the previous one")
		}
		n := 0
		x.Searcher().EachTermText(t.Context(), needsAnyTerm, func([]byte, int) bool { n++; return n < 70 })
		if n != 70 {
			t.Errorf("%d texts, although the function returned false for text 70", n)
		}
	}
	var read int
	y.Searcher().EachTermText(
		t.Context(),
		func(prefix []byte, pairs *text.LetterPairSet) bool { return strings.HasPrefix(string(prefix), "word") },
		func(text []byte, _ int) bool {
			read++
			if !strings.HasPrefix(string(text), "word") {
				t.Errorf("%.50q is not skipped", text)
			}
			return true
		},
	)
	if read < 1500 {
		t.Errorf("%d texts that begin with word", read)
	}
	if err := y.Searcher().CheckSnapshot(); err != nil {
		t.Fatal(err)
	}
}

// resum corrects the checksums in b, a snapshot whose other bytes may be damaged. Without valid checksums, a test with
// random bytes would only reach the check of the checksums. If b is too short for a snapshot, resum changes nothing. It
// skips the parts whose position or size does not fit into b.
func resum(b []byte) {
	le := binary.LittleEndian
	if len(b) < pagefile.PageSize+footerSize {
		return
	}
	h := docsHeader{docCount: int(le.Uint32(b)), longDocLengthCount: int(le.Uint32(b[4:]))}
	head := pagefile.PageChecksum(b[:pagefile.PageDataBytes], 0, 0)
	for n := range pagefile.CountPages(h.tableSizes()) {
		if from := n * pagefile.PageSize; from+pagefile.PageSize <= len(b) {
			le.PutUint32(
				b[from+pagefile.PageDataBytes:],
				pagefile.PageChecksum(b[from:from+pagefile.PageDataBytes], n, head),
			)
		}
	}
	f := b[len(b)-footerSize:]
	le.PutUint64(f[16:], uint64(len(b)))
	le.PutUint32(f[24:], head)
	le.PutUint32(f[28:], crc32.Checksum(f[:28], castagnoli))
	b = b[:len(b)-footerSize]
	at, blocks := int(min(le.Uint64(f[8:]), uint64(len(b)))), int(min(le.Uint32(f[4:]), 1<<20))
	batches := at + blocks*termBlockRowBytes // offset of the table of batches, without the lengths of the first terms
	for i := range blocks {
		if at+(i+1)*termBlockRowBytes > len(b) {
			break
		}
		e := b[at+i*termBlockRowBytes:]
		batches += int(le.Uint32(e[20:]))
		lists := int(min(le.Uint64(e), uint64(len(b))))
		size := int(le.Uint32(e[8:]))
		rest := int(le.Uint32(e[12:]))
		if lists+size+rest > len(b) {
			continue
		}
		entries := b[lists+size : lists+size+rest]
		for from, j := lists, 0; (j+1)*termEntrySize <= len(entries) && j < termsPerBlock; j++ {
			n := int(le.Uint32(entries[j*termEntrySize+8:]))
			if from+n > lists+size {
				break
			}
			le.PutUint32(entries[j*termEntrySize+12:], crc32.Checksum(b[from:from+n], castagnoli))
			from += n
		}
		le.PutUint32(e[16:], crc32.Checksum(entries, castagnoli))
	}
	for ; batches+textBatchRowBytes <= len(b)-4; batches += textBatchRowBytes {
		offset, size := int(min(le.Uint64(b[batches:]), uint64(len(b)))), int(le.Uint32(b[batches+8:]))
		if offset+size <= len(b) {
			le.PutUint32(b[batches+12:], crc32.Checksum(b[offset:offset+size], castagnoli))
		}
	}
	if at+4 <= len(b) {
		le.PutUint32(b[len(b)-4:], crc32.Checksum(b[at:len(b)-4], castagnoli))
	}
}

// TestOldDocumentsSpareReading tests the removal of documents from a snapshot. If a Change contains the old document in
// its field Old, the snapshot's document lists must not be read. If the field is empty or has the wrong length, the
// lists must be read. The results of searches must be the same in both cases.
func TestOldDocumentsSpareReading(t *testing.T) {
	testenv.SkipInShortMode(t)
	x := New(Params{})
	old := func(i int, d []string) *Document {
		o := DocumentOfWords(0, d)
		o.ID = uint64(i)
		return &o
	}
	texts := zipfText(2000)
	for i, d := range texts {
		x.put(uint64(i), 0, DocumentOfWords(0, d))
	}
	b, err := x.AppendSnapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	put := DocumentOfWords(0, []string{"fresh"})
	put.ID = 77
	wrong := old(5, texts[5])
	wrong.WeightedLength += FrequencyPerOccurrence
	removals := func(known bool) []Change {
		cs := []Change{{ID: 3}, {ID: 77, Document: &put}, {ID: 1999}}
		for i := range cs {
			if known {
				cs[i].Old = old(int(cs[i].ID), texts[cs[i].ID])
			}
		}
		return cs
	}
	for _, c := range []struct {
		name    string
		changes []Change
		reads   bool
	}{
		{"known", removals(true), false},
		{"unknown", removals(false), true},
		{"of another length", append(removals(true), Change{ID: 5, Old: wrong}), true},
	} {
		r := &countingReader{Reader: bytes.NewReader(b)}
		y, err := OpenSnapshot(r, int64(len(b)), Params{})
		if err != nil {
			t.Fatal(err)
		}
		opened := r.n
		r.from = y.Searcher().views[0].snapshot.blocks[0].listsOffset
		y.Apply(c.changes...)
		if got := r.n - opened; c.reads != (got > 0) {
			t.Errorf("%s: %d bytes were read", c.name, got)
		}
		checkInside(t, y)
		want := New(Params{})
		for i, d := range texts {
			if !slices.ContainsFunc(c.changes, func(c Change) bool { return c.ID == uint64(i) }) {
				want.put(uint64(i), 0, DocumentOfWords(0, d))
			}
		}
		want.Put(put)
		if !maps.Equal(maps.Collect(y.TermsWithPrefix("")), maps.Collect(want.TermsWithPrefix(""))) {
			t.Errorf("%s: the terms are not those of an index that never had the documents", c.name)
		}
		for _, q := range append(smallQueries, texts[3][:2]) {
			if got, want := y.Search(ask(q, 10, nil)), want.Search(ask(q, 10, nil)); !slices.Equal(got, want) {
				t.Errorf("%s: Search(%q) = %v, want %v", c.name, q, got, want)
			}
		}
	}
}
