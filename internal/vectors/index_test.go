// This file tests rankings by vectors, and the file that stores the vectors.

package vectors

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/test/vectorstest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// noted returns a memory with the given entries. Each entry has the form "name|content".
func noted(t *testing.T, fsys vfs.FS, entries ...string) *oxbow.Memory {
	t.Helper()
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: fsys})
	for _, e := range entries {
		name, content, _ := strings.Cut(e, "|")
		if _, err := m.Remember(t.Context(), oxbow.Entry{Name: name, Content: content}); err != nil {
			t.Fatal(err)
		}
	}
	return m
}

// ranked returns the names of the hits for the argument query, separated by spaces. The hits are ranked by the words of
// the query and by the vector query q.
func ranked(t *testing.T, m *oxbow.Memory, q *Query, query oxbow.Query) string {
	t.Helper()
	query.Second = q
	hits, err := m.Recall(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range hits {
		names = append(names, h.Entry.Name)
	}
	return strings.Join(names, " ")
}

// TestRank tests rankings by words and by vectors. The endpoint of the test knows neither stems nor stop words, so its
// ranking differs from the ranking by words.
func TestRank(t *testing.T) {
	s := vectorstest.NewServer(t)
	fsys := vfs.NewMem()
	m := noted(t, fsys, "a|Herons fish at dawn.", "b|The the the tide.", "c|A heron stood there.", "d|Nothing of it.")
	c, _ := client(t, s)
	x := New(c, fsys, "m.vec")
	drafts := oxbow.Filter{Terms: []oxbow.Term{{Key: "name", Values: []string{"c"}, Not: true}}}
	for _, tt := range []struct {
		query oxbow.Query
		want  string
	}{
		{oxbow.Query{Text: "the herons"}, "a c b"}, // by words: c a; by vectors: b a; c and b have equal scores
		{oxbow.Query{Text: "the herons", Filter: drafts}, "a b"},
		{
			oxbow.Query{Text: "the herons", Operators: &oxbow.Operators{Words: "the herons", Not: []string{"tide"}}},
			"a c",
		},
		{oxbow.Query{Text: "the", Limit: 1}, "b"},
	} {
		q := x.Query(time.Minute)
		if got := ranked(t, m, q, tt.query); got != tt.want || q.RankingErr != nil || q.EntriesWithoutVector != 0 {
			t.Errorf(
				"%+v finds %q, want %q; %v, %d missing",
				tt.query,
				got,
				tt.want,
				q.RankingErr,
				q.EntriesWithoutVector,
			)
		}
	}
	// Each text was sent only once. Another process reads the vectors from the file.
	if got := s.BatchSizes(); !slices.Equal(got, []int{1, 4, 1, 1, 1}) {
		t.Errorf("requests of %v texts", got)
	}
	c, _ = client(t, s)
	y := New(c, fsys, "m.vec")
	if got := ranked(t, m, y.Query(time.Minute), oxbow.Query{Text: "the herons"}); got != "a c b" ||
		len(s.BatchSizes()) != 6 {
		t.Errorf("another process finds %q with %v", got, s.BatchSizes())
	}
	// A changed content is sent. A new label, or a content that an entry had before, is not.
	for _, op := range []oxbow.Op{
		oxbow.Relabel{Name: "a", Labels: []oxbow.Label{{Key: "tag", Value: "x"}}},
		oxbow.Update{Name: "d", Content: "Of the herons."},
	} {
		if err := m.Apply(t.Context(), op); err != nil {
			t.Fatal(err)
		}
	}
	if got := ranked(t, m, y.Query(time.Minute), oxbow.Query{Text: "the herons"}); got != "d a c b" {
		t.Errorf("after a change it finds %q", got)
	}
	if texts := s.TextsByRequest(); len(texts) != 8 || !slices.Equal(texts[7], []string{"d\nOf the herons."}) {
		t.Errorf("sent %q", texts[6:])
	}
	if err := m.Forget(t.Context(), "d"); err != nil {
		t.Fatal(err)
	}
	if got := ranked(t, m, y.Query(time.Minute), oxbow.Query{Text: "the herons"}); got != "a c b" {
		t.Errorf("after a forget it finds %q", got)
	}
	size := func() int64 {
		fi, err := fsys.Stat("m.vec")
		if err != nil {
			t.Fatal(err)
		}
		return fi.Size()
	}
	before := size()
	var r Report
	var ferr error
	if err := m.View(t.Context(), func(all oxbow.Entries) {
		r, ferr = y.ComputeMissingVectors(t.Context(), all, false, nil)
	}); err != nil || ferr != nil || r.ComputedVectors != 0 || r.ExistingVectors != 3 {
		t.Errorf("Fill() = %+v, %v, %v", r, err, ferr)
	}
	if want := int64(headerSize + 3*(rowOverheadBytes+512)); size() != want || before <= want {
		t.Errorf(
			"after what was forgotten was dropped the file has %d bytes, %d before, want %d",
			size(),
			before,
			want,
		)
	}
}

// TestWait tests that a query takes no longer than its maximum wait if the endpoint is slow or missing. Vectors that
// have arrived in this time must be kept.
func TestWait(t *testing.T) {
	s := vectorstest.NewServer(t)
	var entries []string
	for i := range 3 * textsPerRequest {
		entries = append(entries, fmt.Sprintf("n%02d|heron %d", i, i))
	}
	fsys := vfs.NewMem()
	m := noted(t, fsys, entries...)
	c, _ := client(t, s)
	stop := make(chan struct{})
	s.BeforeAnswer = func(w http.ResponseWriter, n int) bool {
		if n > 2 {
			<-stop
		}
		return false
	}
	x := New(c, fsys, "m.vec")
	q := x.Query(300 * time.Millisecond)
	if got := ranked(t, m, q, oxbow.Query{Text: "heron", Limit: 1}); q.EntriesWithoutVector != 2*textsPerRequest ||
		q.RankingErr != nil ||
		got == "" {
		t.Errorf(
			"after one request of %d: %q, %d missing, %v",
			textsPerRequest,
			got,
			q.EntriesWithoutVector,
			q.RankingErr,
		)
	}
	q = x.Query(50 * time.Millisecond)
	if got := ranked(t, m, q, oxbow.Query{Text: "heron", Limit: 1}); got == "" || q.RankingErr == nil ||
		!strings.Contains(q.RankingErr.Error(), "did not answer within 50ms") {
		t.Errorf("an endpoint that does not answer: %q, %v", got, q.RankingErr)
	}
	close(stop)
	var r Report
	steps := 0
	if err := m.View(t.Context(), func(all oxbow.Entries) {
		r, _ = x.ComputeMissingVectors(t.Context(), all, true, nil)
	}); err != nil || r.ComputedVectors != 2*textsPerRequest || r.ExistingVectors != textsPerRequest ||
		r.TextBytes == 0 {
		t.Errorf("dry run: %+v, %v", r, err)
	}
	if err := m.View(t.Context(), func(all oxbow.Entries) {
		r, _ = x.ComputeMissingVectors(t.Context(), all, false, func(int, int) { steps++ })
	}); err != nil || r.ComputedVectors != 2*textsPerRequest || steps != 2 {
		t.Errorf("Fill() = %+v, %v, %d steps", r, err, steps)
	}
	s.Close()
	q = x.Query(time.Minute)
	if got := ranked(t, m, q, oxbow.Query{Text: "heron", Limit: 1}); got == "" || q.RankingErr == nil ||
		strings.Contains(q.RankingErr.Error(), "tried") {
		t.Errorf("no endpoint: %q, %v", got, q.RankingErr)
	}
}

// TestDamagedFile tests that the file of vectors may be damaged, cut off, or made for another model. A query must
// return the right entries nevertheless, and must write the vectors to the file again. The only effect is that more
// requests are sent to the server that computes vectors.
func TestDamagedFile(t *testing.T) {
	s := vectorstest.NewServer(t)
	for name, hurt := range map[string]func(b []byte) []byte{
		"whole":       func(b []byte) []byte { return b },
		"cut":         func(b []byte) []byte { return b[:len(b)-100] },
		"header cut":  func(b []byte) []byte { return b[:20] },
		"bit":         func(b []byte) []byte { b[headerSize+100] ^= 1; return b },
		"other":       func(b []byte) []byte { b[20] ^= 1; return b },
		"longer":      func(b []byte) []byte { return append(b, "some bytes"...) },
		"not of this": func([]byte) []byte { return []byte("hello") },
	} {
		fsys := vfs.NewMem()
		m := noted(t, fsys, "a|heron", "b|tide")
		ask := func() {
			t.Helper()
			c, _ := client(t, s)
			q := New(c, fsys, "m.vec").Query(time.Minute)
			if got := ranked(t, m, q, oxbow.Query{Text: "heron"}); got != "a" || q.RankingErr != nil {
				t.Errorf("%s: found %q, %v", name, got, q.RankingErr)
			}
		}
		ask()
		b, err := vfs.ReadFile(fsys, "m.vec", 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(b)
		if err := vfs.WriteFile(fsys, "m.vec", hurt(b), 0o600); err != nil {
			t.Fatal(err)
		}
		ask()
		before := len(s.BatchSizes())
		ask()
		if len(s.BatchSizes()) != before+1 {
			t.Errorf("%s: the vectors are not kept", name)
		}
		b, err = vfs.ReadFile(fsys, "m.vec", 1<<20)
		if err != nil || len(b) < len(want) {
			t.Errorf("%s: the file has %d bytes, %v", name, len(b), err)
		}
	}
}

// FuzzFile tests that readRows accepts a file with arbitrary bytes. Each row that readRows returns must be contained in
// the file, exactly as appendRow encodes it. readRows may also return no rows.
func FuzzFile(f *testing.F) {
	key := hashText("k")
	one := storedVector{entryVersion: 7, textHash: hashText("t"), numberScale: .5, roundedNumbers: []int8{1, -2, 3}}
	fl := vectorFile{key: key}
	f.Add(appendRow(appendRow(fl.encodeHeader(3), 1, one), 2, one))
	f.Add(fl.encodeHeader(1 << 30))
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := vfs.NewMem()
		if err := vfs.WriteFile(fsys, "f", b, 0o600); err != nil {
			t.Fatal(err)
		}
		rows := map[uint64]storedVector{}
		fl := vectorFile{fsys: fsys, name: "f", key: key}
		fl.readRows(rows)
		for id, r := range rows {
			if !strings.Contains(string(b), string(appendRow(nil, id, r))) {
				t.Fatalf("the file has no row %d %+v", id, r)
			}
		}
	})
}
