// Package ownindex puts the index under the measurement of a search: the ways to
// fill it, and the ways to ask it. It names no other package of the module, so
// that a copy of it can be built over another version of the index.
package ownindex

import (
	"bytes"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// Ways are the ways to ask, by name:
//
//	plain     any of the words, in one segment
//	held      of the documents that hold a term, one in ten
//	rare      of the documents that hold a term, one in a hundred
//	lacked    of those that do not hold the first of these terms
//	newest    of those of the last tenth of time
//	allowed   of those that a function allows, one in two
//	prefix    plain, and any of the terms that begin as the last word does
//	opened    plain, of an index that was opened from its snapshot
//	worn      plain, of several segments with deletions and a memtable
var Ways = []string{"plain", "held", "rare", "lacked", "newest", "allowed", "prefix", "opened", "worn"}

// Texts are what an index is filled with: so many texts, and the words of each.
type Texts struct {
	N     int
	Words func(i int) []string
}

// Hit is a text that was found, by its number.
type Hit struct {
	Number uint64
	Score  float64
}

// Engine is the index, filled for one way to ask.
type Engine struct {
	way string
	n   uint64
	x   *index.Searcher

	begin map[string][]string // terms by prefix: who looks for them is not measured
}

// A prefix is the first prefixBytes of a word, and stands for at most
// prefixTerms.
const (
	prefixBytes = 4
	prefixTerms = 40
)

// terms returns terms with the prefix of a word, the first in their order.
func (e *Engine) terms(word string) []string {
	prefix := word[:min(len(word), prefixBytes)]
	terms, ok := e.begin[prefix]
	if !ok {
		for t := range e.x.Terms(prefix) {
			terms = append(terms, t)
		}
		slices.Sort(terms)
		terms = terms[:min(len(terms), prefixTerms)]
		e.begin[prefix] = terms
	}
	return terms
}

const (
	inTen     = "\x00ten"
	inHundred = "\x00hundred"
)

// memory is a file in memory.
type memory []byte

// WriteAt implements [io.WriterAt].
func (f *memory) WriteAt(b []byte, at int64) (int, error) {
	if more := int(at) + len(b) - len(*f); more > 0 {
		*f = append(*f, make([]byte, more)...)
	}
	return copy((*f)[at:], b), nil
}

// document returns the document of a text.
func (t Texts) document(i int) *index.Document {
	d := index.Words(uint64(i), t.Words(i))
	d.Created = int64(i)
	if i%10 == 3 {
		d.Terms = append(d.Terms, index.Term{Text: inTen, TF: 1})
	}
	if i%100 == 7 {
		d.Terms = append(d.Terms, index.Term{Text: inHundred, TF: 1})
	}
	return &d
}

// New fills an index for a way to ask.
func New(t Texts, way string) (*Engine, error) {
	e := &Engine{way: way, n: uint64(t.N), begin: map[string][]string{}}
	x := index.New(index.Params{})
	first := t.N
	if way == "worn" {
		first = t.N * 7 / 8
	}
	x.Fill(func(yield func(*index.Document) bool) {
		for i := range first {
			if !yield(t.document(i)) {
				return
			}
		}
	}, nil)
	switch way {
	case "worn":
		wear(x, t, first)
	case "opened":
		var f memory
		size, err := x.Searcher().WriteSnapshot(&f, 0)
		if err != nil {
			return nil, err
		}
		x, err = index.OpenSnapshot(bytes.NewReader(f), size, index.Params{})
		if err != nil {
			return nil, err
		}
	}
	e.x = x.Searcher()
	return e, nil
}

// wear puts the texts from the first on, some hundred at a time and the last one
// by one, and deletes every eleventh of all.
func wear(x *index.Index, t Texts, first int) {
	var some []index.Change
	for i := first; i < t.N-20; i++ {
		some = append(some, index.Change{ID: uint64(i), Document: t.document(i)})
		if len(some) == 500 {
			x.Apply(some...)
			some = nil
		}
	}
	for i := 0; i < t.N; i += 11 {
		some = append(some, index.Change{ID: uint64(i)})
	}
	x.Apply(some...)
	x.Wait()
	for i := max(first, t.N-20); i < t.N; i++ {
		x.Put(*t.document(i))
	}
	x.Wait()
}

// Search returns how many texts it found, at most limit.
func (e *Engine) Search(words []string, limit int) int { return len(e.x.Search(e.query(words, limit))) }

// Hits returns what Search finds.
func (e *Engine) Hits(words []string, limit int) []Hit {
	var hits []Hit
	for _, h := range e.x.Search(e.query(words, limit)) {
		hits = append(hits, Hit{h.ID, h.Score})
	}
	return hits
}

func (e *Engine) query(words []string, limit int) index.Query {
	q := index.Query{Terms: index.Any(words), Limit: limit}
	switch e.way {
	case "prefix":
		q.Terms = append(q.Terms, index.Any(e.terms(words[len(words)-1]))...)
	case "held":
		q.Filter = []index.Clause{{Terms: []string{inTen}}}
	case "rare":
		q.Filter = []index.Clause{{Terms: []string{inHundred}}}
	case "lacked":
		q.Filter = []index.Clause{{Terms: []string{inTen}, Not: true}}
	case "newest":
		q.Range = &index.Range{From: int64(e.n - e.n/10), To: int64(e.n)}
	case "allowed":
		q.Accept = func(id uint64) bool { return id%2 == 0 }
	}
	return q
}
