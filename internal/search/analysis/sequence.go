// This file finds phrases, which are sequences of terms, in texts.

package analysis

import "context"

// A TermSequence is a sequence of terms that is searched for in texts (see [Analyzer.HasSequence]).
type TermSequence struct {
	terms []string
	// For each n below len(terms), the length of the longest sequence with which terms begins and terms[:n+1] ends, and
	// which is shorter than terms[:n+1]. A search uses it after a mismatch, as in the algorithm of Knuth, Morris and
	// Pratt. Therefore it reads each term of a text only once.
	borderLengths []int
}

// NewTermSequence returns a sequence of terms. There must be at least one term.
func NewTermSequence(terms []string) *TermSequence {
	q := &TermSequence{terms: terms, borderLengths: make([]int, len(terms))}
	for i, n := 1, 0; i < len(terms); i++ {
		n = nextMatchLength(terms, q.borderLengths, n, terms[i])
		q.borderLengths[i] = n
	}
	return q
}

// nextMatchLength returns the number of terms of a sequence that match the last terms of a text, after term has been
// read from the text. The argument n is the number of terms that matched before term was read. It must be less than the
// length of the sequence. The terms are texts or numbers. For borderLengths, see [TermSequence].
func nextMatchLength[T comparable](sequence []T, borderLengths []int, n int, term T) int {
	for sequence[n] != term {
		if n == 0 {
			return 0
		}
		n = borderLengths[n-1]
	}
	return n + 1
}

// PairHashes returns the hashes of the pairs of terms that follow each other in the sequence. A document that contains
// the sequence has all of them in [index.Document.PairHashes].
func (q *TermSequence) PairHashes() []uint32 {
	var hashes []uint32
	for i := 1; i < len(q.terms); i++ {
		hashes = append(hashes, hashTermPair(hashTerm(q.terms[i-1]), hashTerm(q.terms[i])))
	}
	return hashes
}

// hashTerm returns a hash of a term. It is never 0. Index files contain bits that depend on this function and on
// hashTermPair, so a change to either function needs a new index file format.
func hashTerm(term string) uint32 {
	h := uint64(14695981039346656037) // FNV-1a, as in package hash/fnv, but without the memory for a hash.Hash
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return uint32(h>>32) | 1
}

// hashTermPair returns a hash of two terms that follow each other.
func hashTermPair(first, second uint32) uint32 {
	h := (uint64(first)<<32 | uint64(second)) * 0x9e3779b97f4a7c15
	return uint32((h ^ h>>29) * 0xbf58476d1ce4e5b9 >> 32)
}

// HasSequence reports whether the terms of the sequence q occur in a text one after the other. As in the result of
// [Analyzer.TermSequence], terms that combine several words are left out. If ctx is done, HasSequence returns early.
func (a *Analyzer) HasSequence(ctx context.Context, s string, q *TermSequence) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.beginDocument()
	// Compare the numbers of the terms, because reading the texts of a document's terms from the cache takes longer.
	sequence := a.cache.appendTermNumbers(a.reusedTermNumbers[:0], q.terms)
	a.reusedTermNumbers = sequence
	n := 0
	w := contextChecker{ctx: ctx}
	for from, to := findNextChunk(s, 0); from < to && !w.isContextDoneAt(to); from, to = findNextChunk(s, to) {
		c := s[from:to]
		if len(c) <= maxCombinedTermBytes {
			if k := a.cache.findOrAnalyzeChunk(c); k.termCount == 1 {
				if !k.startsWithCombinedTerm {
					n = nextMatchLength(sequence, q.borderLengths, n, k.firstStoredTermNumber)
				}
				if n == len(sequence) {
					return true
				}
				continue
			}
		}
		for _, u := range a.cache.termsOfChunk(c) {
			if u.combinesWords {
				continue
			}
			n = nextMatchLength(sequence, q.borderLengths, n, u.termNumber)
			if n == len(sequence) {
				return true
			}
		}
	}
	return false
}
