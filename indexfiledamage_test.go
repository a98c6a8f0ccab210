// This file tests damaged index files. Whatever bytes an index file contains, it must be refused, or must not change
// any answer.

package oxbow

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// sealHead corrects the checksum of an index file's header, whose other bytes a test has changed. It writes the CRC-32C
// of the first 124 bytes of b to the 4 bytes after them.
func sealHead(b []byte) {
	binary.LittleEndian.PutUint32(b[124:], crc32.Checksum(b[:124], indexCRCTable))
}

// sealIndex recomputes the checksums in the bytes b of an index file, so that they are valid after a test has changed
// b. It updates the checksum of the file's head and the checksums of the pages that contain entries.
func sealIndex(b []byte) {
	sealHead(b)
	head := uint32(0)
	for n := 0; (n+1)*pagefile.PageSize <= len(b) &&
		n <= int(min(binary.LittleEndian.Uint64(b[88:]), uint64(len(b)))+169)/170; n++ {
		p := b[n*pagefile.PageSize:][:pagefile.PageSize]
		sum := pagefile.PageChecksum(p[:pagefile.PageDataBytes], n, head)
		binary.LittleEndian.PutUint32(p[pagefile.PageDataBytes:], sum)
		if n == 0 {
			head = sum
		}
	}
}

// TestIndexFlipped damages an index file: it flips a bit in a byte, or cuts the file at that byte. With each damaged
// file, openIndexFile must fail, or reading the file must fail, or the file must still have the same content. In short
// runs the test skips some bytes.
func TestIndexFlipped(t *testing.T) {
	testenv.SkipInShortMode(t)
	h := newIndexHome(t, 264)
	sound := h.file()
	m := h.open(&Options{ReadOnly: true})
	defer m.Close()
	d := m.Store().(*logstore.DB)
	read := func() (all []byte) {
		s, err := openIndexFile(d, RankOxbow)
		if err != nil {
			return nil
		}
		defer s.close()
		f, err := h.fs.OpenFile("image", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		size, err := s.index.Searcher().WriteSnapshot(f, 0)
		if err != nil {
			return nil
		}
		all = make([]byte, size)
		if _, err := f.ReadAt(all, 0); err != nil && err != io.EOF {
			t.Fatal(err)
		}
		le := binary.LittleEndian
		_, err = s.rows.forEach(func(id, version uint64) bool {
			i, _ := s.rows.find(id)
			all = le.AppendUint64(le.AppendUint64(le.AppendUint64(all, id), version), uint64(s.rows.logOffset(i)))
			return true
		})
		if err != nil || s.rows.err() != nil {
			return nil
		}
		return all
	}
	want := read()
	if want == nil {
		t.Fatal("the sound file cannot be read")
	}
	refused := 0
	try := func(b []byte, what string, at int) {
		h.put(b)
		switch got := read(); {
		case got == nil:
			refused++
		case !bytes.Equal(got, want):
			t.Fatalf("%s at byte %d: the file reads, and says something else", what, at)
		}
	}
	step := testenv.RepeatCount(5, 1)
	for i := 0; i < len(sound); i += step {
		b := bytes.Clone(sound)
		b[i] ^= 1 << (i % 8)
		try(b, "a bit turned over", i)
		try(bytes.Clone(sound[:i]), "cut", i)
		// With some of the damaged files, also run a query and compare its hits.
		if i%(211*step) == 0 {
			h.put(b)
			h.sampled(i)
		}
	}
	if refused < len(sound)/step {
		t.Errorf("only %d files were refused; those that are cut all are to be", refused)
	}
}

// TestIndexPageDamaged damages each page of an index file in turn. The damage may be noticed only if a query reads the
// page after the index was opened. Each query must then return the same entries as with a rebuilt index. If the memory
// is changed, nothing that was read from the damaged page may be written to a file.
func TestIndexPageDamaged(t *testing.T) {
	testenv.SkipInShortMode(t)
	h := newIndexHome(t, 600)
	sound := h.file()
	head, _, err := readIndexFileHeader(mustOpen(t, h.fs, indexTestFile))
	if err != nil {
		t.Fatal(err)
	}
	span := func(from, to int64) Query {
		return Query{
			Text:   "harbor silver",
			Limit:  20,
			Filter: Filter{After: time.Unix(1776162225+from, 0), Before: time.Unix(1776162225+to, 0)},
		}
	}
	questions := []Query{
		{Text: "harbor silver w7", Limit: 20},
		{Text: "silver", Limit: 20, Recency: time.Hour},
		span(10, 300),
		span(170, 180),
		{Limit: 20, Filter: Filter{After: time.Unix(1776162225+100, 0)}},
		{Text: "harbor w9", Rank: RankSeed, Limit: 20},
	}
	answer := func(m *Memory, q Query) string {
		hits, err := m.Recall(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(names(hits))
	}
	plain := h.open(&Options{ReadOnly: true})
	defer plain.Close()
	plain.ignoresIndexFile = true
	var want []string
	for _, q := range questions {
		want = append(want, answer(plain, q))
	}
	pages := int(head.snapshotOffset())/pagefile.PageSize + pagefile.CountPages([]pagefile.TableSize{
		{RowSize: 24, RowCount: 600},
		{RowSize: 2, RowCount: 600},
		{RowSize: 8, RowCount: 0},
		{RowSize: 16, RowCount: 10},
	})
	opened, found := 0, 0
	for n := range pages {
		b := bytes.Clone(sound)
		b[n*pagefile.PageSize+100] ^= 1
		seen := false
		for i, q := range questions {
			h.put(b)
			m := h.open(&Options{ReadOnly: true})
			saved := m.openSavedIndex(RankOxbow)
			if saved != nil {
				opened++
				saved.close()
			}
			if got := answer(m, q); got != want[i] {
				t.Errorf("page %d, question %d: %s\nwant %s", n, i, got, want[i])
			}
			seen = seen || m.ignoresIndexFile || saved == nil
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		}
		found++
		if !seen {
			t.Errorf("page %d: no question needs it", n)
		}
	}
	if opened < 3*len(questions) {
		t.Errorf("%d files of damaged pages were opened", opened)
	}
	for n := range pages { // change the memory while a page of its index file is damaged
		b := bytes.Clone(sound)
		b[n*pagefile.PageSize+100] ^= 1
		h.put(b)
		m := h.open(nil)
		for i := range 300 {
			if _, err := m.Remember(
				t.Context(),
				Entry{Name: fmt.Sprint("entry ", (7*n+i)%600), Content: fmt.Sprint("harbor ", n, " silver w", i%9)},
			); err != nil {
				t.Fatal(err)
			}
		}
		h.recall(m, "harbor")
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		m = h.open(nil)
		h.agree(m)
		h.close(m)
	}
}

// damagePage changes a byte in page n of the index file, which may be open.
func (h *indexHome) damagePage(n int) {
	h.t.Helper()
	f, err := h.fs.OpenFile(indexTestFile, os.O_RDWR, 0)
	if err != nil {
		h.t.Fatal(err)
	}
	at, b := int64(n*pagefile.PageSize+100), []byte{0}
	_, err = f.ReadAt(b, at)
	b[0] ^= 1
	_, writeErr := f.WriteAt(b, at)
	if err := errors.Join(err, writeErr, f.Close()); err != nil {
		h.t.Fatal(err)
	}
}

// TestIndexIsTrustedAgain damages the index file while a memory uses it. The memory ignores the file, until it has
// written a sound file.
func TestIndexIsTrustedAgain(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(nil)
	h.recall(m, "alpha")
	pages := len(h.file()) / pagefile.PageSize
	for n := 1; n < pages; n++ {
		h.damagePage(n)
	}
	h.agree(m)
	if !m.ignoresIndexFile {
		t.Fatal("the damaged file is not ignored")
	}
	if err := m.Checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	saved := m.openSavedIndex(RankOxbow)
	if saved == nil {
		t.Fatal("the file is still ignored after a sound file was written")
	}
	saved.close()
	m.dropSearcher(m.searcher.Load())
	h.agree(m)
	if n := countIndexed(m); n != 0 {
		t.Errorf("%d entries were indexed anew, although the file contains them", n)
	}
	h.close(m)
}

// TestEntryUnreadableWhileIndexIsSaved lets an entry be unreadable in the log before the index is saved. Checkpoint
// must return the error, and must not ignore the sound index file from then on.
func TestEntryUnreadableWhileIndexIsSaved(t *testing.T) {
	h := newIndexHome(t, 600)
	before := h.file()
	m := h.open(nil)
	h.recall(m, "alpha")
	for i := range minMissingEntriesAtStart {
		if _, err := m.Remember(t.Context(), Entry{Name: fmt.Sprint("new ", i), Content: "alpha"}); err != nil {
			t.Fatal(err)
		}
	}
	want := errors.New("the disk is broken")
	m.searcher.Load().err.Store(&want)
	if err := m.Checkpoint(t.Context()); !errors.Is(err, want) {
		t.Errorf("Checkpoint returns %v, want %v", err, want)
	}
	if m.ignoresIndexFile || !bytes.Equal(before, h.file()) {
		t.Errorf("the index file is ignored: %t, or it has changed", m.ignoresIndexFile)
	}
	h.agree(m)
	if n := countIndexed(m); n != minMissingEntriesAtStart {
		t.Errorf("%d entries were indexed anew, want only those that the file lacks", n)
	}
	if err := m.Checkpoint(t.Context()); err != nil || bytes.Equal(before, h.file()) {
		t.Errorf("the index was not saved after the disk was repaired: %v", err)
	}
	h.close(m)
}

// TestListMakesNoIndex tests that a list of the newest entries reads the entries, and does not make an index of them,
// if the index file is empty or cannot be used.
func TestListMakesNoIndex(t *testing.T) {
	h := newIndexHome(t, 600)
	index := h.file()
	for what, file := range map[string][]byte{"empty": nil, "cut": index[:len(index)/2]} {
		h.put(file)
		m := h.open(nil)
		f := Filter{Terms: []Term{{Key: "file", Values: []string{"x.go"}, Not: true}}}
		page, total, err := m.Newest(t.Context(), f, 0, 10)
		if err != nil || len(page) != 10 || total < 10 {
			t.Errorf("%s: Newest() = %d of %d entries, %v", what, len(page), total, err)
		}
		if m.searcher.Load() != nil {
			t.Errorf("%s: the list has made an index", what)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	h.put(index)
	m := h.open(nil)
	h.agree(m)
	h.close(m)
}

// TestEntryUnreadableInQuery lets an entry be unreadable in the log while a query reads it. If the disk is sound
// afterwards, the query is repeated with the index file. If the log is damaged, the query returns the error. In both
// cases the index file must not be ignored from then on.
func TestEntryUnreadableInQuery(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(nil)
	h.recall(m, "alpha")
	broken := errors.New("the disk is broken")
	m.searcher.Load().err.Store(&broken)
	h.agree(m)
	if n := countIndexed(m); n != 0 || m.ignoresIndexFile {
		t.Errorf("%d entries were indexed anew, the index file is ignored: %t", n, m.ignoresIndexFile)
	}
	h.close(m)

	// A list of the newest entries must not ignore the index file either.
	m = h.open(nil)
	h.recall(m, "alpha")
	m.searcher.Load().err.Store(&broken)
	f := Filter{Terms: []Term{{Key: "file", Values: []string{"x.go"}, Not: true}}}
	if _, _, err := m.Newest(t.Context(), f, 0, 10); err != nil {
		t.Error(err)
	}
	h.agree(m)
	if n := countIndexed(m); n != 0 || m.ignoresIndexFile {
		t.Errorf("after a list, %d entries were indexed anew, the index file is ignored: %t", n, m.ignoresIndexFile)
	}
	h.close(m)

	m = h.open(nil)
	hits := h.recall(m, "alpha")
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	log, err := vfs.ReadFile(h.fs, "memory.oxbow", -1)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(log, []byte(hits[0].Entry.Content))
	if at < 0 {
		t.Fatal("the log does not contain the text of the entry")
	}
	flip := func() {
		f, err := h.fs.OpenFile("memory.oxbow", os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		log[at] ^= 1
		_, err = f.WriteAt(log[at:at+1], int64(at))
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	m = h.open(nil)
	flip()
	for range 2 {
		if _, err := m.Recall(t.Context(), Query{Text: "alpha", Limit: 20}); err == nil {
			t.Error("Recall returns no error for an entry that is damaged in the log")
		}
	}
	if m.ignoresIndexFile {
		t.Error("the index file is ignored because the log is damaged")
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	flip()
	m = h.open(nil)
	h.agree(m)
	h.close(m)
}

// sampled is like the method agree, but it recalls only one query and compares the hits with the saved answer h.want().
// The number i is the position of the damage in the index file, for the error message.
func (h *indexHome) sampled(i int) {
	h.t.Helper()
	m := h.open(&Options{ReadOnly: true})
	defer m.Close()
	if hits := h.recall(m, "w7 harbor silver"); len(hits) != 20 {
		h.t.Fatalf("byte %d: %d hits", i, len(hits))
	} else if sum := fmt.Sprint(names(hits)); h.want() != sum {
		h.t.Fatalf("byte %d: other answers: %s\nwant %s", i, sum, h.want())
	}
}

var wanted = map[*vfs.Mem]string{}

func (h *indexHome) want() string {
	if wanted[h.fs] == "" {
		plain := h.open(&Options{ReadOnly: true})
		defer plain.Close()
		plain.ignoresIndexFile = true
		wanted[h.fs] = fmt.Sprint(names(h.recall(plain, "w7 harbor silver")))
	}
	return wanted[h.fs]
}

// FuzzOpenIndex tests that opening and reading an index file never panics, whatever the file contains. sealIndex
// corrects the checksums of the random file, so that the code after the checksum tests is also reached.
func FuzzOpenIndex(f *testing.F) {
	h := newIndexHome(f, 264)
	sound := h.file()
	f.Add(sound)
	f.Add(sound[:indexHeadSize])
	f.Add([]byte{})
	m := h.open(&Options{ReadOnly: true})
	d := m.Store().(*logstore.DB)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		if len(b) >= indexHeadSize {
			sealIndex(b)
		}
		if err := h.fs.Put(indexTestFile, b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		s, err := openIndexFile(d, RankOxbow)
		if err != nil {
			return
		}
		defer s.close()
		_, _ = s.rows.forEach(func(id, _ uint64) bool {
			s.rows.find(id)
			return true
		})
		_, _ = s.index.Searcher().WriteSnapshot(nowhere{}, 0)
		_ = s.index.Searcher().CheckSnapshot()
	})
}

// nowhere is a file that discards everything that is written to it.
type nowhere struct{}

// WriteAt implements [io.WriterAt].
func (nowhere) WriteAt(b []byte, _ int64) (int, error) { return len(b), nil }
