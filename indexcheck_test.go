// This file tests that a check finds the errors of an index file. A check must not report an index file that no process
// would use.

package oxbow

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/base/pagefile"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
)

func (h *indexHome) problems() []Problem {
	h.t.Helper()
	m := h.open(&Options{ReadOnly: true})
	defer m.Close()
	rep, err := m.Store().(Checker).Check(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return rep.Problems
}

func TestCheckIndexFile(t *testing.T) {
	h := newIndexHome(t, 400)
	sound := h.file()
	le := binary.LittleEndian
	row := func(b []byte, i int) []byte { return b[(1+i/170)*pagefile.PageSize+i%170*indexRowSize:] }
	for _, try := range []struct {
		what string
		bad  bool
		edit func(b []byte) []byte
	}{
		{"sound", false, func(b []byte) []byte { return b }},
		{"empty", false, func(b []byte) []byte { return nil }},
		{"of another store", false, func(b []byte) []byte { b[32]++; sealIndex(b); return b }},
		{"of another format", false, func(b []byte) []byte { b[8]++; sealIndex(b); return b }},
		{"of another history", false, func(b []byte) []byte { b[60]++; sealIndex(b); return b }},
		{"cut", true, func(b []byte) []byte { return b[:len(b)-1] }},
		{"cut in its head", true, func(b []byte) []byte { return b[:100] }},
		{"a bit of the head", true, func(b []byte) []byte { b[50] ^= 1; return b }},
		{"a bit of the list", true, func(b []byte) []byte { row(b, 20)[20] ^= 1; return b }},
		{"a bit of the words", true, func(b []byte) []byte { b[len(b)-len(b)/4] ^= 1; return b }},
		{"another version", true, func(b []byte) []byte { row(b, 7)[8]++; sealIndex(b); return b }},
		{"another place, which nothing reads", false, func(b []byte) []byte {
			row(b, 7)[16]++
			sealIndex(b)
			return b
		}},
		{"another entry", true, func(b []byte) []byte { le.PutUint64(row(b, 399), 5000); sealIndex(b); return b }},
		{"another next ID", true, func(b []byte) []byte { b[104]++; sealIndex(b); return b }},
	} {
		h.put(try.edit(bytes.Clone(sound)))
		if ps := h.problems(); len(ps) > 0 != try.bad {
			t.Errorf("%s: %v", try.what, ps)
		}
		h.sampled(1)
	}
	h.put(sound)

	// Save an index file that has a valid checksum, but contains other words than the entries of the store.
	m := h.open(nil)
	s, err := m.refreshIndex(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.freezeIndexForSaving(t.Context(), m.Store().(*logstore.DB))
	if err != nil {
		t.Fatal(err)
	}
	e := *s.newView(t.Context(), s.scorer(RankOxbow)).entry(9)
	e.Content = "kestrel"
	_ = s.applyDeltas(t.Context(), newUnanalyzedChanges([]Delta{{ID: e.ID, Entry: &e}}))
	f.index = s.scorer(RankOxbow).Index().Searcher()
	if err := saveIndex(t.Context(), m.Store().(*logstore.DB), &f.immutableIndexState); err != nil {
		t.Fatal(err)
	}
	if ps := h.problems(); len(ps) != 1 {
		t.Errorf("other words: %v", ps)
	}
	h.put(sound)

	// If the context is cancelled, checkIndexFile must return context.Canceled and no problems.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if ps, err := checkIndexFile(
		ctx,
		fileOf{m.Store().(*logstore.DB).DerivedFile(indexSuffix), m.Store().(*logstore.DB)},
	); len(ps) > 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("an ended check finds %v, %v", ps, err)
	}
	h.close(m)
}

// fileOf is the index file of the store that is in its field named of. Its method StateAt always fails, because the
// tested check must end before it reads an entry.
type fileOf struct {
	logstore.DerivedFile
	of *logstore.DB
}

func (f fileOf) RefreshPosition(p logpos.Position) (logpos.Position, error) {
	return f.of.RefreshPosition(p)
}

func (fileOf) StateAt(logpos.Position) (logstore.StateAfterChange, error) {
	return nil, errors.New("the check was to end before")
}
