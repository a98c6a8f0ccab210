// This file holds an index that knows some terms only.

package bm25

import (
	"errors"
	"maps"
	"slices"
	"strings"
)

// ErrPart is the error of an index that was asked about a term that it was not
// made for.
var ErrPart = errors.New("bm25: the index was not made for that term")

// Choice is some of all terms. It may be shared.
type Choice struct {
	terms    map[string]bool
	prefixes []string
}

// NewChoice returns those terms, and all that begin with one of the prefixes.
func NewChoice(terms, prefixes []string) *Choice {
	c := &Choice{terms: make(map[string]bool, len(terms)), prefixes: prefixes}
	for _, t := range terms {
		c.terms[t] = true
	}
	return c
}

// Has reports whether the term is one of them.
func (c *Choice) Has(term string) bool { return c.terms[term] || c.hasAll(term) }

// hasAll reports whether all terms that begin so are among them.
func (c *Choice) hasAll(prefix string) bool {
	return slices.ContainsFunc(c.prefixes, func(p string) bool { return strings.HasPrefix(prefix, p) })
}

// Terms returns the terms that were named, in no order, and Prefixes what all
// others begin with.
func (c *Choice) Terms() []string    { return slices.Collect(maps.Keys(c.terms)) }
func (c *Choice) Prefixes() []string { return c.prefixes }

// part is the terms that an index was made for, and what else it was asked
// about. The index's lock guards it.
type part struct {
	*Choice
	lacks    map[string]bool
	lacksAll map[string]bool // that begin so
}

// NewPart returns an empty index for those terms alone, with room for so many
// documents: of those it is told no other terms, but their whole length. What
// it answers about those terms is what an index of all terms answers. Asked
// about any other, [Index.Err] is ErrPart from then on, and [Index.Lacks] says
// which. Documents without terms count; the caller leaves out those that have
// none at all.
func NewPart(p Params, c *Choice, docs int) *Index {
	p.CountEmpty = true
	x := New(p)
	x.part = &part{Choice: c, lacks: map[string]bool{}, lacksAll: map[string]bool{}}
	x.docs, x.lens = make([]doc, 0, docs), make([]uint32, 0, docs)
	x.opened = true // some of what is asked about is not there
	return x
}

// Lacks returns the terms that an index of [NewPart] was asked about and was not
// made for, sorted, and the beginnings of terms likewise: it was asked about all
// terms that begin so.
func (x *Index) Lacks() (terms, prefixes []string) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.part == nil {
		return nil, nil
	}
	return slices.Sorted(maps.Keys(x.part.lacks)), slices.Sorted(maps.Keys(x.part.lacksAll))
}

// needPart is needFor of an index of [NewPart].
func (x *Index) needPart(terms []QueryTerm) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range terms {
		if !x.part.Has(t.Text) {
			x.part.lacks[t.Text] = true
			x.err = ErrPart
		}
	}
}

// needAllPart is needBeginning of an index of [NewPart]. The caller holds the
// lock exclusively.
func (x *Index) needAllPart(prefix string) {
	if !x.part.hasAll(prefix) {
		x.part.lacksAll[prefix] = true
		x.err = ErrPart
	}
}
