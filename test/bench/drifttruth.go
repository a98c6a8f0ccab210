// This file computes how one commit affected each line of a file: which lines are unchanged, moved or reworded.

package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// lineAfterHunks returns the new index of a line after the changes in hunks, or -1 if the line was deleted. at is the
// old index of the line. movedLineIndexes contains the new indexes of lines that were deleted and added in another
// place.
func lineAfterHunks(hunks []diffHunk, movedLineIndexes map[int]int, at int) int {
	if len(hunks) == 0 {
		return at
	}
	i, _ := slices.BinarySearchFunc(hunks, at, func(c diffHunk, at int) int {
		if c.oldStart+len(c.deleted) <= at {
			return -1
		}
		return 1
	}) // Find the first hunk that ends after the line.
	if i < len(hunks) && at >= hunks[i].oldStart {
		if to, ok := movedLineIndexes[at]; ok {
			return to
		}
		return -1
	}
	if i == 0 {
		return at
	}
	last := hunks[i-1]
	return at - (last.oldStart + len(last.deleted)) + last.newStart + len(last.added)
}

// findMovedLines finds blocks of lines that the hunks delete in one place and add in another place. The result maps the
// old number of each line in such a block to its new number. A block must meet these conditions:
//   - It has at least two lines, with at least 40 letters in total.
//   - It contains a line that the hunks delete exactly once and add exactly once.
func findMovedLines(hunks []diffHunk) map[int]int {
	type place struct{ hunk, i int }
	count := map[string]int{} // for each line, how often the hunks of the diff add it
	where := map[string]place{}
	gone := map[string]int{}
	for k, c := range hunks {
		for i, l := range c.added {
			count[l]++
			where[l] = place{k, i}
		}
		for _, l := range c.deleted {
			gone[l]++
		}
	}
	moved := map[int]int{}
	for _, c := range hunks {
		for i := 0; i < len(c.deleted); i++ {
			p, ok := where[c.deleted[i]]
			isUnique := count[c.deleted[i]] == 1 && gone[c.deleted[i]] == 1
			if !ok || !isUnique {
				continue
			}
			put := hunks[p.hunk].added
			// The deleted line i was added elsewhere. Find out how many lines before and after it were moved with it.
			lo, hi := 0, 1
			for i-lo-1 >= 0 && p.i-lo-1 >= 0 && c.deleted[i-lo-1] == put[p.i-lo-1] {
				lo++
			}
			for i+hi < len(c.deleted) && p.i+hi < len(put) && c.deleted[i+hi] == put[p.i+hi] {
				hi++
			}
			if lo+hi < 2 || countLetters(c.deleted[i-lo:i+hi]) < 40 {
				continue
			}
			for x := -lo; x < hi; x++ {
				moved[c.oldStart+i+x] = hunks[p.hunk].newStart + p.i + x
			}
			i += hi - 1
		}
	}
	return moved
}

// A deleted and an added line count as one reworded line only within these limits (see [findRewordedLines]).
const (
	minLineSimilarity = .6 // minimum similarity of a line and its new wording
	// a larger hunk is not examined: the limit is for the number of deleted lines times the number of added lines
	maxLinePairsPerHunk = 250000
)

// findSpacingChangedLines finds the lines in which a commit changed only the white space. The result maps the index of
// each such line before the commit to its index after the commit. hunks come from git's normal diff, and
// hunksIgnoringSpace from a diff that ignores white space. Both are needed: for an indented block, the normal diff may
// match braces of a different depth and split the block into two hunks. The argument movedLineIndexes maps old to new
// indexes of moved lines, which are omitted.
func findSpacingChangedLines(hunks, hunksIgnoringSpace []diffHunk, movedLineIndexes map[int]int) map[int]int {
	put := map[int]string{} // for the index of each added line, its text without white space
	for _, c := range hunks {
		for i, l := range c.added {
			put[c.newStart+i] = withoutSpace(l)
		}
	}
	for _, to := range movedLineIndexes {
		delete(put, to)
	}
	respaced := map[int]int{}
	for _, c := range hunks {
		for i, l := range c.deleted {
			to := lineAfterHunks(hunksIgnoringSpace, nil, c.oldStart+i)
			if _, isMoved := movedLineIndexes[c.oldStart+i]; isMoved {
				continue
			}
			if now, isNew := put[to]; isNew && now == withoutSpace(l) {
				respaced[c.oldStart+i] = to
			}
		}
	}
	return respaced
}

func withoutSpace(line string) string { return strings.Join(strings.Fields(line), "") }

// findRewordedLines finds the lines that the hunks reworded. The result maps the index of each such line before the
// change to its index after the change. The argument movedLineIndexes maps the indexes of moved lines in the same way.
// These lines do not count as reworded. The argument spacingChangedLineIndexes contains the lines in which only the
// white space changed. These lines count as reworded. In the rest of a hunk, findRewordedLines assigns added lines to
// deleted lines in the same order so that the total similarity is highest.
func findRewordedLines(hunks []diffHunk, movedLineIndexes, spacingChangedLineIndexes map[int]int) map[int]int {
	again := maps.Clone(spacingChangedLineIndexes)
	if again == nil {
		again = map[int]int{}
	}
	came := map[int]bool{}
	for _, known := range []map[int]int{movedLineIndexes, spacingChangedLineIndexes} {
		for _, to := range known {
			came[to] = true
		}
	}
	for _, c := range hunks {
		n, m := len(c.deleted), len(c.added)
		isTooLarge := n*m > maxLinePairsPerHunk
		if isTooLarge || min(n, m) == 0 {
			continue
		}
		out, put := make([]letterPairs, n), make([]letterPairs, m)
		for i, l := range c.deleted {
			out[i] = countLetterPairs(l)
		}
		for j, l := range c.added {
			put[j] = countLetterPairs(l)
		}
		// best[i][j] is the maximum total similarity if the deleted lines from i on are assigned to the added lines
		// from j on, in the same order.
		best := make([][]float64, n+1)
		for i := range best {
			best[i] = make([]float64, m+1)
		}
		like := func(i, j int) float64 {
			_, isMoved := movedLineIndexes[c.oldStart+i]
			_, isRespaced := spacingChangedLineIndexes[c.oldStart+i]
			hasTarget := isMoved || isRespaced
			if hasTarget || came[c.newStart+j] {
				return 0
			}
			if f := out[i].similarity(put[j]); f >= minLineSimilarity {
				return f
			}
			return 0
		}
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				best[i][j] = max(best[i+1][j], best[i][j+1])
				if f := like(i, j); f > 0 {
					best[i][j] = max(best[i][j], f+best[i+1][j+1])
				}
			}
		}
		for i, j := 0, 0; i < n && j < m; {
			switch best[i][j] {
			case best[i+1][j]:
				i++
			case best[i][j+1]:
				j++
			default:
				again[c.oldStart+i] = c.newStart + j
				i, j = i+1, j+1
			}
		}
	}
	return again
}

// letterPairs counts the pairs of adjacent characters in a line, without white space.
type letterPairs struct {
	counts    map[[2]rune]int
	pairCount int
}

func countLetterPairs(s string) letterPairs {
	p := letterPairs{counts: map[[2]rune]int{}}
	rs := []rune(withoutSpace(s))
	for i := 0; i+1 < len(rs); i++ {
		p.counts[[2]rune{rs[i], rs[i+1]}]++
		p.pairCount++
	}
	return p
}

// similarity returns twice the count of common pairs, divided by the total pair count.
func (p letterPairs) similarity(q letterPairs) float64 {
	all := p.pairCount + q.pairCount
	if all == 0 {
		return 0
	}
	common := 0
	for x, c := range p.counts {
		common += min(c, q.counts[x])
	}
	return 2 * float64(common) / float64(all)
}

func lineSimilarity(a, b string) float64 { return countLetterPairs(a).similarity(countLetterPairs(b)) }

func countLetters(lines []string) int {
	n := 0
	for _, l := range lines {
		for _, r := range l {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				n++
			}
		}
	}
	return n
}
