// This file implements a text analyzer like Anserini's, with which the published results for SciFact were measured.
// With the same analyzer, oxbow's scorer must reach the same results.

package quality

import (
	"strings"
	"unicode"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/porter"
	"github.com/clipperhouse/uax29/v2/words"
)

// luceneAnalyzer splits English text like Anserini does by default with Lucene: into words by the Unicode rules
// (UAX #29), without a possessive 's, in lower case, without 33 stop words, stemmed by Porter's
// original algorithm. It is not safe for concurrent use.
type luceneAnalyzer struct {
	stopWords map[string]bool
	stems     map[string]string // cache of stems, because stemming is slow
}

func newLuceneAnalyzer() *luceneAnalyzer {
	l := &luceneAnalyzer{stopWords: map[string]bool{}, stems: map[string]string{}}
	for w := range strings.FieldsSeq(`a an and are as at be but by for if in into is it no not of on or such
		that the their then there these they this to was will with`) {
		l.stopWords[w] = true
	}
	return l
}

// analyzeTerms returns the terms of s in order, repeats included.
func (l *luceneAnalyzer) analyzeTerms(s string) []string {
	var terms []string
	for it := words.FromString(s); it.Next(); {
		w := it.Value()
		if strings.IndexFunc(w, isAlnum) < 0 {
			continue
		}
		for _, suffix := range []string{"'s", "'S", "\u2019s", "\u2019S", "\uff07s", "\uff07S"} {
			if t, ok := strings.CutSuffix(w, suffix); ok {
				w = t
				break
			}
		}
		w = strings.ToLower(w)
		if w == "" || l.stopWords[w] {
			continue
		}
		terms = append(terms, l.stem(w))
	}
	return terms
}

func (l *luceneAnalyzer) stem(w string) string {
	if s, ok := l.stems[w]; ok {
		return s
	}
	// Do not stem words of one or two letters, because Lucene does not.
	s := w
	if len(w) > 2 {
		env := snowballstem.NewEnv(w)
		porter.Stem(env)
		s = env.Current()
	}
	l.stems[strings.Clone(w)] = s
	return s
}

func isAlnum(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }
