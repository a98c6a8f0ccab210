// This file converts an entry's fields to a document's terms, and questions to terms.

package analysis

import (
	"context"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// A Field is a part of a document.
type Field struct {
	Name   string
	Text   string
	Weight uint32 // weight of a word, in sixteenths
}

// An Analyzer converts text to terms. It caches the terms of chunks (words and
// compounds) that it has seen, because a look-up is faster than stemming. It is safe
// for concurrent use.
type Analyzer struct {
	mu    sync.Mutex
	known known
	stamp uint64 // number of the document that is being analyzed
}

// fewSlots is the initial table size, enough for the words of a few texts.
const fewSlots = 1 << 10

// NewAnalyzer returns an analyzer with an empty cache.
func NewAnalyzer() *Analyzer { return &Analyzer{known: newKnown(Root, fewSlots)} }

// begin prepares the analyzer for a new document. The cache is emptied only here, because
// the terms of a document in progress refer to it.
func (a *Analyzer) begin() {
	if a.known.full() {
		a.known.empty()
	}
	a.stamp++
}

// watch checks a context after every [maxChunk] bytes of a text.
type watch struct {
	ctx  context.Context
	next int // offset in the text of the next check
}

// done reports whether the context is done. It checks the context only if enough text was
// processed since the last check.
func (w *watch) done(at int) bool {
	if at < w.next {
		return false
	}
	w.next = at + maxChunk
	return w.ctx.Err() != nil
}

// SetDoc sets d to the document with these fields. Each word counts with the weight of its
// field. Wholes, such as getusername for getUserName (see the package documentation), are
// terms too, but do not add to the length. SetDoc reuses the memory of d.Terms. If ctx is
// done, it returns early and d must not be used.
func (a *Analyzer) SetDoc(ctx context.Context, d *index.Document, fields []Field) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	d.Terms = d.Terms[:0]
	d.Numbers = d.Numbers[:0]
	d.Known = a.known.inIndex
	d.Len = 0
	for i := range fields {
		f := &fields[i]
		s, w := f.Text, watch{ctx: ctx}
		for from, to := chunk(s, 0); from < to && !w.done(to); from, to = chunk(s, to) {
			c := s[from:to]
			if len(c) <= maxWhole {
				if k := a.known.find(c); k.units == 1 {
					a.count(d, k.term, k.whole, f.Weight)
					continue
				}
			}
			for _, u := range a.known.unitsOf(c) {
				a.count(d, u.term, u.whole, f.Weight)
			}
		}
	}
}

// count adds an occurrence of a term to d.
func (a *Analyzer) count(d *index.Document, number uint32, whole bool, weight uint32) {
	if !whole {
		d.Len += weight
	}
	t := &a.known.terms[number]
	if t.stamp != a.stamp {
		t.stamp, t.at = a.stamp, len(d.Terms)
		d.Terms = append(d.Terms, index.Term{Text: t.text})
		d.Numbers = append(d.Numbers, number)
	}
	n := &d.Terms[t.at].TF
	*n = uint16(min(uint32(*n)+weight, 1<<16-1))
}

// Count returns for each term how often it occurs in the text, including wholes. If ctx
// is done, it returns early.
func (a *Analyzer) Count(ctx context.Context, text string, terms []string) []int {
	n, place := make([]int, len(terms)), make(map[string]int, len(terms))
	for i, t := range terms {
		place[t] = i
	}
	a.each(ctx, text, func(us []unit) {
		for _, u := range us {
			if i, ok := place[u.text]; ok {
				n[i]++
			}
		}
	})
	return n
}

// each calls fn with the units of each chunk in the text, until ctx is done.
func (a *Analyzer) each(ctx context.Context, s string, fn func([]unit)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin()
	w := watch{ctx: ctx}
	for from, to := chunk(s, 0); from < to && !w.done(to); from, to = chunk(s, to) {
		fn(a.known.unitsOf(s[from:to]))
	}
}

// Sequence returns the terms of a text's words in order, without wholes. Phrases are
// compared by this sequence. If ctx is done, it returns early.
func (a *Analyzer) Sequence(ctx context.Context, s string) []string {
	var ts []string
	a.each(ctx, s, func(us []unit) {
		for _, u := range us {
			if !u.whole {
				ts = append(ts, u.text)
			}
		}
	})
	return ts
}

// A Word is a term of a question.
type Word struct {
	Term string
	Word string // the word as written, but in lower case and folded (see [Fold])
	N    int    // number of occurrences in the question
}

// Question returns the distinct terms of a question in order, without stop words. If the
// question has only stop words, it returns those and sets only. If ctx is done, it returns
// early.
func (a *Analyzer) Question(ctx context.Context, s string) (words []Word, only bool) {
	var stop []Word
	var at map[string]int // index in words by term (nil while words is short)
	find := func(term string) int {
		if len(words) <= fewUnits {
			return slices.IndexFunc(words, func(w Word) bool { return w.Term == term })
		}
		if at == nil {
			at = map[string]int{}
			for i := range words {
				at[words[i].Term] = i
			}
		}
		if i, seen := at[term]; seen {
			return i
		}
		at[term] = len(words)
		return -1
	}
	add := func(w Word) {
		i := find(w.Term)
		if i < 0 {
			i = len(words)
			words = append(words, w)
		}
		words[i].N++
	}
	a.each(ctx, s, func(us []unit) {
		for _, u := range us {
			if w := (Word{Term: u.text, Word: u.word}); u.stop {
				stop = append(stop, w)
			} else {
				add(w)
			}
		}
	})
	if len(words) > 0 || len(stop) == 0 {
		return words, false
	}
	for _, w := range stop {
		add(w)
	}
	return words, true
}
