// This file suggests corrections for misspelt words.

package exchange

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// nearestCandidate returns the candidate that the user probably meant by word, or "". The candidate may differ from
// word by at most one edit for every three letters, and by at most three edits.
func nearestCandidate(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", min(len(word)/3, 3)+1
	for _, c := range candidates {
		if difference := max(len(c)-len(word), len(word)-len(c)); difference >= least {
			// Skip the candidate, because turning one word into another needs at least as many edits as their lengths
			// differ.
			continue
		}
		if d := text.EditDistance([]byte(word), []byte(strings.ToLower(c))); d < least {
			best, least = c, d
		}
	}
	return best
}

// nearestCandidateHint returns the end of an error message that suggests the nearest candidate, or "" if no
// candidate is near.
func nearestCandidateHint(word string, candidates []string) string {
	if c := nearestCandidate(word, candidates); c != "" {
		return "; did you mean " + c + "?"
	}
	return ""
}
