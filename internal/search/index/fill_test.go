// A run is a part of an index that is written to a temporary file while the index is built. This file tests that an
// index that was merged from runs has the same bytes as an index that was built in memory.

package index

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

// A run is a part of an index that is written to a temporary file. runFiles creates the files of runs, and the field
// runs counts these files. The field writes is the number of file creations and writes that still succeed. All later
// ones fail.
type runFiles struct {
	runs   int
	writes int
}

type testRun struct {
	of *runFiles
	b  memFile
}

var errFull = errors.New("the disk is full")

func (f *runFiles) new() (DocumentRunFile, error) {
	f.runs++
	f.writes--
	if f.writes < 0 {
		return nil, errFull
	}
	return &testRun{of: f}, nil
}

func (r *testRun) WriteAt(b []byte, at int64) (int, error) {
	r.of.writes--
	if r.of.writes < 0 {
		return 0, errFull
	}
	return r.b.WriteAt(b, at)
}

func (r *testRun) ReadAt(b []byte, at int64) (int, error) {
	if at > int64(len(r.b)) {
		return 0, io.EOF
	}
	n := copy(b, r.b[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func TestRunsAreAsOnePiece(t *testing.T) {
	most, failed := 0, 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		p := Params{CountEmptyDocuments: seed%3 == 0}
		one, all := New(p), New(p)
		files := &runFiles{writes: 1 << 20}
		if seed%4 == 0 {
			files.writes = r.IntN(60)
		}
		var ids []uint64
		var docs []Doc
		id := uint64(0)
		for range r.IntN(80) {
			d := randomDoc(r)
			if r.IntN(4) == 0 { // a term that only one run contains
				d.Terms = append(
					d.Terms,
					Term{Text: "own" + strconv.Itoa(r.IntN(1000)), Frequency: FrequencyPerOccurrence},
				)
			}
			d.Updated, d.Created = r.Int64(), r.Int64()
			id += 1 + r.Uint64N(3)
			ids, docs = append(ids, id), append(docs, d)
		}
		number(r, docs)
		fill(one, ids, docs)
		fillRuns(all, &DocumentRunOptions{MaxBytes: 1 + r.IntN(6000), NewFile: files.new}, ids, docs)
		most = max(most, len(all.Searcher().views))
		if files.writes < 0 {
			failed++
		}
		compare := func(when string) {
			t.Helper()
			checkInside(t, all)
			want, err := one.AppendSnapshot(nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := all.AppendSnapshot(nil)
			if err != nil || !bytes.Equal(got, want) {
				t.Fatalf(
					"seed %d, %s: %d runs make another snapshot, of %d bytes, want %d: %v",
					seed,
					when,
					files.runs,
					len(got),
					len(want),
					err,
				)
			}
			for range 5 {
				q := Query{
					Terms: []QueryTerm{
						{Text: strconv.Itoa(r.IntN(40)), Weight: 1},
						{Text: strconv.Itoa(r.IntN(40)), Weight: .5},
					},
					Limit: 1 + r.IntN(70),
				}
				if got, want := all.Search(q), one.Search(q); !slices.Equal(got, want) {
					t.Fatalf("seed %d, %s: Search(%v) = %v, want %v", seed, when, q, got, want)
				}
			}
		}
		compare("filled")
		for range r.IntN(40) {
			id := r.Uint64N(id + 2)
			if r.IntN(2) == 0 {
				one.Delete(id)
				all.Delete(id)
				continue
			}
			updated, d := r.Int64(), randomDoc(r)
			one.put(id, updated, d)
			all.put(id, updated, d)
		}
		compare("changed")
	}
	if most < 20 || failed < 10 {
		t.Errorf("at most %d runs, and %d fills failed to write: too few to say something", most, failed)
	}
}

// TestRunsRefuse tests that Fill panics if its runs (temporary files) get documents whose IDs do not ascend. Otherwise
// two runs might contain the same ID.
func TestRunsRefuse(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a Fill by runs of ids that do not rise does not panic")
		}
	}()
	files := &runFiles{writes: 100}
	fillRuns(
		New(Params{}),
		&DocumentRunOptions{MaxBytes: 1, NewFile: files.new},
		[]uint64{2, 1},
		[]Doc{DocumentOfWords(0, []string{"a"}), DocumentOfWords(0, []string{"b"})},
	)
}

// If a run can no longer be read, the error must be reported.
func TestRunsFailMeanwhile(t *testing.T) {
	var runs []*testRun
	x := New(Params{})
	ids, docs := make([]uint64, 50), make([]Doc, 50)
	for i := range docs {
		ids[i], docs[i] = uint64(i), DocumentOfWords(0, []string{"common", "own" + strconv.Itoa(i)})
	}
	files := &runFiles{writes: 1000}
	fillRuns(x, &DocumentRunOptions{MaxBytes: 1000, NewFile: func() (DocumentRunFile, error) {
		f, err := files.new()
		runs = append(runs, f.(*testRun))
		return f, err
	}}, ids, docs)
	if len(runs) < 3 {
		t.Fatalf("%d runs, want some", len(runs))
	}
	runs[1].b = nil // as if another process had truncated the file
	if _, err := x.AppendSnapshot(nil); err == nil || !errors.Is(err, x.Err()) {
		t.Errorf("a snapshot of runs one of which is cut short: %v, and the index says %v", err, x.Err())
	}
}
