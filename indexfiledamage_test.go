// Damaged index files: refused or harmless, whatever their bytes.

package oxbow

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/testenv"
	"github.com/oxbow-memory/oxbow/vfs"
)

// sealHead makes the check of a head right.
func sealHead(b []byte) { binary.LittleEndian.PutUint32(b[124:], crc32.Checksum(b[:124], castagnoli)) }

// An index file with any one bit turned over, or cut at any length, is either not
// opened, or found out when it is read, or reads the same.
func TestIndexFlipped(t *testing.T) {
	testenv.Sequential(t)
	h := newIndexHome(t, 264)
	sound := h.file()
	m := h.open(&Options{ReadOnly: true})
	defer m.Close()
	d := m.Store().(*db)
	read := func() (all []byte) {
		s, err := d.openIndex(RankOxbow)
		if err != nil {
			return nil
		}
		defer s.close()
		if all, err = s.index.Searcher().AppendSnapshot(nil); err != nil {
			return nil
		}
		return append(all, s.rows...)
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
	step := testenv.Long(5, 1)
	for i := 0; i < len(sound); i += step {
		b := bytes.Clone(sound)
		b[i] ^= 1 << (i % 8)
		try(b, "a bit turned over", i)
		try(bytes.Clone(sound[:i]), "cut", i)
		// Some all the way to the answer.
		if i%(211*step) == 0 {
			h.put(b)
			h.sampled(i)
		}
	}
	if refused < len(sound)/step {
		t.Errorf("only %d files were refused; those that are cut all are to be", refused)
	}
}

// sampled is agree for one query, with the answer known.
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
		plain.distrust = true
		wanted[h.fs] = fmt.Sprint(names(h.recall(plain, "w7 harbor silver")))
	}
	return wanted[h.fs]
}

// Whatever an index file holds, opening it neither fails badly nor takes more
// memory than the file is worth. The checks are made right, so that what is
// behind them is reached.
func FuzzOpenIndex(f *testing.F) {
	h := newIndexHome(f, 264)
	sound := h.file()
	f.Add(sound)
	f.Add(sound[:indexHeadSize])
	f.Add([]byte{})
	m := h.open(&Options{ReadOnly: true})
	d := m.Store().(*db)
	f.Fuzz(func(t *testing.T, b []byte) {
		b = bytes.Clone(b)
		if len(b) >= indexHeadSize {
			sealHead(b)
			n := binary.LittleEndian.Uint64(b[88:])
			if end := indexHeadSize + 24*n; n < uint64(len(b)) && end+4 <= uint64(len(b)) {
				binary.LittleEndian.PutUint32(b[end:], crc32.Checksum(b[indexHeadSize:end], castagnoli))
			}
		}
		if err := h.fs.Put(indexTestFile, b, 0o600, time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		s, err := d.openIndex(RankOxbow)
		if err != nil {
			return
		}
		defer s.close()
		for i := 1; i < s.rows.len(); i++ {
			if s.rows.id(i) <= s.rows.id(i-1) {
				t.Error("its entries are not in order")
			}
		}
		_, _ = s.index.Searcher().AppendSnapshot(nil)
	})
}
