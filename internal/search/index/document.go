// Documents and queries: what the index is given.

package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
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

// Known is what an index knows of the texts that a maker of documents numbers:
// [Index.Fill] looks each of them up once. The zero value is ready for use by one
// maker and one Fill at a time.
type Known struct {
	terms []uint32 // their numbers in the index, plus 1, by number
	by    any      // the builder
}

// term returns the term of that number, plus 1, and 0 for one that is not known.
func (k *Known) term(number uint32) uint32 {
	if int(number) >= len(k.terms) {
		return 0
	}
	return k.terms[number]
}

// set notes the term of a number.
func (k *Known) set(number, term uint32) {
	for int(number) >= len(k.terms) {
		k.terms = append(k.terms, 0)
	}
	k.terms[number] = term + 1
}

// Document is what the index ranks. Terms may come in any order. The TF of a
// term that comes twice is added up, and saturates at 65,535; a term of TF 0 is
// left out. A document without terms is kept, is no hit of a search, and counts
// in N and avgdl only with [Params.CountEmpty].
type Document struct {
	ID      uint64
	Terms   []Term
	Len     uint32 // dl, in sixteenths
	Created int64  // what [Query.Range] is about
	Updated int64  // of equal scores, the larger comes first
	Data    any    // the caller's, of one type in all documents; see [Searcher.Data]

	// Known, if not nil, knows the texts of the first of Terms by Numbers.
	Known   *Known
	Numbers []uint32
}

// Words returns the document of a plain text of those words.
func Words(id uint64, words []string) Document {
	d := Document{ID: id}
	d.SetWords(words)
	return d
}

// SetWords sets the terms and the length of d to those of a plain text of those
// words, each counted once for each time it comes.
func (d *Document) SetWords(words []string) {
	d.Terms = d.Terms[:0]
	d.Numbers = d.Numbers[:0]
	d.Len = One * uint32(len(words))
	for _, w := range words {
		d.Terms = append(d.Terms, Term{Text: w, TF: One})
	}
}

// distinct returns the terms that the document is found by, each once.
func (d *Document) distinct() []string {
	texts := make([]string, 0, len(d.Terms))
	for _, t := range d.Terms {
		if t.TF > 0 {
			texts = append(texts, t.Text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// Change puts a document, or deletes the one of that ID when Document is nil.
type Change struct {
	ID       uint64
	Document *Document

	// Old, if not nil, is the document of that ID as the index has it. With it
	// the document is removed in the time of its terms; see [Searcher.NeedsOld].
	Old *Document
}

// QueryTerm is a term that is looked for.
type QueryTerm struct {
	Text   string
	Weight float64 // the term's score is multiplied by it; 0 means 1
	Prior  Prior
}

// Prior is what is known of a term before any document: in N documents of a
// language at large, DF hold it. Both are at least 0, and DF is at most N. They
// count in the term's idf next to those of the index, as pseudo-counts: in a small
// index, how often a word stands there says little of how rare it is (smoothing
// by a collection; Zhai and Lafferty, "A Study of Smoothing Methods for Language
// Models Applied to Information Retrieval", 2004).
type Prior struct{ N, DF float64 }

// Query is what [Searcher.Search] looks for. Of a term that comes twice, the
// largest weight counts. A term whose weight is negative or no finite number is
// left out.
type Query struct {
	Terms []QueryTerm
	Limit int // the most hits; none are found when it is less than 1

	// Accept, if not nil, says which documents may be found. It changes no
	// score. It is called in no particular order, only for documents that
	// would otherwise be among the hits found so far.
	Accept func(id uint64) bool

	// Filter is conditions that a document must meet, all of them, to be
	// found. They change no score. A search looks them up together with the
	// terms, so that they cost little, however many documents meet them.
	Filter []Clause
	Range  *Range // if not nil, the Created of a document must be in it

	// Factor, if not nil, is what a document's score is multiplied by: above 0
	// and at most 1. It is called as Accept is.
	Factor func(id uint64) float64
}

// Any returns the query's terms for plain words, all of weight 1.
func Any(words []string) []QueryTerm {
	terms := make([]QueryTerm, len(words))
	for i, w := range words {
		terms[i] = QueryTerm{Text: w, Weight: 1}
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
		if order := strings.Compare(a.Text, b.Text); order != 0 {
			return order
		}
		return cmp.Compare(b.Weight, a.Weight)
	})
	return slices.CompactFunc(dst, func(a, b QueryTerm) bool { return a.Text == b.Text })
}

// Clause is a condition on a document: it holds at least one of the terms or,
// with Not, none of them.
type Clause struct {
	Terms []string
	Not   bool
}

// Range is a span of time; both From and To are in it.
type Range struct{ From, To int64 }

func (t *Range) contains(at int64) bool { return at >= t.From && at <= t.To }
