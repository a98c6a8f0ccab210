// This file computes the effect of one commit on a file: which lines are unchanged, moved or reworded.

package main

import (
	"maps"
	"slices"
	"strings"
	"unicode"
)

// step returns the index of a line after the hunks.
func step(hunks []chunk, moved map[int]int, at int) int {
	if len(hunks) == 0 {
		return at
	}
	i, _ := slices.BinarySearchFunc(hunks, at, func(c chunk, at int) int {
		if c.a+len(c.out) <= at {
			return -1
		}
		return 1
	}) // the first hunk that ends after the line
	if i < len(hunks) && at >= hunks[i].a {
		if to, ok := moved[at]; ok {
			return to
		}
		return -1
	}
	if i == 0 {
		return at
	}
	last := hunks[i-1]
	return at - (last.a + len(last.out)) + last.b + len(last.put)
}

// movedIn returns the lines of blocks that the hunks deleted in one place and added in
// another.
func movedIn(hunks []chunk) map[int]int {
	type place struct{ hunk, i int }
	count := map[string]int{} // number of times that each line was added
	where := map[string]place{}
	gone := map[string]int{}
	for k, c := range hunks {
		for i, l := range c.put {
			count[l]++
			where[l] = place{k, i}
		}
		for _, l := range c.out {
			gone[l]++
		}
	}
	moved := map[int]int{}
	for _, c := range hunks {
		for i := 0; i < len(c.out); i++ {
			p, ok := where[c.out[i]]
			isUnique := count[c.out[i]] == 1 && gone[c.out[i]] == 1
			if !ok || !isUnique {
				continue
			}
			put := hunks[p.hunk].put
			// Find the longest run around this line that is equal in both.
			lo, hi := 0, 1
			for i-lo-1 >= 0 && p.i-lo-1 >= 0 && c.out[i-lo-1] == put[p.i-lo-1] {
				lo++
			}
			for i+hi < len(c.out) && p.i+hi < len(put) && c.out[i+hi] == put[p.i+hi] {
				hi++
			}
			if lo+hi < 2 || countLetters(c.out[i-lo:i+hi]) < 40 {
				continue
			}
			for x := -lo; x < hi; x++ {
				moved[c.a+i+x] = hunks[p.hunk].b + p.i + x
			}
			i += hi - 1
		}
	}
	return moved
}

// Limits of [rewordedIn].
const (
	driftAlike = .6     // minimum similarity of a line and its new wording
	driftCells = 250000 // maximum product of deleted and added lines in a hunk that is examined
)

// respacedIn returns the lines for which the hunks only changed white space, using the hunks
// of a diff that ignores it. For an indented block, git's normal diff may match braces of a
// different depth and split the block into two hunks.
func respacedIn(hunks, bare []chunk, moved map[int]int) map[int]int {
	put := map[int]string{} // lines that the hunks added, without white space
	for _, c := range hunks {
		for i, l := range c.put {
			put[c.b+i] = spaceless(l)
		}
	}
	for _, to := range moved {
		delete(put, to)
	}
	respaced := map[int]int{}
	for _, c := range hunks {
		for i, l := range c.out {
			to := step(bare, nil, c.a+i)
			if _, isMoved := moved[c.a+i]; isMoved {
				continue
			}
			if now, isNew := put[to]; isNew && now == spaceless(l) {
				respaced[c.a+i] = to
			}
		}
	}
	return respaced
}

func spaceless(l string) string { return strings.Join(strings.Fields(l), "") }

// rewordedIn returns the lines that the hunks reworded: lines with different white space
// and, of the rest, the assignment in the same order with the highest total similarity. It
// excludes moved lines.
func rewordedIn(hunks []chunk, moved, respaced map[int]int) map[int]int {
	again := maps.Clone(respaced)
	if again == nil {
		again = map[int]int{}
	}
	came := map[int]bool{}
	for _, known := range []map[int]int{moved, respaced} {
		for _, to := range known {
			came[to] = true
		}
	}
	for _, c := range hunks {
		n, m := len(c.out), len(c.put)
		isTooLarge := n*m > driftCells
		if isTooLarge || min(n, m) == 0 {
			continue
		}
		out, put := make([]letterPairs, n), make([]letterPairs, m)
		for i, l := range c.out {
			out[i] = countPairs(l)
		}
		for j, l := range c.put {
			put[j] = countPairs(l)
		}
		// best[i][j] is the maximum similarity of the lines from i on and the lines from j
		// on.
		best := make([][]float64, n+1)
		for i := range best {
			best[i] = make([]float64, m+1)
		}
		like := func(i, j int) float64 {
			_, isMoved := moved[c.a+i]
			_, isRespaced := respaced[c.a+i]
			hasTarget := isMoved || isRespaced
			if hasTarget || came[c.b+j] {
				return 0
			}
			if f := out[i].alike(put[j]); f >= driftAlike {
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
				again[c.a+i] = c.b + j
				i, j = i+1, j+1
			}
		}
	}
	return again
}

// letterPairs counts the pairs of adjacent characters in a line, without white space.
type letterPairs struct {
	of  map[[2]rune]int
	all int
}

func countPairs(s string) letterPairs {
	p := letterPairs{of: map[[2]rune]int{}}
	rs := []rune(spaceless(s))
	for i := 0; i+1 < len(rs); i++ {
		p.of[[2]rune{rs[i], rs[i+1]}]++
		p.all++
	}
	return p
}

// alike returns twice the number of common pairs divided by the number of all pairs.
func (p letterPairs) alike(q letterPairs) float64 {
	all := p.all + q.all
	if all == 0 {
		return 0
	}
	common := 0
	for x, c := range p.of {
		common += min(c, q.of[x])
	}
	return 2 * float64(common) / float64(all)
}

func pairsAlike(a, b string) float64 { return countPairs(a).alike(countPairs(b)) }

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
