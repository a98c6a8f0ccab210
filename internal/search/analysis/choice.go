// A choice of terms: those that a scan looks for.

package analysis

import (
	"maps"
	"slices"
	"strings"
)

// Choice is some of all terms. It never changes.
type Choice struct {
	terms    map[string]bool
	prefixes []string
}

// NewChoice returns those terms, and all that begin with one of the prefixes.
func NewChoice(terms, prefixes []string) *Choice {
	c := &Choice{terms: make(map[string]bool, len(terms))}
	for _, t := range terms {
		c.terms[t] = true
	}
	for _, p := range slices.Sorted(slices.Values(prefixes)) {
		if !c.HasAll(p) {
			c.prefixes = append(c.prefixes, p)
		}
	}
	return c
}

// Has reports whether the term is one of them.
func (c *Choice) Has(term string) bool { return c.terms[term] || c.HasAll(term) }

// HasAll reports whether all terms that begin so are among them.
func (c *Choice) HasAll(prefix string) bool {
	// They are sorted, and none begins with another: only the last that is not
	// larger can fit.
	i, found := slices.BinarySearch(c.prefixes, prefix)
	return found || (i > 0 && strings.HasPrefix(prefix, c.prefixes[i-1]))
}

// Terms returns the terms that were named, in no order, and Prefixes what all
// others begin with.
func (c *Choice) Terms() []string    { return slices.Collect(maps.Keys(c.terms)) }
func (c *Choice) Prefixes() []string { return c.prefixes }
