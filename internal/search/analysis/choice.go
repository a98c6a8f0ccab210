// This file defines Choice, a set of terms that a scan searches for.

package analysis

import (
	"maps"
	"slices"
	"strings"
)

// A Choice is an immutable set of terms.
type Choice struct {
	terms    map[string]bool
	prefixes []string
}

// NewChoice returns a set that contains the given terms and all terms that begin with
// a prefix.
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

// Has reports whether the term is in the set.
func (c *Choice) Has(term string) bool { return c.terms[term] || c.HasAll(term) }

// HasAll reports whether all terms with this prefix are in the set.
func (c *Choice) HasAll(prefix string) bool {
	// The prefixes are sorted and never contain each other, so only the last prefix that is
	// not greater than the given one can match.
	i, found := slices.BinarySearch(c.prefixes, prefix)
	return found || (i > 0 && strings.HasPrefix(prefix, c.prefixes[i-1]))
}

// Terms returns the terms that were passed to NewChoice, in any order.
func (c *Choice) Terms() []string    { return slices.Collect(maps.Keys(c.terms)) }
func (c *Choice) Prefixes() []string { return c.prefixes }
