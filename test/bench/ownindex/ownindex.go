// Package ownindex builds an index and searches it in several ways, to measure the speed of a search. Within the
// module, it imports only package index, so that a copy can be built with another version of that package.
package ownindex

import (
	"bytes"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// SearchVariants contains the names of the searches that are measured. Each search tests another part of the index:
//
//	plain     texts with any of the words, in one segment
//	held      plain, filtered by a term that one text in ten contains
//	rare      plain, filtered by a term that one text in a hundred contains
//	lacked    plain, without the texts that contain the term that the search named "held" filters by
//	newest    plain, limited to the newest tenth of the texts
//	allowed   plain, filtered by a function that accepts every second text
//	prefix    plain, and any of the terms that have a prefix in common with the last word
//	opened    plain, in an index that was opened from its snapshot
//	worn      plain, in an index that was changed: several segments, deleted texts, and new texts in memory
var SearchVariants = []string{"plain", "held", "rare", "lacked", "newest", "allowed", "prefix", "opened", "worn"}

// IndexedTexts contains the texts for an index: how many texts exist, and a function that returns the words of text i.
type IndexedTexts struct {
	Count   int
	WordsOf func(i int) []string
}

// Hit is a text that was found.
type Hit struct {
	TextNumber uint64
	Score      float64
}

// FilledIndex is a search index that contains all texts of the test, prepared for one of the compared ways to search.
type FilledIndex struct {
	searchVariant string
	textCount     uint64
	searcher      *index.Searcher

	termsByPrefix map[string][]string // terms by prefix, which are cached because finding them is not measured
}

// A search by prefix also finds words that begin like the last word of the query. The first prefixLength bytes of a
// found word must be the same as the first prefixLength bytes of the last word. At most maxTermsPerPrefix such words
// are searched.
const (
	prefixLength      = 4
	maxTermsPerPrefix = 40
)

// termsWithSamePrefix returns the first maxTermsPerPrefix terms, in alphabetical order, that have the same prefix as
// the word.
func (e *FilledIndex) termsWithSamePrefix(word string) []string {
	prefix := word[:min(len(word), prefixLength)]
	terms, ok := e.termsByPrefix[prefix]
	if !ok {
		for t := range e.searcher.TermsWithPrefix(prefix) {
			terms = append(terms, t)
		}
		slices.Sort(terms)
		terms = terms[:min(len(terms), maxTermsPerPrefix)]
		e.termsByPrefix[prefix] = terms
	}
	return terms
}

const (
	termInEveryTenthText     = "\x00ten"
	termInEveryHundredthText = "\x00hundred"
)

// inMemoryFile is a file in main memory.
type inMemoryFile []byte

// WriteAt implements [io.WriterAt].
func (f *inMemoryFile) WriteAt(b []byte, at int64) (int, error) {
	if more := int(at) + len(b) - len(*f); more > 0 {
		*f = append(*f, make([]byte, more)...)
	}
	return copy((*f)[at:], b), nil
}

// indexDocument returns the document of text i for the index.
func (t IndexedTexts) indexDocument(i int) *index.Document {
	d := index.DocumentOfWords(uint64(i), t.WordsOf(i))
	d.Created = int64(i)
	if i%10 == 3 {
		d.Terms = append(d.Terms, index.Term{Text: termInEveryTenthText, Frequency: 1})
	}
	if i%100 == 7 {
		d.Terms = append(d.Terms, index.Term{Text: termInEveryHundredthText, Frequency: 1})
	}
	return &d
}

// NewFilledIndex creates an index with the texts for one of the [SearchVariants]. For "opened", it writes a snapshot of
// the index and opens the index from this snapshot. For "worn", an eighth of the texts is added in small steps after
// the others, and some texts are deleted. The index then looks as after many changes.
func NewFilledIndex(texts IndexedTexts, searchVariant string) (*FilledIndex, error) {
	e := &FilledIndex{
		searchVariant: searchVariant,
		textCount:     uint64(texts.Count),
		termsByPrefix: map[string][]string{},
	}
	x := index.New(index.Params{})
	first := texts.Count
	if searchVariant == "worn" {
		first = texts.Count * 7 / 8
	}
	x.FillEmptyIndex(func(yield func(*index.Document) bool) {
		for i := range first {
			if !yield(texts.indexDocument(i)) {
				return
			}
		}
	}, nil)
	switch searchVariant {
	case "worn":
		addTextsInSegments(x, texts, first)
	case "opened":
		var f inMemoryFile
		size, err := x.Searcher().WriteSnapshot(&f, 0)
		if err != nil {
			return nil, err
		}
		x, err = index.OpenSnapshot(bytes.NewReader(f), size, index.Params{})
		if err != nil {
			return nil, err
		}
	}
	e.searcher = x.Searcher()
	return e, nil
}

// addTextsInSegments adds the texts to the index. The first text has the number firstText. It adds 500 texts at a time,
// up to the last 20 texts. Then it deletes every eleventh text, and adds the last 20 texts one by one.
func addTextsInSegments(x *index.Index, texts IndexedTexts, firstText int) {
	var some []index.Change
	for i := firstText; i < texts.Count-20; i++ {
		some = append(some, index.Change{ID: uint64(i), Document: texts.indexDocument(i)})
		if len(some) == 500 {
			x.Apply(some...)
			some = nil
		}
	}
	for i := 0; i < texts.Count; i += 11 {
		some = append(some, index.Change{ID: uint64(i)})
	}
	x.Apply(some...)
	x.WaitForMerges()
	for i := max(firstText, texts.Count-20); i < texts.Count; i++ {
		x.Put(*texts.indexDocument(i))
	}
	x.WaitForMerges()
}

// CountHits returns the number of texts that a search with this limit finds.
func (e *FilledIndex) CountHits(words []string, limit int) int {
	return len(e.searcher.Search(e.buildQuery(words, limit)))
}

// ListHits returns the texts that a search with this limit finds.
func (e *FilledIndex) ListHits(words []string, limit int) []Hit {
	var hits []Hit
	for _, h := range e.searcher.Search(e.buildQuery(words, limit)) {
		hits = append(hits, Hit{h.ID, h.Score})
	}
	return hits
}

func (e *FilledIndex) buildQuery(words []string, limit int) index.Query {
	q := index.Query{Terms: index.TermsForWords(words), Limit: limit}
	switch e.searchVariant {
	case "prefix":
		q.Terms = append(q.Terms, index.TermsForWords(e.termsWithSamePrefix(words[len(words)-1]))...)
	case "held":
		q.Conditions = []index.TermCondition{{Terms: []string{termInEveryTenthText}}}
	case "rare":
		q.Conditions = []index.TermCondition{{Terms: []string{termInEveryHundredthText}}}
	case "lacked":
		q.Conditions = []index.TermCondition{{Terms: []string{termInEveryTenthText}, IsNegated: true}}
	case "newest":
		q.CreatedRange = &index.TimeRange{FirstTime: int64(e.textCount - e.textCount/10), LastTime: int64(e.textCount)}
	case "allowed":
		q.AcceptDocument = func(id uint64) bool { return id%2 == 0 }
	}
	return q
}
