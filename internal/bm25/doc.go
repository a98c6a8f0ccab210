// This file holds what the index is given: documents and queries.

package bm25

import (
	"cmp"
	"math"
	"slices"
)

// One is the TF of a term that stands once in a plain text, and what each word
// of it adds to the Len of the document: frequencies and lengths are counted in
// sixteenths, so that a field may weigh more or less than the text.
const One = 16

// Term is a term of a document.
type Term struct {
	Text string
	TF   uint16 // in sixteenths: [One] for each time it stands in plain text
}

// Doc is a document to put into the index. Terms may come in any order. The TF
// of a term that comes twice is added up, and saturates at 65,535; a term of
// TF 0 is left out.
type Doc struct {
	Terms []Term
	Len   uint32 // dl, in sixteenths
	Time  int64  // what [Query.Times] is about
}

// Words returns the document of a plain text of those words, each counted once
// for each time it comes.
func Words(words []string) Doc {
	d := Doc{Terms: make([]Term, 0, len(words))}
	SetWords(&d, words)
	return d
}

// SetWords makes d the document that [Words] returns, in the room that its
// Terms have.
func SetWords(d *Doc, words []string) {
	d.Terms, d.Len = d.Terms[:0], One*uint32(len(words))
	for _, w := range words {
		d.Terms = append(d.Terms, Term{w, One})
	}
}

// QueryTerm is a term that is looked for.
type QueryTerm struct {
	Text   string
	Weight float64 // the term's score is multiplied by it; 0 means 1
}

// Query is what [Index.Search] looks for. Of a term that comes twice, the
// largest weight counts. A term whose weight is negative or no finite number is
// left out.
type Query struct {
	Terms []QueryTerm
	Limit int // the most hits; none are found when it is less than 1

	// Allow, if not nil, says which documents may be found. It changes nobody's
	// score. It is asked in no particular order, only about documents that
	// would otherwise be among the hits found so far, and must not call the
	// index.
	Allow func(id uint64) bool

	// Where is conditions that a document must meet, all of them, to be found.
	// They change nobody's score. A search looks them up beside the terms, so
	// that they cost little, whoever meets them.
	Where []Clause
	Times *Times // if not nil, the Time of a document must be in it

	// Factor, if not nil, is what a document's score is multiplied by: above 0
	// and at most 1. It is asked as Allow is.
	Factor func(id uint64) float64
}

// Any returns the query's terms for plain words, all of weight 1.
func Any(words []string) []QueryTerm {
	terms := make([]QueryTerm, len(words))
	for i, w := range words {
		terms[i] = QueryTerm{w, 1}
	}
	return terms
}

// distinct appends the terms to dst, which is empty: sorted, without repeats
// and those that are left out.
func distinct(dst, terms []QueryTerm) []QueryTerm {
	for _, t := range terms {
		if t.Weight == 0 {
			t.Weight = 1
		}
		if t.Weight > 0 && t.Weight <= math.MaxFloat64 {
			dst = append(dst, t)
		}
	}
	slices.SortFunc(dst, func(a, b QueryTerm) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(b.Weight, a.Weight))
	})
	return slices.CompactFunc(dst, func(a, b QueryTerm) bool { return a.Text == b.Text })
}
