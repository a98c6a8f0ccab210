// How common words are in general.

package analysis

import (
	_ "embed"
	"strconv"
	"strings"
	"sync"
)

// commonText has a line for each term that stands in at least two of a thousand
// turns of the chats of LongMemEval (Wu et al., 2024; MIT licence): the term and
// how many of a thousand turns hold it, the most common first. The command words
// of the module bench writes it.
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

// Share returns the share of English texts, about as long as a turn of a chat,
// that hold the term: 0 for rare terms and for those of other languages.
func Share(term string) float64 { return common()[term] }
