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
		n = q.nextMatchLength(n, terms[i])
		q.borderLengths[i] = n
	}
	return q
}

// nextMatchLength returns how many terms of the sequence match the end of a text after a further term of the text was
// read. The argument n is this number before the term was read. It must be less than the length of the sequence.
func (q *TermSequence) nextMatchLength(n int, term string) int {
	for q.terms[n] != term {
		if n == 0 {
			return 0
		}
		n = q.borderLengths[n-1]
	}
	return n + 1
}

// HasSequence reports whether the terms of the sequence q occur in a text one after the other. As in the result of
// [Analyzer.TermSequence], terms that combine several words are left out. If ctx is done, HasSequence returns early.
func (a *Analyzer) HasSequence(ctx context.Context, s string, q *TermSequence) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.beginDocument()
	n := 0
	w := contextChecker{ctx: ctx}
	for from, to := findNextChunk(s, 0); from < to && !w.isContextDoneAt(to); from, to = findNextChunk(s, to) {
		for _, u := range a.cache.termsOfChunk(s[from:to]) {
			if u.isCombined {
				continue
			}
			n = q.nextMatchLength(n, u.text)
			if n == len(q.terms) {
				return true
			}
		}
	}
	return false
}
