// This file holds the guess at what a misspelt word was meant to be.

package exchange

import "strings"

// nearest returns the candidate that word was probably meant to be, or "".
// Near is: at most one change in three letters, and at most three in all.
func nearest(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	word = strings.ToLower(word)
	best, least := "", min(len(word)/3, 3)+1
	for _, c := range candidates {
		if d := distance(word, strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// hint returns the end of an error text that names the nearest candidate, if
// any is near.
func hint(word string, candidates []string) string {
	if c := nearest(word, candidates); c != "" {
		return "; did you mean " + c + "?"
	}
	return ""
}

// distance is the number of bytes to insert, delete or replace to turn a into
// b, counting two neighbours in the wrong order as one (V. I. Levenshtein 1966,
// with F. J. Damerau's transposition in its restricted form).
func distance(a, b string) int {
	before := make([]int, len(b)+1) // the row before prev
	prev := make([]int, len(b)+1)
	row := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			d := prev[j]
			if a[i] != b[j] {
				d++
			}
			row[j+1] = min(d, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(b)]
}
