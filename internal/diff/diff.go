// This file holds the three-way merge of texts by line.

// Package diff joins two changes of one text. It works on lines and knows
// nothing of what they mean.
package diff

import "strings"

// maxEdits bounds the work of comparing: texts that differ in more lines are
// taken for different throughout.
const maxEdits = 1000

// Lines merges two texts that were made from base. It reports false when both
// changed the same lines, or lines that touch, in different ways; the text is
// then "". A line is what ends in \n, and the rest behind the last one. The
// roles of ours and theirs may be exchanged.
//
// It is diff3 (Khanna, Kunal and Pierce, "A Formal Investigation of Diff3",
// 2007): lines that both still share with base are fixed points, and what is
// between two of them is taken from whoever changed it.
func Lines(base, ours, theirs string) (string, bool) {
	switch {
	case ours == theirs || theirs == base:
		return ours, true
	case ours == base:
		return theirs, true
	}
	b, o, t := split(base), split(ours), split(theirs)
	inO, inT := match(b, o), match(b, t)
	var out strings.Builder
	i, j, k := 0, 0, 0 // next lines of base, ours, theirs
	for {
		// The next line of base that both still have.
		n := i
		for n < len(b) && (inO[n] < 0 || inT[n] < 0) {
			n++
		}
		eo, et := len(o), len(t)
		if n < len(b) {
			eo, et = inO[n], inT[n]
		}
		if !join(&out, b[i:n], o[j:eo], t[k:et]) {
			return "", false
		}
		if n == len(b) {
			return out.String(), true
		}
		out.WriteString(b[n])
		i, j, k = n+1, eo+1, et+1
	}
}

// join writes what becomes of a stretch between two fixed points.
func join(out *strings.Builder, b, o, t []string) bool {
	base, ours, theirs := strings.Join(b, ""), strings.Join(o, ""), strings.Join(t, "")
	switch {
	case ours == theirs || theirs == base:
		out.WriteString(ours)
	case ours == base:
		out.WriteString(theirs)
	default:
		return false
	}
	return true
}

// split cuts a text behind each \n.
func split(s string) []string {
	var lines []string
	for l := range strings.Lines(s) {
		lines = append(lines, l)
	}
	return lines
}

// match pairs the lines of a with equal lines of b, in order, as many as there
// can be: the result has for each line of a its partner in b, or -1. It is the
// greedy algorithm of Myers ("An O(ND) Difference Algorithm", 1986).
func match(a, b []string) []int {
	pairs := make([]int, len(a))
	for i := range pairs {
		pairs[i] = -1
	}
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		pairs[start] = start
		start++
	}
	endA, endB := len(a), len(b)
	for endA > start && endB > start && a[endA-1] == b[endB-1] {
		endA--
		endB--
		pairs[endA] = endB
	}
	myers(a[start:endA], b[start:endB], func(i, j int) { pairs[start+i] = start + j })
	return pairs
}

// myers calls pair for each pair of a longest common subsequence.
func myers(a, b []string, pair func(i, j int)) {
	n, m := len(a), len(b)
	most := min(n+m, maxEdits)
	// reach[k+most] is how far along a the path on diagonal k has come; the
	// paths after each number of edits are kept to walk back.
	reach := make([]int, 2*most+2)
	var steps [][]int
	for d := 0; d <= most; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && at(reach, k-1, most) < at(reach, k+1, most) {
				x = at(reach, k+1, most)
			} else {
				x = at(reach, k-1, most) + 1
			}
			for x < n && x-k >= 0 && x-k < m && a[x] == b[x-k] {
				x++
			}
			reach[k+most] = x
			if x >= n && x-k >= m {
				back(a, b, steps, d, k, most, pair)
				return
			}
		}
		steps = append(steps, append([]int(nil), reach[most-d:most+d+1]...))
	}
}

// at returns how far diagonal k has come.
func at(reach []int, k, most int) int {
	if i := k + most; i >= 0 && i < len(reach) {
		return reach[i]
	}
	return 0
}

// back walks the path that reached both ends after d edits on diagonal k.
func back(a, b []string, steps [][]int, d, k, most int, pair func(i, j int)) {
	x, y := len(a), len(b)
	for ; d > 0; d-- {
		prev := steps[d-1] // diagonals -(d-1) to d-1
		get := func(k int) int {
			if i := k + d - 1; i >= 0 && i < len(prev) {
				return prev[i]
			}
			return -1
		}
		down := k == -d || k != d && get(k-1) < get(k+1)
		px, pk := 0, 0
		if down {
			pk = k + 1
			px = get(pk)
		} else {
			pk = k - 1
			px = get(pk)
		}
		sx := px // where the run of equal lines of this step begins
		if !down {
			sx++
		}
		for x > sx {
			x--
			y--
			pair(x, y)
		}
		x, y, k = px, px-pk, pk
	}
	for x > 0 && y > 0 {
		x--
		y--
		pair(x, y)
	}
}
