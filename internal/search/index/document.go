// This file defines documents, changes and queries, which are the inputs of the index.

package index

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// FrequencyPerOccurrence is the frequency of a term that occurs once in plain text, and the length that each word adds
// to [Document.WeightedLength]. Frequencies and lengths are in sixteenths, so that the words of a field can count more
// or less than others.
const FrequencyPerOccurrence = 16

// A Term is a word in a document, with its frequency.
type Term struct {
	Text      string
	Frequency uint16 // term frequency in sixteenths: [FrequencyPerOccurrence] for each occurrence in plain text
}

// TermNumberCache maps an analyzer's term numbers to the term numbers of an index that is being filled. Therefore
// [Index.FillEmptyIndex] looks up the text of each term only once. The zero value is ready to use. Do not use a
// TermNumberCache for several analyzers or for several fills at the same time.
type TermNumberCache struct {
	// number of a term in the index, plus 1 (0 if not known yet), by the number that the analyzer has for the term
	indexTermNumbers []uint32
	numberingBuilder any // the builder that assigned the term numbers in indexTermNumbers
}

// indexTermNumber returns the index's number of a term, plus 1. The argument analyzerTermNumber is the analyzer's
// number of this term. The result is 0 if the index's number is not known yet.
func (k *TermNumberCache) indexTermNumber(analyzerTermNumber uint32) uint32 {
	if int(analyzerTermNumber) >= len(k.indexTermNumbers) {
		return 0
	}
	return k.indexTermNumbers[analyzerTermNumber]
}

// setIndexTermNumber records which number a term has in the index. The parameter analyzerTermNumber is the number that
// the analyzer uses for the term, and the parameter indexTermNumber is its number in the index.
func (k *TermNumberCache) setIndexTermNumber(analyzerTermNumber, indexTermNumber uint32) {
	for int(analyzerTermNumber) >= len(k.indexTermNumbers) {
		k.indexTermNumbers = append(k.indexTermNumbers, 0)
	}
	k.indexTermNumbers[analyzerTermNumber] = indexTermNumber + 1
}

// A Document is a set of weighted terms with an ID. The terms may be in any order. If a term occurs twice, its
// frequencies are added, up to 65,535. Terms with frequency 0 are ignored.
//
// A document without terms is stored but never found by Search. It counts in the number of documents and in the
// average length only if [Params.CountEmptyDocuments] is set.
type Document struct {
	ID    uint64
	Terms []Term
	// Length of the document. It is usually the number of words times [FrequencyPerOccurrence], but a word in a short
	// field can count more.
	WeightedLength uint32
	Created        int64 // creation time, for [Query.CreatedRange]
	Updated        int64 // time of the last change; among hits with equal scores, the newest comes first
	// hash of each pair of words that follow each other in a field of the text, in any order and possibly repeated. It
	// is nil if the pairs are not known. See [DocumentCheck.PairHashes].
	PairHashes []uint32
	Data       any // the caller's data, of the same type in all documents (see [TermScores.DocumentData])

	// TermNumberCache and AnalyzerTermNumbers make FillEmptyIndex faster. Both can be set by an analyzer that has its
	// own number for each term. AnalyzerTermNumbers contains these numbers for the first len(AnalyzerTermNumbers)
	// elements of Terms. TermNumberCache caches, for each number of the analyzer, the term number that the index uses.
	TermNumberCache     *TermNumberCache
	AnalyzerTermNumbers []uint32
}

// DocumentOfWords returns a document for the index that represents a plain text with these words.
func DocumentOfWords(id uint64, words []string) Document {
	d := Document{ID: id}
	d.SetWords(words)
	return d
}

// SetWords sets d's terms and length to the values for a plain text with these words.
func (d *Document) SetWords(words []string) {
	d.Terms = d.Terms[:0]
	d.AnalyzerTermNumbers = d.AnalyzerTermNumbers[:0]
	d.PairHashes = nil
	d.WeightedLength = FrequencyPerOccurrence * uint32(len(words))
	for _, w := range words {
		d.Terms = append(d.Terms, Term{Text: w, Frequency: FrequencyPerOccurrence})
	}
}

// distinctTerms returns the texts of the document's terms whose frequency is above 0, sorted and without duplicates.
func (d *Document) distinctTerms() []string {
	texts := make([]string, 0, len(d.Terms))
	for _, t := range d.Terms {
		if t.Frequency > 0 {
			texts = append(texts, t.Text)
		}
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// A Change adds or replaces a document. If Document is nil, it deletes the document with this ID.
type Change struct {
	ID       uint64
	Document *Document

	// Old is the document with this ID as it was indexed, or nil. If Old is set, its terms are known, so removing the
	// document does not require a search through a whole segment (see [Searcher.NeedsOldDocument]).
	Old *Document
}

// A QueryTerm is a word to search for.
type QueryTerm struct {
	Text           string
	Weight         float64 // factor of the term's score (0 means 1)
	PriorFrequency FrequencyInLanguage
}

// FrequencyInLanguage contains how frequent a term is in its language: DF of N texts contain the term. DF must be from
// 0 to N. A small index shows little about how rare a word is. Therefore N is added to the number of documents in the
// index, and DF to the number that contain the term, when the term's idf is computed. See smoothing by a collection in
// Zhai and Lafferty, "A Study of Smoothing Methods for Language Models Applied to Information Retrieval", 2004.
type FrequencyInLanguage struct{ N, DF float64 }

// A Query contains the parameters of a search. If a term occurs twice, the larger weight counts. Terms with a
// negative, infinite or NaN weight are ignored.
type Query struct {
	Terms []QueryTerm
	Limit int // maximum number of hits (Search finds nothing if it is less than 1)

	// AcceptDocument reports whether a document may be a hit. If it is nil, each document may. It does not affect
	// scores. It is called in any order, and only for documents that would otherwise be among the best hits found so
	// far.
	AcceptDocument func(id uint64) bool

	// Checks are further conditions that a hit must meet. They do not affect scores.
	Checks []DocumentCheck

	// A hit must meet all Conditions, which do not affect scores. The index evaluates conditions itself, so this is
	// fast even if many documents meet them.
	Conditions   []TermCondition
	CreatedRange *TimeRange // if not nil, the field Created of a hit must be in this range

	// ScoreFactor returns a factor for the score of a document. The factor must be above 0 and at most 1. If
	// ScoreFactor is nil, scores are not changed. It is called in the same way as AcceptDocument.
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

// distinctTerms appends the valid terms to dst, which must be empty. A term is valid if its weight is positive and
// finite. A weight of 0 counts as 1. The result is sorted and contains each text once, with its highest weight.
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

// A TermCondition requires that a document contains at least one of the Terms. If IsNegated is set, the document must
// contain none of the Terms.
type TermCondition struct {
	Terms     []string
	IsNegated bool
}

// A DocumentCheck is a condition that the index cannot evaluate without the text of a document, for example that the
// text contains a phrase. The index excludes most documents that do not match. For the others, it calls a function of
// the caller.
type DocumentCheck struct {
	Terms []string // A document that matches contains all these terms.
	// A document that matches contains all these pairs of words, unless its [Document.PairHashes] are not known. The
	// index stores the pairs in a form in which it sometimes finds a pair that the document does not contain.
	PairHashes []uint32
	// Matches reports whether a document matches. It is called in the same way as [Query.AcceptDocument], and only for
	// documents that have the terms and, as far as the index can tell, the pairs.
	Matches func(id uint64) bool
	// IsNegated is set if a hit must not match. Otherwise, a hit must match.
	IsNegated bool
}

// A TimeRange is a range of times that includes both FirstTime and LastTime. The times have the same unit as
// [Document.Created]. Package ranking uses nanoseconds since 1970.
type TimeRange struct{ FirstTime, LastTime int64 }

func (t *TimeRange) containsTime(timestamp int64) bool {
	return timestamp >= t.FirstTime && timestamp <= t.LastTime
}
