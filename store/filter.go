// Filters: which entries are considered, before any ranking.

package store

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/syntax"
)

// Filter selects entries. The zero Filter selects all. All its parts must hold.
type Filter struct {
	Terms  []Term
	After  time.Time // created at or after; zero means no bound
	Before time.Time // created before; zero means no bound
}

// Term is one condition of a [Filter]: the entry has, under Key, one of the
// Values; with Not, it has none of them.
//
// Key is a label key, or one of the words kind, name (an exact name or
// alias), by (the actor that wrote the current version), door, has (a label key)
// and trust (see [Trust]). Under
// confidence, a value is the least confidence wanted. An entry without a label
// of that key does not have the value. Values that differ in their Unicode composition only
// are one value; see [SameName].
type Term struct {
	Key    string
	Values []string
	Not    bool
}

// IsZero reports whether the filter selects everything.
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
		if t.match(e) == t.Not {
			return false
		}
	}
	return true
}

func (t Term) match(e *Entry) bool {
	return slices.ContainsFunc(t.Values, func(v string) bool { return t.has(e, v) })
}

func (t Term) has(e *Entry, v string) bool {
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

// And returns the filter that selects what both select.
func (f Filter) And(g Filter) Filter {
	r := Filter{Terms: slices.Concat(f.Terms, g.Terms), After: f.After, Before: f.Before}
	if r.After.IsZero() || g.After.After(r.After) {
		r.After = g.After
	}
	if r.Before.IsZero() || (!g.Before.IsZero() && g.Before.Before(r.Before)) {
		r.Before = g.Before
	}
	return r
}

// Parts returns the filter cut into its conditions, each a filter of its own.
func (f Filter) Parts() []Filter {
	var ps []Filter
	for _, t := range f.Terms {
		ps = append(ps, Filter{Terms: []Term{t}})
	}
	if !f.After.IsZero() {
		ps = append(ps, Filter{After: f.After})
	}
	if !f.Before.IsZero() {
		ps = append(ps, Filter{Before: f.Before})
	}
	return ps
}

// String returns the filter in the language that package query reads. Parsing
// it, in any time zone, gives the same filter, if it holds only what a filter
// can say: terms with values, labels that [Label.Check] accepts, and dates of
// the years 1 to 9999.
func (f Filter) String() string { return f.text(math.MaxInt) }

// maxNamed is how many values of a term a sentence names.
const maxNamed = 3

// Brief returns the filter for a sentence: of a term with many values it names the first
// few and says how many more there are.
func (f Filter) Brief() string { return f.text(maxNamed) }

// text returns the filter with at most so many values of each term.
func (f Filter) text(most int) string {
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
		named := t.Values[:min(len(t.Values), most)]
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
