// This file merges two changed versions of a text by line. It is the only merge of lines in this module.

package diff

import (
	"errors"
	"slices"
	"strings"
)

// LineChange replaces some lines of a base text.
type LineChange struct {
	From, To int      // replaced lines of the base, without To
	Lines    []string // new lines
}

// Compare orders changes by their position in the base, then by their new lines. It returns 0 for equal
// changes.
func (c LineChange) Compare(d LineChange) int {
	if c.From != d.From {
		return c.From - d.From
	}
	if c.To != d.To {
		return c.To - d.To
	}
	return slices.Compare(c.Lines, d.Lines)
}

// LineChanges returns the changes that turn the lines of base into the lines of changed, in order. There are unchanged
// lines between any two changes.
func LineChanges(base, changed []string) (changes []LineChange) {
	in := Interner{}
	var m Mapper
	ids := in.LineIDs(base)
	i, j := 0, 0
	add := func(to, end int) {
		if i < to || j < end {
			changes = append(changes, LineChange{i, to, slices.Clone(changed[j:end])})
		}
	}
	for line, to := range m.MapLines(ids, in.LineIDs(changed)) {
		if to >= 0 {
			add(line, to)
			i, j = line+1, to+1
		}
	}
	add(len(base), len(changed))
	return changes
}

// ResolveConflict returns the lines that replace the lines of base from changes[0].From to to, without to. At least
// two different changes overlap or touch there.
type ResolveConflict func(changes []LineChange, to int) ([]string, error)

// ApplyChanges applies the changes of several versions to the lines of base. Equal changes are applied once.
// The result does not depend on the order of the changes. If conflict returns an error, ApplyChanges
// returns the error.
//
// It implements diff3 (Khanna, Kunal and Pierce, "A Formal Investigation of Diff3", 2007). The
// lines that all versions have in common with base are fixed points.
func ApplyChanges(base []string, changes []LineChange, conflict ResolveConflict) (merged []string, err error) {
	all := slices.SortedFunc(slices.Values(changes), LineChange.Compare)
	all = slices.CompactFunc(all, func(c, d LineChange) bool { return c.Compare(d) == 0 })
	at := 0
	for len(all) > 0 {
		n, to := 1, all[0].To
		for n < len(all) && all[n].From <= to { // the changes overlap or touch
			to = max(to, all[n].To)
			n++
		}
		merged = append(merged, base[at:all[0].From]...)
		lines := all[0].Lines
		if n > 1 {
			lines, err = conflict(all[:n], to)
			if err != nil {
				return nil, err
			}
		}
		merged = append(merged, lines...)
		at = to
		all = all[n:]
	}
	return append(merged, base[at:]...), nil
}

// MergeLines merges two texts that were derived from base. It returns "" and false if the texts changed
// the same or adjacent lines in different ways. A line ends with \n, except for the last. The
// result does not depend on the order of ours and theirs.
func MergeLines(base, ours, theirs string) (string, bool) {
	switch {
	case ours == theirs || theirs == base:
		return ours, true
	case ours == base:
		return theirs, true
	}
	lines := splitAfterNewlines(base)
	changes := append(LineChanges(lines, splitAfterNewlines(ours)), LineChanges(lines, splitAfterNewlines(theirs))...)
	merged, err := ApplyChanges(lines, changes, func([]LineChange, int) ([]string, error) { return nil, errConflict })
	return strings.Join(merged, ""), err == nil
}

// errConflict ends a merge at the first conflict.
var errConflict = errors.New("both versions changed the same lines")

// splitAfterNewlines splits a text after each \n.
func splitAfterNewlines(s string) []string { return slices.Collect(strings.Lines(s)) }
