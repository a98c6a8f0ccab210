// This file merges two changed versions of a text by line. No other code in this module merges lines.

package diff

import (
	"errors"
	"slices"
	"strings"
)

// LineChange replaces some lines of a base text by new lines.
type LineChange struct {
	From, To int      // The lines From to To-1 of the base text are replaced.
	Lines    []string // new lines
}

// Compare orders changes by the lines of the base text that they replace. Changes of the same lines are ordered by
// their new lines. It returns 0 for equal changes.
func (c LineChange) Compare(d LineChange) int {
	if c.From != d.From {
		return c.From - d.From
	}
	if c.To != d.To {
		return c.To - d.To
	}
	return slices.Compare(c.Lines, d.Lines)
}

// CompareLines returns the changes that turn the lines in the slice base into the lines in the slice changed. The
// changes are in the order of the lines. Between any two changes there is at least one unchanged line.
func CompareLines(base, changed []string) (changes []LineChange) {
	in := LineNumberer{}
	var m LineMapper
	ids := in.LineIDs(base)
	i, j := 0, 0
	add := func(to, end int) {
		if i < to || j < end {
			changes = append(changes, LineChange{i, to, slices.Clone(changed[j:end])})
		}
	}
	for line, to := range m.MapEqualLines(ids, in.LineIDs(changed)) {
		if to >= 0 {
			add(line, to)
			i, j = line+1, to+1
		}
	}
	add(len(base), len(changed))
	return changes
}

// ResolveConflict is called for changes that contradict each other, because they replace the same or adjacent lines of
// the base text by different lines. The changes affect the lines of the base text from changes[0].From up to, but not
// including, the line number to. ResolveConflict returns new lines for this whole part of the base text.
type ResolveConflict func(changes []LineChange, to int) ([]string, error)

// ApplyChanges applies the list changes to the lines in base. The changes may come from several versions of base. Equal
// changes are applied once. If changes overlap or touch, ApplyChanges calls the function conflict, which returns the
// lines to use. If this function returns an error, ApplyChanges returns the error. The result does not depend on the
// order of the changes.
//
// ApplyChanges implements diff3 (Khanna, Kunal and Pierce, "A Formal Investigation of Diff3", 2007). Lines that no
// version changes separate the changes, and are copied to the result.
func ApplyChanges(base []string, changes []LineChange, conflict ResolveConflict) (merged []string, err error) {
	all := slices.SortedFunc(slices.Values(changes), LineChange.Compare)
	all = slices.CompactFunc(all, func(c, d LineChange) bool { return c.Compare(d) == 0 })
	at := 0
	for len(all) > 0 {
		n, to := 1, all[0].To
		// This change replaces lines that an earlier change also replaces, or the lines right after them.
		for n < len(all) && all[n].From <= to {
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

// MergeLines merges two texts, ours and theirs, that were derived from base. It returns "" and false if the texts
// changed the same or adjacent lines in different ways. Exchanging ours and theirs does not change the result.
func MergeLines(base, ours, theirs string) (string, bool) {
	switch {
	case ours == theirs || theirs == base:
		return ours, true
	case ours == base:
		return theirs, true
	}
	lines := splitAfterNewlines(base)
	changes := append(CompareLines(lines, splitAfterNewlines(ours)), CompareLines(lines, splitAfterNewlines(theirs))...)
	merged, err := ApplyChanges(lines, changes, func([]LineChange, int) ([]string, error) { return nil, errConflict })
	return strings.Join(merged, ""), err == nil
}

// errConflict is returned by the conflict function of MergeLines to end the merge.
var errConflict = errors.New("both versions changed the same lines")

// splitAfterNewlines splits a text after each \n.
func splitAfterNewlines(s string) []string { return slices.Collect(strings.Lines(s)) }
