// This file holds marks: the terms by which the index knows what filters ask
// for, so that an entry need not be looked at to be left out.

package oxbow

import (
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/bm25"
)

// markPrefix begins the terms of marks. No word of a text has the sign in it.
const markPrefix = "="

// mark is the term of the entries that a [Term] with that key and value
// selects.
func mark(key, value string) string { return markPrefix + key + "\x00" + value }

func isMark(term string) bool { return strings.HasPrefix(term, markPrefix) }

// marks returns the marks of an entry. They weigh nothing, and are no part of
// its length.
func marks(e *Entry) []string {
	ms := make([]string, 0, 3+2*len(e.Labels))
	ms = append(ms, mark("kind", e.Kind.String()), mark("by", string(e.Source.Actor)), mark("door", e.Source.Door))
	for _, l := range e.Labels {
		ms = append(ms, mark("has", l.Key))
		if isMarked(l.Key) {
			ms = append(ms, mark(l.Key, l.Value))
		}
	}
	slices.Sort(ms)
	return slices.Compact(ms)
}

// isMarked reports whether the values of a key are marks. A confidence is
// compared, a file's content is one of too many, and a name is found by its
// words.
func isMarked(key string) bool {
	return key != LabelConfidence && key != LabelFileBlob && key != "name"
}

// where turns a filter into what the index looks up itself: an entry that meets
// it all is one that the filter selects, unless more is true: then the filter
// has to be put to the entry, too.
func (r *ranking) where(f Filter) (cs []bm25.Clause, times *bm25.Times, more bool) {
	for _, t := range f.Terms {
		switch {
		case isMarked(t.Key):
			c := bm25.Clause{Not: t.Not}
			for _, v := range t.Values {
				c.Terms = append(c.Terms, mark(t.Key, v))
			}
			cs = append(cs, c)
			continue
		case t.Key == "name" && !t.Not && len(t.Values) == 1 && r.an != nil:
			cs = append(cs, together(r.an.Sequence(t.Values[0]), false)...)
		}
		more = true
	}
	if !f.After.IsZero() || !f.Before.IsZero() {
		// A bound that is far tells times apart that the index does not.
		times = &bm25.Times{From: math.MinInt64, To: math.MaxInt64}
		if !f.After.IsZero() {
			times.From, more = stamp(f.After), more || isFar(f.After)
		}
		switch {
		case f.Before.IsZero():
		case isFar(f.Before):
			times.To, more = stamp(f.Before), true
		default:
			times.To = stamp(f.Before) - 1
		}
	}
	return cs, times, more
}

// marked yields the values that entries have under a key.
func (r *ranking) marked(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		prefix := mark(key, "")
		for t := range r.index.Terms(prefix) {
			if !yield(t[len(prefix):]) {
				return
			}
		}
	}
}

// together returns the conditions that an entry meets that holds all those
// terms or, with not, none of them.
func together(seq []string, not bool) (cs []bm25.Clause) {
	for _, t := range seq {
		cs = append(cs, bm25.Clause{Terms: []string{t}, Not: not})
	}
	return cs
}

// stamp returns a time in nanoseconds since 1970, of times that have none the
// least or the most of all numbers.
func stamp(t time.Time) int64 {
	switch {
	case !isFar(t):
		return t.UnixNano()
	case t.Year() < 1970:
		return math.MinInt64
	}
	return math.MaxInt64
}

// isFar reports whether a time has no number of nanoseconds.
func isFar(t time.Time) bool {
	y := t.UTC().Year()
	return y < 1678 || y > 2261
}
