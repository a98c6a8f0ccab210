// This file contains the frequency of words in ordinary English texts.

package analysis

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// commonTermsText lists the terms that occur in at least 0.2 % of the chat turns in LongMemEval (Wu et al., 2024; MIT
// licence). Each line contains a term and the number of turns with the term per thousand turns. The most frequent
// terms are first. The "words" command of the bench module writes this file.
//
//go:embed common.txt
var commonTermsText string

var documentSharesByTerm = sync.OnceValue(func() map[string]float64 {
	m := make(map[string]float64, strings.Count(commonTermsText, "\n"))
	for line := range strings.Lines(commonTermsText) {
		term, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		if share, err := strconv.Atoi(n); err == nil {
			m[term] = float64(share) / 1000
		}
	}
	return m
})

// EnglishDocumentShare returns the fraction of English texts that contain the term. The fraction applies to texts about
// as long as a chat turn. EnglishDocumentShare returns 0 for rare terms and for terms of other languages.
func EnglishDocumentShare(term string) float64 { return documentSharesByTerm()[term] }
