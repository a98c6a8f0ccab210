// This file merges two changed versions of a text by line.

package diff

import (
	"slices"
	"strings"
)

// Lines merges two texts that were derived from base. It returns "" and false if the texts changed
// the same or adjacent lines in different ways. A line ends with \n, except for the last. The
// result does not depend on the order of ours and theirs.
//
// It implements diff3 (Khanna, Kunal and Pierce, "A Formal Investigation of Diff3", 2007). The
// lines that both texts have in common with base are fixed points. Between two fixed points, the
// result has the lines of the text that changed.
func Lines(base, ours, theirs string) (string, bool) {
	switch {
	case ours == theirs || theirs == base:
		return ours, true
	case ours == base:
		return theirs, true
	}
	b := split(base)
	o := split(ours)
	t := split(theirs)
	in := Interner{}
	var m Mapper
	ids := in.Lines(b)
	inO, inT := m.Map(ids, in.Lines(o)), m.Map(ids, in.Lines(t))
	var out strings.Builder
	i := 0
	j := 0
	k := 0 // indexes of the next lines of base, ours and theirs
	for {
		// Find the next line of base that both texts still have.
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
		i = n + 1
		j = eo + 1
		k = et + 1
	}
}

// join writes the merged lines between two fixed points. It returns false if both sides changed in
// different ways.
func join(out *strings.Builder, b, o, t []string) bool {
	base := strings.Join(b, "")
	ours := strings.Join(o, "")
	theirs := strings.Join(t, "")
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

// split splits a text after each \n.
func split(s string) []string { return slices.Collect(strings.Lines(s)) }
