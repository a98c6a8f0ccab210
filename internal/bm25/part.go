// This file holds an index that knows some terms only.

package bm25

import (
	"errors"
	"maps"
	"slices"
)

// ErrPart is the error of an index that was asked about a term that it was not
// made for.
var ErrPart = errors.New("bm25: the index was not made for that term")

// part is the terms that an index was made for, and what else it was asked
// about. The index's lock guards it.
type part struct {
	has   map[string]bool
	lacks map[string]bool
	all   bool // it was asked about all terms
}

// NewPart returns an empty index for those terms alone, with room for so many
// documents: of those it is told
// no others, but their whole length. What it answers about those terms is what
// an index of all terms answers. Asked about any other, [Index.Err] is ErrPart
// from then on, and [Index.Lacks] says which. Documents without terms count; the
// caller leaves out those that have none at all.
func NewPart(p Params, terms []string, docs int) *Index {
	p.CountEmpty = true
	x := New(p)
	x.part = &part{has: make(map[string]bool, len(terms)), lacks: map[string]bool{}}
	for _, t := range terms {
		x.part.has[t] = true
	}
	x.numbers = make(map[uint64]uint32, docs)
	x.docs, x.lens = make([]doc, 0, docs), make([]uint32, 0, docs)
	x.opened = true // some of what is asked about is not there
	return x
}

// Lacks returns the terms, sorted, that an index of [NewPart] was asked about
// and was not made for. All is true when it was asked about all terms that
// there are.
func (x *Index) Lacks() (terms []string, all bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.part == nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(x.part.lacks)), x.part.all
}

// needPart is needFor of an index of [NewPart].
func (x *Index) needPart(terms []QueryTerm) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, t := range terms {
		if !x.part.has[t.Text] {
			x.part.lacks[t.Text] = true
			x.err = ErrPart
		}
	}
}

// wantAll notes that an index of [NewPart] was asked about all terms. The caller
// holds the lock exclusively.
func (x *Index) wantAll() { x.part.all, x.err = true, ErrPart }
