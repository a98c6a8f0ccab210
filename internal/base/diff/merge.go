// This file merges two changed versions of a text by line.

package diff

import (
	"slices"
	"strings"
)

// MergeLines merges two texts that were derived from base. It returns "" and false if the texts changed
// the same or adjacent lines in different ways. A line ends with \n, except for the last. The
// result does not depend on the order of ours and theirs.
//
// It implements diff3 (Khanna, Kunal and Pierce, "A Formal Investigation of Diff3", 2007). The
// lines that both texts have in common with base are fixed points. Between two fixed points, the
// result has the lines of the text that changed.
func MergeLines(base, ours, theirs string) (string, bool) {
	switch {
	case ours == theirs || theirs == base:
		return ours, true
	case ours == base:
		return theirs, true
	}
	baseLines := splitLines(base)
	ourLines := splitLines(ours)
	theirLines := splitLines(theirs)
	in := Interner{}
	var m Mapper
	ids := in.LineIDs(baseLines)
	ourIndex, theirIndex := m.MapLines(ids, in.LineIDs(ourLines)), m.MapLines(ids, in.LineIDs(theirLines))
	var merged strings.Builder
	i := 0
	j := 0
	k := 0 // indexes of the next lines of base, ours and theirs
	for {
		// Find the next line of base that both texts still have.
		fixed := i
		for fixed < len(baseLines) && (ourIndex[fixed] < 0 || theirIndex[fixed] < 0) {
			fixed++
		}
		ourEnd, theirEnd := len(ourLines), len(theirLines)
		if fixed < len(baseLines) {
			ourEnd, theirEnd = ourIndex[fixed], theirIndex[fixed]
		}
		if !mergePart(&merged, baseLines[i:fixed], ourLines[j:ourEnd], theirLines[k:theirEnd]) {
			return "", false
		}
		if fixed == len(baseLines) {
			return merged.String(), true
		}
		merged.WriteString(baseLines[fixed])
		i = fixed + 1
		j = ourEnd + 1
		k = theirEnd + 1
	}
}

// mergePart writes the merged lines between two fixed points. It returns false if both sides changed in
// different ways.
func mergePart(out *strings.Builder, b, o, t []string) bool {
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

// splitLines splits a text after each \n.
func splitLines(s string) []string { return slices.Collect(strings.Lines(s)) }
