// This file defines documents and queries, the input of the index.

package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// OneTF is the TF of a term that occurs once in plain text, and the length that each word
// adds to Len. Frequencies and lengths are in sixteenths, so that words of a field can have
// a higher or lower weight.
const OneTF = 16

// A Term is a term of a document.
type Term struct {
	Text string
	TF   uint16 // frequency in sixteenths: [OneTF] for each occurrence in plain text
}

// TermNumbers maps an analyzer's term numbers to the term numbers of an index that is being
// filled, so that [Index.FillEmpty] looks up each text only once. The zero value is ready to
// use. It must not be used with several analyzers or concurrent Fills.
type TermNumbers struct {
	indexNumbers []uint32 // numbers of the terms in the index plus 1, by the analyzer's number
	owner        any      // the builder or index to which the numbers belong
}

// indexNumber returns the number of the term in the index plus 1, or 0 if it is unknown.
func (k *TermNumbers) indexNumber(number uint32) uint32 {
	if int(number) >= len(k.indexNumbers) {
		return 0
	}
	return k.indexNumbers[number]
}

// setIndexNumber records the number of a term in the index.
func (k *TermNumbers) setIndexNumber(number, term uint32) {
	for int(number) >= len(k.indexNumbers) {
		k.indexNumbers = append(k.indexNumbers, 0)
	}
	k.indexNumbers[number] = term + 1
}

// A Document is a set of weighted terms with an ID. Terms may be in any order. If a term
// occurs twice, its TFs are added, up to a maximum of 65,535. Terms with TF 0 are ignored.
// A document without terms is stored but never found by Search. It counts in N and avgdl
// only if [Params.CountEmpty] is set.
type Document struct {
	ID      uint64
	Terms   []Term
	Len     uint32 // document length dl, in sixteenths
	Created int64  // time for [Query.CreatedRange]
	Updated int64  // among hits with equal scores, the larger value comes first
	Data    any    // data of the caller, with the same type in all documents (see [Searcher.Data])

	// Known, if not nil, maps Numbers, the analyzer's numbers of the first len(Numbers)
	// Terms.
	Known   *TermNumbers
	Numbers []uint32
}

// DocumentOfWords returns the document of a plain text with these words.
func DocumentOfWords(id uint64, words []string) Document {
	d := Document{ID: id}
	d.SetWords(words)
	return d
}

// SetWords sets the terms and length of d as for a plain text with these words.
func (d *Document) SetWords(words []string) {
	d.Terms = d.Terms[:0]
	d.Numbers = d.Numbers[:0]
	d.Len = OneTF * uint32(len(words))
	for _, w := range words {
		d.Terms = append(d.Terms, Term{Text: w, TF: OneTF})
	}
}

// distinctTerms returns the distinct terms of the document with TF above 0, sorted.
func (d *Document) distinctTerms() []string {
	texts := make([]string, 0, len(d.Terms))
	for _, t := range d.Terms {
		if t.TF > 0 {
			texts = append(texts, t.Text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// A Change adds or replaces a document, or deletes the document with this ID if Document is
// nil.
type Change struct {
	ID       uint64
	Document *Document

	// Old, if not nil, is the indexed document with this ID. With it, the time to remove
	// the document depends only on the document's number of terms (see
	// [Searcher.NeedsOld]).
	Old *Document
}

// A QueryTerm is a term to search for.
type QueryTerm struct {
	Text   string
	Weight float64 // factor for the term's score (0 means 1)
	Prior  Prior
}

// Prior is knowledge about a term's frequency in its language: DF out of N texts contain
// the term. DF must be from 0 to N. Both are added to the index's own counts when the
// term's idf is computed, because the counts of a small index say little about how rare a
// word is. See smoothing by a collection in Zhai and Lafferty, "A Study of Smoothing
// Methods for Language Models Applied to Information Retrieval", 2004.
type Prior struct{ N, DF float64 }

// A Query has the parameters of [Searcher.Search]. If a term occurs twice, the larger
// weight is used. Terms with a negative, infinite or NaN weight are ignored.
type Query struct {
	Terms []QueryTerm
	Limit int // maximum number of hits (if it is less than 1, Search finds nothing)

	// AcceptDocument, if not nil, reports whether a document may be a hit. It does not affect
	// scores. It is called in any order, and only for documents that would otherwise be
	// among the hits found so far.
	AcceptDocument func(id uint64) bool

	// Conditions has conditions. A hit must meet all conditions. Conditions do not affect scores. The
	// index evaluates the conditions itself, so they are fast even if many documents meet them.
	Conditions   []TermCondition
	CreatedRange *TimeRange // if not nil, Created of a hit must be in this range

	// ScoreFactor, if not nil, returns a factor for a document's score, which must be above 0 and at
	// most 1. The index calls ScoreFactor in the same way as AcceptDocument.
	ScoreFactor func(id uint64) float64
}

// TermsForWords returns query terms with weight 1 for these words.
func TermsForWords(words []string) []QueryTerm {
	terms := make([]QueryTerm, len(words))
	for i, w := range words {
		terms[i] = QueryTerm{Text: w, Weight: 1}
	}
	return terms
}

// distinctTerms appends the valid terms to dst, which must be empty. The result is sorted and
// has each term once.
func distinctTerms(dst, terms []QueryTerm) []QueryTerm {
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

// A TermCondition is a condition: the document must have at least one term or, if IsNegated is set,
// none.
type TermCondition struct {
	Terms     []string
	IsNegated bool
}

// A TimeRange is a span of time that includes First and Last.
type TimeRange struct{ First, Last int64 }

func (t *TimeRange) containsTime(at int64) bool { return at >= t.First && at <= t.Last }
