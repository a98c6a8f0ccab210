// This file tests queries about an earlier state. It compares answers from the current index with answers from the
// entries of that time.

package oxbow

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/store"
)

// pastHome makes random changes to a memory and asks about earlier states.
type pastHome struct {
	*indexHome
	m    *Memory
	rand *rand.Rand

	asked int // number of questions
	fast  int // number of questions answered from the index of the present state
}

func (h *pastHome) text() string {
	words := []string{"harbor", "lantern", "silver", "crane", "quay", "mole", "mist", "gull"}
	var b strings.Builder
	for range 1 + h.rand.IntN(12) {
		fmt.Fprintf(&b, "%s w%d ", words[h.rand.IntN(len(words))], h.rand.IntN(30))
	}
	return b.String()
}

func (h *pastHome) labels() (ls []Label) {
	for range h.rand.IntN(3) {
		ls = append(ls, Label{Key: LabelProject, Value: fmt.Sprint("p", h.rand.IntN(3))})
	}
	if h.rand.IntN(9) == 0 {
		ls = append(ls, Label{Key: LabelQuarantine, Value: "for a test"})
	}
	return ls
}

// query returns a random query.
func (h *pastHome) query() Query {
	q := Query{Text: h.text(), Limit: 1 + h.rand.IntN(20), Explain: h.rand.IntN(2) == 0}
	if h.rand.IntN(4) == 0 {
		q.Rank = RankSeed
	}
	if h.rand.IntN(4) == 0 {
		q.Filter.Terms = []Term{{Key: LabelProject, Values: []string{"p1"}, Not: h.rand.IntN(2) == 0}}
	}
	word := fmt.Sprint("w", h.rand.IntN(30))
	switch h.rand.IntN(10) {
	case 0, 1:
		q.Text = ""
	case 2:
		q.Text = "harbr xyzzyq" // misspelled and unknown words
	case 3:
		q.Text = "nothinghasthis"
	case 4:
		q.Operators = &Operators{Words: q.Text, Prefixes: []string{"w1"}}
	case 5:
		q.Operators = &Operators{Words: q.Text, Must: []string{word}, Not: []string{"mist", "harbor " + word}}
	case 6:
		q.Operators = &Operators{Words: q.Text, Must: []string{"harbor " + word}}
	case 7:
		q.Recency, q.Now = time.Hour, time.Unix(1776200000, 0)
	}
	return q
}

// change makes a random change. The argument seq is the number of the newest change. The change may also fail because
// it is not valid, for example because an entry does not exist.
func (h *pastHome) change(seq uint64) {
	ctx := h.t.Context()
	name := func() string { return fmt.Sprint("name", h.rand.IntN(40)) }
	var err error
	switch n := h.rand.IntN(20); {
	case n < 12:
		var ops []Op
		for range 1 + h.rand.IntN(3) {
			switch h.rand.IntN(5) {
			case 0, 1:
				ops = append(ops, Add{Name: name(), Content: h.text(), Aliases: []string{name()}, Labels: h.labels()})
			case 2, 3:
				ops = append(ops, Update{Name: name(), Content: h.text(), Labels: h.labels()})
			default:
				ops = append(ops, Remove{Name: name()})
			}
		}
		err = h.m.Apply(ctx, ops...)
	case n < 14:
		_, _, err = h.m.Undo(ctx, 1+h.rand.IntN(3))
	case n < 16:
		_, err = h.m.Restore(ctx, name(), 1+h.rand.Uint64N(seq+1))
	case n < 18:
		_, err = h.m.Revert(ctx, 1+h.rand.Uint64N(seq+1))
	case n < 19:
		err = h.m.Checkpoint(ctx)
	case h.rand.IntN(4) == 0:
		_, err = h.m.Redact(ctx, name(), false)
	case h.rand.IntN(3) == 0:
		word := fmt.Sprintf("w%d ", h.rand.IntN(30))
		_, err = h.m.RedactVersions(
			ctx,
			func(e Entry, _ bool) bool { return strings.Contains(e.Content, word) },
			false,
		)
	case h.rand.IntN(4) == 0:
		_, err = h.m.Compact(ctx, Compaction{Before: time.Unix(1776200000+int64(h.rand.IntN(600)), 0)})
	}
	for _, want := range []error{nil, ErrNotFound, ErrExists, ErrConflict, ErrInvalid} {
		if errors.Is(err, want) {
			return
		}
	}
	h.t.Fatal(err)
}

// ask fails the test if the memory's answer to the query q with AsOf seq differs from the answer that a memory over the
// view AsOf(seq) gives. It compares the results of Recall and Diagnose.
func (h *pastHome) ask(q Query, seq uint64) {
	h.t.Helper()
	ctx := h.t.Context()
	view, err := h.m.AsOf(ctx, seq)
	if errors.Is(err, ErrNotFound) {
		return // a compaction dropped it
	}
	if err != nil {
		h.t.Fatal(err)
	}
	defer view.Close()
	then := newMemory(view, h.m.opts)
	want, err := then.Recall(ctx, q)
	if err != nil {
		h.t.Fatal(err)
	}
	wantWhy, err := then.Diagnose(ctx, q)
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.m.Recall(ctx, Query{Text: "harbor"}); err != nil { // make the index if a redaction removed the file
		h.t.Fatal(err)
	}
	h.asked++
	q.AsOf = seq
	fromIndex, err := h.m.viewFromIndex(ctx, seq, cmp.Or(q.Rank, h.m.opts.Ranking), nil)
	if err != nil {
		h.t.Fatal(err)
	}
	if fromIndex != nil {
		h.fast++
	}
	got, err := h.m.Recall(ctx, q)
	if err != nil {
		h.t.Fatal(err)
	}
	if fmt.Sprintf("%+v", deref(got)) != fmt.Sprintf("%+v", deref(want)) {
		h.t.Errorf("%q as of %d finds %+v\nwant %+v", q.Text, seq, deref(got), deref(want))
	}
	why, err := h.m.Diagnose(ctx, q)
	if err != nil || fmt.Sprintf("%+v", why) != fmt.Sprintf("%+v", wantWhy) {
		h.t.Errorf("%q as of %d is explained by %+v %v\nwant %+v", q.Text, seq, why, err, wantWhy)
	}
}

func TestPastFromTheCurrentIndex(t *testing.T) {
	for seed := range uint64(6) {
		h := &pastHome{indexHome: newIndexHome(t, 300), rand: rand.New(rand.NewPCG(seed, 3))}
		open := func() {
			h.m = h.open(nil)
			if seed%2 == 1 {
				h.m.minScannedEntries = 0 // index only the query's words, however few entry versions are searched
			}
			if _, err := h.m.Recall(t.Context(), Query{Text: "harbor", Rank: RankSeed}); err != nil {
				t.Fatal(err)
			}
		}
		open()
		for range 50 {
			last := lastSeq(t, h.m)
			h.change(last)
			if h.rand.IntN(3) > 0 {
				continue
			}
			last = lastSeq(t, h.m)
			for _, back := range []uint64{h.rand.Uint64N(20), h.rand.Uint64N(last)} {
				h.ask(h.query(), max(1, last-min(last, back))) // at least 1, because 0 means the current state
			}
			if h.rand.IntN(8) == 0 {
				h.close(h.m)
				open()
			}
		}
		if h.fast < h.asked*3/4 {
			t.Errorf("seed %d: the current index answered %d of %d questions", seed, h.fast, h.asked)
		}
		h.close(h.m)
	}
}

// readingHistory wraps a Historian. Its method ReadsFrom reports that reads return the same data as the wrapped
// Historian, as in a wrapper that only limits writes.
type readingHistory struct{ Historian }

func (h readingHistory) ReadsFrom() Historian { return h.Historian }

// TestPastBehindAWrapper tests recalls of an earlier state through a wrapper of the memory's History. The memory can
// answer from the index of the current entries if the wrapper is known not to change what is read. With other wrappers,
// it must answer without this index.
func TestPastBehindAWrapper(t *testing.T) {
	for _, c := range []struct {
		what   string
		wrap   func(Historian) Historian
		isFast bool
	}{
		{"no wrapper", func(h Historian) Historian { return h }, true},
		{"a wrapper that limits writing", func(h Historian) Historian { return readingHistory{h} }, true},
		{"another wrapper", func(h Historian) Historian { return struct{ Historian }{h} }, false},
	} {
		h := newIndexHome(t, 600)
		m := h.open(&Options{History: c.wrap})
		seq := lastSeq(t, m)
		if err := m.Apply(t.Context(), store.Add{Name: "later", Content: "harbor"}); err != nil {
			t.Fatal(err)
		}
		v, err := m.viewFromIndex(t.Context(), seq, RankOxbow, nil)
		if err != nil || (v != nil) != c.isFast {
			t.Errorf("%s: there is a view from the index: %t, %v; want %t", c.what, v != nil, err, c.isFast)
		}
		hits, err := m.Recall(t.Context(), Query{Text: "later", AsOf: seq})
		if err != nil || len(hits) > 0 {
			t.Errorf("%s: a recall as of change %d found %+v, %v", c.what, seq, hits, err)
		}
		h.close(m)
	}
}

// TestPastWhileItChanges tests a view of an earlier state. If an entry is changed after the view was made, the view
// must still return the entry's version at that earlier state.
func TestPastWhileItChanges(t *testing.T) {
	h := newIndexHome(t, 600)
	m := h.open(nil)
	ctx := t.Context()
	if _, err := m.Recall(ctx, Query{Text: "harbor"}); err != nil {
		t.Fatal(err)
	}
	seq := lastSeq(t, m)
	v, err := m.viewFromIndex(ctx, seq, RankOxbow, nil)
	if err != nil || v == nil {
		t.Fatalf("there is no view from the index: %v", err)
	}
	best := func() *Entry {
		hits := v.Search(v.MakePlan(v.rankingQuery(Query{Text: "harbor"})), DefaultLimit)
		return hits[0].Item.(*rankedEntryItem).entry
	}
	if err := m.Apply(ctx, store.Update{Name: best().Name, Content: "changed"}); err != nil {
		t.Fatal(err)
	}
	if best().Content == "changed" {
		t.Error("the best hit has the later text")
	}
	if err := v.firstReadError(); err != nil {
		t.Error(err)
	}
	h.close(m)
}
