// This file computes the edit distance.

package text

// EditDistance returns the number of typing errors between a and b. An error is an inserted, deleted or replaced
// element, or two swapped neighbours. No element is changed twice. This is the optimal string alignment distance,
// which extends Levenshtein's distance (1966) by Damerau's (1964) transposition. It is computed with the table of
// Wagner and Fischer (1974).
func EditDistance[E comparable](a, b []E) int {
	// buf has room for the three table rows that the computation keeps. For short words, it avoids an allocation.
	var buf [3 * 32]int
	cells := buf[:]
	n := len(b) + 1
	if 3*n > len(cells) {
		cells = make([]int, 3*n)
	}
	before := cells[:n]
	last := cells[n : 2*n]
	row := cells[2*n : 3*n]
	for j := range row {
		row[j] = j
	}
	for i := range a {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range b {
			d := last[j]
			if a[i] != b[j] {
				d++
			}
			d = min(d, last[j+1]+1, row[j]+1)
			if isSwapped(a, b, i, j) {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
	}
	return row[len(b)]
}

// isSwapped reports whether a[i-1] and a[i] are the elements b[j-1] and b[j] in reverse order.
func isSwapped[E comparable](a, b []E, i, j int) bool {
	return i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j]
}
