// This file contains the frequencies of words in ordinary English.

package analysis

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// commonText lists the terms that occur in at least 0.2 % of the chat turns in LongMemEval
// (Wu et al., 2024; MIT licence). Each line has a term and its number of turns per
// thousand, most frequent terms first. The "words" command of the bench module writes the
// file.
//
//go:embed common.txt
var commonText string

var common = sync.OnceValue(func() map[string]float64 {
	m := make(map[string]float64, strings.Count(commonText, "\n"))
	for line := range strings.Lines(commonText) {
		term, n, _ := strings.Cut(strings.TrimSpace(line), " ")
		if share, err := strconv.Atoi(n); err == nil {
			m[term] = float64(share) / 1000
		}
	}
	return m
})

// Share returns the fraction of English texts that contain the term, for texts about as
// long as a chat turn. It returns 0 for rare terms and for terms of other languages.
func Share(term string) float64 { return common()[term] }
