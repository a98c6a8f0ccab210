// This file defines TermSet, the set of the terms that a scan searches for.

package analysis

import (
	"maps"
	"slices"
	"strings"
)

// A TermSet is an immutable set of terms.
type TermSet struct {
	terms    map[string]bool
	prefixes []string
}

// NewTermSet returns a set that contains the terms in the slice terms, and all terms that begin with a string in the
// slice prefixes.
func NewTermSet(terms, prefixes []string) *TermSet {
	c := &TermSet{terms: make(map[string]bool, len(terms))}
	for _, t := range terms {
		c.terms[t] = true
	}
	for _, p := range slices.Sorted(slices.Values(prefixes)) {
		if !c.HasAllWithPrefix(p) {
			c.prefixes = append(c.prefixes, p)
		}
	}
	return c
}

// Has reports whether the set contains the term. The term is in the set if it is an element of c.terms, or if it begins
// with a string in c.prefixes.
func (c *TermSet) Has(term string) bool { return c.terms[term] || c.HasAllWithPrefix(term) }

// HasAllWithPrefix reports whether all terms with this prefix are in the set.
func (c *TermSet) HasAllWithPrefix(prefix string) bool {
	// The list c.prefixes is sorted, and no element begins with another element. Therefore, the argument prefix can
	// only begin with the last element that sorts before it.
	i, found := slices.BinarySearch(c.prefixes, prefix)
	return found || (i > 0 && strings.HasPrefix(prefix, c.prefixes[i-1]))
}

// ListTerms returns the terms that were passed to NewTermSet, in an unspecified order.
func (c *TermSet) ListTerms() []string    { return slices.Collect(maps.Keys(c.terms)) }
func (c *TermSet) ListPrefixes() []string { return c.prefixes }
