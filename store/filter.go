// This file defines filters, which select entries.

package store

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
)

// A Filter selects entries. An entry is selected if it matches all Terms and was created from After up to, but not
// including, Before. The zero Filter selects all entries.
type Filter struct {
	Terms  []Term
	After  time.Time // earliest creation time (zero means no limit)
	Before time.Time // time before which the entry was created (zero means no limit)
}

// A Term is a single condition in a [Filter]. An entry satisfies the term if the entry matches at least one of the
// Values. If Not is set, the entry satisfies the term if it matches none of the Values.
//
// Key is a label key, or one of these words, which specify the property that a value is compared with:
//
//   - kind: the entry's [Kind], such as note
//   - name: the entry's exact name or an alias
//   - by: the [Actor] that wrote the current version
//   - door: the interface through which the current version was written: cli, mcp, http or library (see [Source])
//   - has: a label key that the entry has
//   - trust: the level of [Trust]
//   - confidence: the lowest confidence to select (entries without a confidence are excluded)
//
// Names, aliases and label values match even if their Unicode composition differs (see [SameName]).
type Term struct {
	Key    string
	Values []string
	Not    bool
}

// IsZero reports whether the filter selects all entries.
func (f Filter) IsZero() bool {
	return len(f.Terms) == 0 && f.After.IsZero() && f.Before.IsZero()
}

// Match reports whether the filter selects the entry.
func (f Filter) Match(e *Entry) bool {
	if !f.After.IsZero() && e.Created.Before(f.After) {
		return false
	}
	if !f.Before.IsZero() && !e.Created.Before(f.Before) {
		return false
	}
	for _, t := range f.Terms {
		if t.matchesAnyValue(e) == t.Not {
			return false
		}
	}
	return true
}

func (t Term) matchesAnyValue(e *Entry) bool {
	return slices.ContainsFunc(t.Values, func(v string) bool { return t.matchesValue(e, v) })
}

func (t Term) matchesValue(e *Entry, v string) bool {
	switch t.Key {
	case "kind":
		return e.Kind.String() == v
	case "name":
		return SameName(e.Name, v) || containsName(e.Aliases, v)
	case "by":
		return string(e.Source.Actor) == v
	case "door":
		return e.Source.Door == v
	case "trust":
		return string(e.Trust()) == v
	case "has":
		_, ok := e.Label(v)
		return ok
	case LabelConfidence:
		least, err := parseConfidence(v)
		have, ok := e.Confidence()
		return ok && err == nil && have >= least
	}
	return slices.ContainsFunc(e.Labels, Label{t.Key, v}.Is)
}

// And returns a filter that selects the entries that both filters select.
func (f Filter) And(g Filter) Filter {
	r := Filter{Terms: slices.Concat(f.Terms, g.Terms), After: f.After, Before: f.Before}
	if r.After.IsZero() || g.After.After(r.After) {
		r.After = g.After
	}
	if isStricterEndTime(g.Before, r.Before) {
		r.Before = g.Before
	}
	return r
}

// isStricterEndTime reports whether the time limit a is stricter than the time limit b. Both limits are ends of a time
// range, so the earlier one is stricter. A zero time means no limit.
func isStricterEndTime(a, b time.Time) bool {
	return !a.IsZero() && (b.IsZero() || a.Before(b))
}

// Parts returns one filter for each condition of the filter. The time range is one condition.
func (f Filter) Parts() []Filter {
	var ps []Filter
	for _, t := range f.Terms {
		ps = append(ps, Filter{Terms: []Term{t}})
	}
	if !f.After.IsZero() || !f.Before.IsZero() {
		ps = append(ps, Filter{After: f.After, Before: f.Before})
	}
	return ps
}

// String returns the filter in the language that package query parses. If the language can express the filter, parsing
// the result returns an equal filter, whatever the time zone is. The language can express a filter if each term has
// values, each label passes [Label.Check], and all dates are in the years 1 to 9999.
func (f Filter) String() string { return f.format(math.MaxInt) }

// maxBriefValuesPerTerm is the maximum number of values that [Filter.Brief] prints for each term.
const maxBriefValuesPerTerm = 3

// Brief returns the filter in a short form for messages. For a term with many values, it
// prints the first three and the number of the rest.
func (f Filter) Brief() string { return f.format(maxBriefValuesPerTerm) }

// format returns the filter as text. Each term has at most maxValuesPerTerm values and then the number of omitted
// values.
func (f Filter) format(maxValuesPerTerm int) string {
	var b strings.Builder
	word := func(parts ...string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		for _, p := range parts {
			b.WriteString(p)
		}
	}
	for _, t := range f.Terms {
		sign := ""
		if t.Not {
			sign = "-"
		}
		word(sign, syntax.QuoteKey(t.Key), ":")
		named := t.Values[:min(len(t.Values), maxValuesPerTerm)]
		for i, v := range named {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(syntax.QuoteValue(v))
		}
		if more := len(t.Values) - len(named); more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
	}
	if !f.After.IsZero() {
		word("after:", f.After.UTC().Format(time.RFC3339Nano))
	}
	if !f.Before.IsZero() {
		word("before:", f.Before.UTC().Format(time.RFC3339Nano))
	}
	return b.String()
}
