// Keywords: the terms by which the index knows what filters ask for, so that an
// entry need not be read to be left out.

package oxbow

import (
	"context"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/index"
)

// keywordPrefix begins keywords. No word of a text has the sign in it.
const keywordPrefix = "="

// keyword is the term of the entries that a [Term] with that key and value
// selects.
func keyword(key, value string) string { return keywordPrefix + key + "\x00" + value }

func isKeyword(term string) bool { return strings.HasPrefix(term, keywordPrefix) }

// keywords returns the keywords of an entry. They weigh nothing, and are no part of
// its length.
func keywords(e *Entry) []string {
	ms := make([]string, 0, 3+2*len(e.Labels))
	ms = append(ms, keyword("kind", e.Kind.String()), keyword("by", string(e.Source.Actor)), keyword("door", e.Source.Door))
	for _, l := range e.Labels {
		ms = append(ms, keyword("has", l.Key))
		if hasKeywords(l.Key) {
			ms = append(ms, keyword(l.Key, l.Value))
		}
	}
	slices.Sort(ms)
	return slices.Compact(ms)
}

// hasKeywords reports whether the values of a key are keywords. A confidence is
// compared, a file's content is one of too many, and a name is found by its
// words.
func hasKeywords(key string) bool {
	return key != LabelConfidence && key != LabelFileBlob && key != "name"
}

// filter turns a filter into what the index looks up itself: an entry that meets
// it all is one that the filter selects, unless more is true: then the filter
// has to be put to the entry, too.
func (r *scorer) filter(f Filter) (cs []index.Clause, times *index.Range, more bool) {
	for _, t := range f.Terms {
		switch {
		case hasKeywords(t.Key):
			c := index.Clause{Not: t.Not}
			for _, v := range t.Values {
				c.Terms = append(c.Terms, keyword(t.Key, v))
			}
			cs = append(cs, c)
			continue
		case t.Key == "name" && !t.Not && len(t.Values) == 1 && r.an != nil:
			cs = append(cs, together(r.an.Sequence(context.Background(), t.Values[0]), false)...)
		}
		more = true
	}
	if !f.After.IsZero() || !f.Before.IsZero() {
		// A bound that is far tells times apart that the index does not.
		times = &index.Range{From: math.MinInt64, To: math.MaxInt64}
		if !f.After.IsZero() {
			times.From, more = timestamp(f.After), more || isFar(f.After)
		}
		switch {
		case f.Before.IsZero():
		case isFar(f.Before):
			times.To, more = timestamp(f.Before), true
		default:
			times.To = timestamp(f.Before) - 1
		}
	}
	return cs, times, more
}

// values yields the values that entries have under a key.
func (v *rankedView) values(key string) iter.Seq[string] {
	return func(yield func(string) bool) {
		prefix := keyword(key, "")
		for t := range v.stats.Terms(prefix) {
			if !yield(t[len(prefix):]) {
				return
			}
		}
	}
}

// together returns the conditions that an entry meets that holds all those
// terms or, with not, none of them.
func together(seq []string, not bool) (cs []index.Clause) {
	for _, t := range seq {
		cs = append(cs, index.Clause{Terms: []string{t}, Not: not})
	}
	return cs
}

// timestamp returns a time in nanoseconds since 1970, of times that have none the
// least or the most of all numbers.
func timestamp(t time.Time) int64 {
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
