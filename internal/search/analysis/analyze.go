// This file converts an entry's fields to the terms of a document.

package analysis

import (
	"context"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/search/index"
)

// A Field is a part of a document with its own weight.
type Field struct {
	Name   string
	Text   string
	Weight uint32 // weight of each word in this field, in sixteenths (16 is the normal weight)
}

// An Analyzer converts text to terms. It caches the terms of the analyzed chunks (words and compounds), because a
// look-up in the cache is faster than stemming. An Analyzer is safe for concurrent use.
type Analyzer struct {
	mu              sync.Mutex
	cache           chunkTermCache
	currentDocument uint64 // number of the document that is being analyzed (see term.currentDocument)
	// hash of the previous term in the field that is being analyzed, or 0 before the first term. Combined terms do not
	// count.
	previousTermHash uint32
	// memory for the numbers of the terms for which a text is searched
	reusedTermNumbers []uint32
}

// initialCacheSlots is the initial size of the cache's hash table. It is large enough for the words of a few texts.
const initialCacheSlots = 1 << 10

// NewAnalyzer returns an analyzer with an empty cache.
func NewAnalyzer() *Analyzer {
	return &Analyzer{cache: newChunkTermCache(TermOfWord, initialCacheSlots)}
}

// beginDocument prepares the analyzer for a new document. Only beginDocument empties the cache, because an unfinished
// document refers to terms in the cache.
func (a *Analyzer) beginDocument() {
	if a.cache.isFull() {
		a.cache.removeAll()
	}
	a.currentDocument++
}

// SetDoc sets the fields of d so that d describes the text in fields. It stores the terms in fields in d.Terms and
// d.AnalyzerTermNumbers, and a hash for each pair of consecutive words of a field in d.PairHashes. Each word counts
// with the weight of its field. A name such as getUserName also adds a joined term (getusername), which does not count
// for the document's length. SetDoc reuses the memory of d. If ctx is done, SetDoc returns early, and the caller must
// not use d.
func (a *Analyzer) SetDoc(ctx context.Context, d *index.Document, fields []Field) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.beginDocument()
	d.Terms = d.Terms[:0]
	d.AnalyzerTermNumbers = d.AnalyzerTermNumbers[:0]
	d.TermNumberCache = a.cache.indexTermNumbers
	d.PairHashes = d.PairHashes[:0]
	d.WeightedLength = 0
	for i := range fields {
		a.previousTermHash = 0
		f := &fields[i]
		s, w := f.Text, contextChecker{ctx: ctx}
		for from, to := findNextChunk(s, 0); from < to && !w.isContextDoneAt(to); from, to = findNextChunk(s, to) {
			c := s[from:to]
			if len(c) <= maxCombinedTermBytes {
				if k := a.cache.findOrAnalyzeChunk(c); k.termCount == 1 {
					a.addTermOccurrence(d, k.firstStoredTermNumber, k.startsWithCombinedTerm, f.Weight)
					continue
				}
			}
			for _, u := range a.cache.termsOfChunk(c) {
				a.addTermOccurrence(d, u.termNumber, u.combinesWords, f.Weight)
			}
		}
	}
	// Keep each hash once. Otherwise a text that repeats few words would get many equal hashes.
	slices.Sort(d.PairHashes)
	d.PairHashes = slices.Compact(d.PairHashes)
}

// addTermOccurrence adds to the document d an occurrence of the term with the given number. The occurrence increases
// the term's frequency and the document's length by weight. The parameter isCombinedTerm must be true if the term
// combines several words, such as username in user-name. Such a term does not increase the document's length, because
// its words are counted separately.
func (a *Analyzer) addTermOccurrence(d *index.Document, termNumber uint32, isCombinedTerm bool, weight uint32) {
	t := &a.cache.terms[termNumber]
	if !isCombinedTerm {
		d.WeightedLength += weight
		if a.previousTermHash != 0 {
			d.PairHashes = append(d.PairHashes, hashTermPair(a.previousTermHash, t.hash))
		}
		a.previousTermHash = t.hash
	}
	if t.documentNumber != a.currentDocument {
		t.documentNumber, t.documentIndex = a.currentDocument, len(d.Terms)
		d.Terms = append(d.Terms, index.Term{Text: t.text})
		d.AnalyzerTermNumbers = append(d.AnalyzerTermNumbers, termNumber)
	}
	n := &d.Terms[t.documentIndex].Frequency
	*n = uint16(min(uint32(*n)+weight, 1<<16-1))
}
