// This file analyzes a query's texts: the words, the type of answer that the query asks for, and the phrases.

package analysis

import (
	"context"
	"slices"
	"strings"
)

// A QueryText contains the texts of a query.
type QueryText struct {
	Words    string   // text whose words determine the ranking
	Required []string // words, phrases or prefixes (written as word*) that a document must contain
	Excluded []string // words, phrases or prefixes (written as word*) that a document must not contain
	Prefixes []string // words that begin with one of these prefixes determine the ranking in addition to Words
}

// A Word is a term of a question.
type Word struct {
	Term            string
	Word            string // the word in the query, folded (see [FoldText])
	OccurrenceCount int    // number of occurrences in the question
}

// A QueryClause is an analyzed word, phrase or prefix that a query requires or excludes. A QueryClause contains either
// the terms of the word or phrase, in the form that [Analyzer.TermSequence] returns, or the prefix.
type QueryClause struct {
	Text       string
	IsExcluded bool // a document that matches the clause is not a result
	Terms      []string
	Prefix     *QueryPrefix
}

// A QueryPrefix is the beginning of the words that a query searches for.
type QueryPrefix struct {
	FoldedText string // folded text of the prefix (see [FoldText])
	Term       string // term that the prefix would have if it were a whole word
}

// A Question contains the analyzed texts of a query.
type Question struct {
	// Words contains the distinct terms of the question's words in order, without stop words. If all words are stop
	// words, Words contains the stop words, and HasOnlyStopWords is true.
	Words            []Word
	HasOnlyStopWords bool

	Clauses  []QueryClause // the required words, phrases and prefixes, followed by the excluded ones
	Prefixes []QueryPrefix

	// AsksForTime is true if the question asks for a time. This is the case if "when" occurs before the first word
	// that is not a stop word, or if "how long", "what year" or a similar expression occurs anywhere.
	AsksForTime bool
	// AddressesProgram is true if "you" or "your" occurs. The question may then be about something that a program
	// said.
	AddressesProgram bool
}

// timeNouns contains the words that make a question ask for a time if they follow "what" or "which", as in "what
// year".
var timeNouns = map[string]bool{"date": true, "day": true, "week": true, "month": true, "year": true, "time": true}

// AnalyzeQuestion analyzes the texts of a query. If ctx is done, it returns early.
func (a *Analyzer) AnalyzeQuestion(ctx context.Context, t QueryText) Question {
	q := a.analyzeRankingWords(ctx, t.Words)
	for _, s := range t.Required {
		q.Clauses = append(q.Clauses, a.analyzeClause(ctx, s))
	}
	for _, s := range t.Excluded {
		c := a.analyzeClause(ctx, s)
		c.IsExcluded = true
		q.Clauses = append(q.Clauses, c)
	}
	for _, s := range t.Prefixes {
		q.Prefixes = append(q.Prefixes, newPrefix(s))
	}
	return q
}

// analyzeRankingWords returns the words that determine the ranking of a query, and whether the query asks for a time or
// addresses the program. If all words of the query are stop words, the stop words are used.
func (a *Analyzer) analyzeRankingWords(ctx context.Context, s string) Question {
	var q Question
	var stop []Word
	var words distinctWords
	// The variable before contains the previous word. The variable begun is true after the first word that is not a
	// stop word.
	before, begun := "", false
	a.eachChunk(ctx, s, func(us []chunkTerm) {
		for _, u := range us {
			if w := (Word{Term: u.text, Word: u.word}); u.isStopWord {
				stop = append(stop, w)
			} else {
				words.addWord(w)
			}
		}
		word := ""
		if len(us) == 1 { // A name with several parts, such as YouTube, is not a question word such as you.
			word = us[0].word
		}
		switch word {
		case "when":
			q.AsksForTime = q.AsksForTime || !begun
		case "long":
			q.AsksForTime = q.AsksForTime || before == "how"
		case "you", "your", "yours":
			q.AddressesProgram = true
		}
		q.AsksForTime = q.AsksForTime || ((before == "what" || before == "which") && timeNouns[word])
		before = word
		begun = len(words.words) > 0
	})
	if len(words.words) == 0 {
		q.HasOnlyStopWords = len(stop) > 0
		for _, w := range stop {
			words.addWord(w)
		}
	}
	q.Words = words.words
	return q
}

// distinctWords collects the distinct words of a question in order, and counts their occurrences.
type distinctWords struct {
	words       []Word
	indexByTerm map[string]int // for each term, its index in words (nil while words has only a few elements)
}

func (s *distinctWords) addWord(w Word) {
	i := s.findTerm(w.Term)
	if i < 0 {
		i = len(s.words)
		s.words = append(s.words, w)
		if s.indexByTerm != nil {
			s.indexByTerm[w.Term] = i
		}
	}
	s.words[i].OccurrenceCount++
}

// findTerm returns the index of a term. If the set does not contain the term, findTerm returns -1.
func (s *distinctWords) findTerm(term string) int {
	if len(s.words) <= maxLinearSearchTerms {
		return slices.IndexFunc(s.words, func(w Word) bool { return w.Term == term })
	}
	if s.indexByTerm == nil {
		s.indexByTerm = map[string]int{}
		for i, w := range s.words {
			s.indexByTerm[w.Term] = i
		}
	}
	if i, ok := s.indexByTerm[term]; ok {
		return i
	}
	return -1
}

// TermSequence returns the terms of a text's words in order. It omits terms that combine several words, such as
// getusername. Phrases are compared by these sequences. If ctx is done, TermSequence returns early.
func (a *Analyzer) TermSequence(ctx context.Context, s string) []string {
	var ts []string
	a.eachChunk(ctx, s, func(us []chunkTerm) {
		for _, u := range us {
			if !u.combinesWords {
				ts = append(ts, u.text)
			}
		}
	})
	return ts
}

// CountTerms returns how often each term occurs in the text. A term may also be a combination of several words, such
// as getusername. If ctx is done, CountTerms returns early.
func (a *Analyzer) CountTerms(ctx context.Context, text string, terms []string) []int {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.beginDocument()
	counts := make([]int, len(terms))
	a.reusedTermNumbers = a.cache.appendTermNumbers(a.reusedTermNumbers[:0], terms)
	// wantedBits has the bit n%64 for each wanted term number n. With it, most words of the text need no access to
	// a.cache.terms.
	wantedBits := uint64(0)
	for i, n := range a.reusedTermNumbers {
		t := &a.cache.terms[n]
		t.documentNumber, t.documentIndex = a.currentDocument, i
		wantedBits |= 1 << (n % 64)
	}
	countTerm := func(n uint32) {
		if wantedBits>>(n%64)&1 == 0 {
			return
		}
		if t := &a.cache.terms[n]; t.documentNumber == a.currentDocument {
			counts[t.documentIndex]++
		}
	}
	w := contextChecker{ctx: ctx}
	for from, to := findNextChunk(text, 0); from < to && !w.isContextDoneAt(to); from, to = findNextChunk(text, to) {
		c := text[from:to]
		if len(c) <= maxCombinedTermBytes {
			if k := a.cache.findOrAnalyzeChunk(c); k.termCount == 1 {
				countTerm(k.firstStoredTermNumber)
				continue
			}
		}
		for _, u := range a.cache.termsOfChunk(c) {
			countTerm(u.termNumber)
		}
	}
	return counts
}

// eachChunk calls fn with the terms of each chunk in the text. A chunk is a sequence of letters, digits and marks in a
// text. If ctx is done, eachChunk stops.
func (a *Analyzer) eachChunk(ctx context.Context, s string, fn func([]chunkTerm)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.beginDocument()
	w := contextChecker{ctx: ctx}
	for from, to := findNextChunk(s, 0); from < to && !w.isContextDoneAt(to); from, to = findNextChunk(s, to) {
		fn(a.cache.termsOfChunk(s[from:to]))
	}
}

func (a *Analyzer) analyzeClause(ctx context.Context, s string) QueryClause {
	if word, ok := strings.CutSuffix(s, "*"); ok {
		p := newPrefix(word)
		return QueryClause{Text: s, Prefix: &p}
	}
	return QueryClause{Text: s, Terms: a.TermSequence(ctx, s)}
}

func newPrefix(word string) QueryPrefix {
	folded := FoldText(word)
	return QueryPrefix{FoldedText: folded, Term: TermOfWord(folded)}
}
