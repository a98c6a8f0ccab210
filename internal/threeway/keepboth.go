// This file merges two versions of an entry. If both sides changed the same lines, the result contains both texts.
//
// Labels and aliases are merged as sets. A value that one side added is added, and a value that one side removed is
// removed. The content is merged line by line. If both sides changed the same or adjacent lines, the entry contains
// both texts between special comments, and gets the label conflict:content.
//
// Several merges usually have the same result in any order. A version is treated as a change set relative to the base,
// and a merge is the union of two such sets. A conflict contains the complete text of each change, so that the next
// merge can determine the changes again. The order can matter only if a text contains repeated lines, because the
// comparison of lines is then ambiguous.

package threeway

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// LabelConflict is the key of the labels that specify for which entry parts a merge kept both versions:
// conflict:content, conflict:name and conflict:status.
const LabelConflict = "conflict"

// These lines are before, between and after the two texts of a conflict. They are comments, which Markdown does not
// display.
const (
	conflictStartLine = "<!-- conflict: both texts are kept; choose what is right, and take these comments and the label " +
		"conflict away -->"
	conflictMiddleLine = "<!-- conflict: or -->"
	conflictEndLine    = "<!-- conflict: end -->"
)

// errNestedConflict is returned if an entry contains a conflict that an earlier merge left there, and both sides change
// this conflict. In this case, git merges the file line by line, and the user must resolve the conflict.
var errNestedConflict = errors.New("there is a conflict in it already, which this merge touches")

// MergeKeepingBoth merges the versions a and b of an entry. Both versions were derived from the version base. The
// result is the same if a and b are swapped. If both versions changed the same part of the entry, the result contains
// both texts of the part and has the label conflict:PART.
//
// The content of an entry may already contain both texts of a part, because an earlier merge had a conflict there. If a
// and b both change these lines, MergeKeepingBoth returns an error. The kind of the result is not set.
func MergeKeepingBoth(base, a, b *oxbow.Entry) (e oxbow.Entry, err error) {
	conflicts := map[string]bool{}
	e.Created = earlierTime(a.Created, b.Created)
	var names []string
	switch {
	case a.Name == b.Name || b.Name == base.Name:
		e.Name = a.Name
	case a.Name == base.Name:
		e.Name = b.Name
	// Both sides have renamed the entry. Keep both new names, one as an alias, so that users of either name can find
	// the entry.
	default:
		e.Name = min(a.Name, b.Name)
		names = []string{a.Name, b.Name}
		conflicts["name"] = true
	}
	e.Aliases = slices.DeleteFunc(mergeAliases(base.Aliases, a.Aliases, b.Aliases, names), func(s string) bool {
		return s == e.Name
	})
	e.Labels = oxbow.SortLabels(mergeSets(base.Labels, a.Labels, b.Labels))
	if both := slices.DeleteFunc(slices.Clone(e.Labels), func(l oxbow.Label) bool {
		return l.Key != "status" || slices.Contains(base.Labels, l)
	}); len(both) > 1 {
		// The label status has a different new value in each of the two versions that are merged.
		conflicts["status"] = true
	}
	lines, two, err := mergeLines(splitLines(base.Content), splitLines(a.Content), splitLines(b.Content))
	if err != nil {
		return e, err
	}
	e.Content = strings.Join(lines, "\n")
	if two {
		conflicts["content"] = true
	}
	for part := range conflicts {
		e.Labels = oxbow.SortLabels(append(e.Labels, oxbow.Label{Key: LabelConflict, Value: part}))
	}
	return e, nil
}

// mergeAliases merges the aliases of two versions, a and b, and adds addedAliases. The list base contains the aliases
// of the version from which both were derived. Aliases that one version removed are left out. The result contains the
// remaining aliases of base in the same order, followed by the new aliases in sorted order. It is the same if a and b
// are swapped.
func mergeAliases(base, a, b, addedAliases []string) []string {
	merged := mergeSets(base, slices.Concat(a, addedAliases), slices.Concat(b, addedAliases))
	place := func(s string) int {
		i := slices.Index(base, s)
		if i < 0 {
			return len(base)
		}
		return i
	}
	slices.SortFunc(merged, func(x, y string) int { return cmp.Or(place(x)-place(y), strings.Compare(x, y)) })
	return slices.Compact(merged)
}

// earlierTime returns the earlier of two times. A time that is zero is ignored.
func earlierTime(a, b time.Time) time.Time {
	if a.IsZero() {
		return b
	}
	if !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func splitLines(content string) []string {
	if content == "" {
		return nil
	}
	return strings.Split(content, "\n")
}

// mergeLines merges the versions a and b, which were both made from base. It applies the changes of a and b to the
// lines of base. isConflict is true if the result contains both texts for a change.
func mergeLines(base, a, b []string) (out []string, isConflict bool, err error) {
	ca, err := lineChangesFromBase(base, a)
	if err != nil {
		return nil, false, err
	}
	cb, err := lineChangesFromBase(base, b)
	if err != nil {
		return nil, false, err
	}
	out, err = diff.ApplyChanges(base, append(ca, cb...), func(cs []diff.LineChange, to int) ([]string, error) {
		isConflict = true
		return makeConflictLines(base, cs, to)
	})
	return out, isConflict, err
}

// makeConflictLines returns the lines that show a conflict of the changes cs, which overlap or are adjacent. The
// conflict concerns the base lines from the start of the first change to the line endLine. For each change, the
// conflict contains these lines as they are if only this change is made. Equal texts appear once. The error is
// errNestedConflict if the base lines or a text already contain a conflict.
func makeConflictLines(base []string, cs []diff.LineChange, endLine int) ([]string, error) {
	from := cs[0].From
	var texts [][]string
	for _, c := range cs {
		text := slices.Concat(base[from:c.From], c.Lines, base[c.To:endLine])
		if slices.ContainsFunc(text, isConflictLine) || slices.ContainsFunc(base, isConflictLine) {
			return nil, errNestedConflict
		}
		texts = append(texts, text)
	}
	slices.SortFunc(texts, slices.Compare[[]string])
	return formatConflict(slices.CompactFunc(texts, slices.Equal[[]string])), nil
}

func isConflictLine(s string) bool {
	return s == conflictStartLine || s == conflictMiddleLine || s == conflictEndLine
}

// lineChangesFromBase returns the changes that turn the lines in base into the lines in side. The argument base is the
// common ancestor of the versions that are merged, and side is one of these versions.
//
// The lines in side may contain conflicts. A conflict contains several alternative texts. lineChangesFromBase returns
// the changes from base to each of these texts. If all changes of one text are also changes of another text, it returns
// the whole conflict as one change, so that no text is lost. The error is errNestedConflict if one change contains
// several conflicts.
func lineChangesFromBase(base, side []string) (out []diff.LineChange, err error) {
	var conflicts [][][]string
	if !slices.ContainsFunc(base, isConflictLine) {
		side, conflicts = replaceConflicts(side)
	}
	for _, c := range diff.CompareLines(base, side) {
		i := slices.IndexFunc(c.Lines, isPlaceholder)
		if i < 0 {
			out = append(out, c)
			continue
		}
		if slices.ContainsFunc(c.Lines[i+1:], isPlaceholder) {
			return nil, errNestedConflict
		}
		texts := conflicts[placeholderNumber(c.Lines[i])]
		var all [][]diff.LineChange
		for _, text := range texts {
			var its []diff.LineChange
			for _, d := range diff.CompareLines(base[c.From:c.To], slices.Concat(c.Lines[:i], text, c.Lines[i+1:])) {
				its = append(its, diff.LineChange{From: c.From + d.From, To: c.From + d.To, Lines: d.Lines})
			}
			all = append(all, its)
		}
		if hasRedundantSide(all) {
			c.Lines = slices.Concat(c.Lines[:i], formatConflict(texts), c.Lines[i+1:])
			all = [][]diff.LineChange{{c}}
		}
		out = append(out, slices.Concat(all...)...)
	}
	return out, nil
}

// hasRedundantSide reports whether all changes of one text in a conflict are also changes of another text in the
// conflict. For example, a text that is equal to the base has no changes. The list changesByText contains, for each
// text, the changes from the base to this text. If these lists were joined, a redundant text would add nothing, and
// would be lost.
func hasRedundantSide(changesByText [][]diff.LineChange) bool {
	for i, a := range changesByText {
		for j, b := range changesByText {
			in := func(c diff.LineChange) bool {
				return slices.ContainsFunc(b, func(d diff.LineChange) bool { return c.Compare(d) == 0 })
			}
			if i != j && !slices.ContainsFunc(a, func(c diff.LineChange) bool { return !in(c) }) {
				return true
			}
		}
	}
	return false
}

// formatConflict returns the lines of a conflict with these texts.
func formatConflict(texts [][]string) (out []string) {
	for i, text := range texts {
		out = append(append(out, []string{conflictStartLine, conflictMiddleLine}[min(i, 1)]), text...)
	}
	return append(out, conflictEndLine)
}

// placeholderByte is the byte of which placeholder lines consist. Such a line replaces a conflict in a text while the
// text is merged. The line for the conflict with number n consists of n+1 NUL characters. The content of an entry
// cannot contain a NUL.
const placeholderByte = "\x00"

func isPlaceholder(s string) bool { return strings.HasPrefix(s, placeholderByte) }

func placeholderNumber(s string) int { return len(s) - 1 }

// replaceConflicts replaces each conflict in a text by a placeholder line. It also returns the texts of each conflict.
// It does not replace a conflict without an end marker.
func replaceConflicts(textLines []string) (out []string, conflicts [][][]string) {
	for i := 0; i < len(textLines); i++ {
		end := -1
		if textLines[i] == conflictStartLine {
			end = slices.Index(textLines[i:], conflictEndLine)
		}
		if end < 0 {
			out = append(out, textLines[i])
			continue
		}
		var texts [][]string
		text := []string{}
		for _, l := range textLines[i+1 : i+end] {
			if l == conflictMiddleLine {
				texts, text = append(texts, text), []string{}
			} else {
				text = append(text, l)
			}
		}
		out = append(out, strings.Repeat(placeholderByte, len(conflicts)+1))
		conflicts = append(conflicts, append(texts, text))
		i += end
	}
	return out, conflicts
}
