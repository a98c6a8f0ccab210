// Package threeway merges two versions of an entry that were derived from a common base. It is used for loads,
// imports, team files, synchronization, stores over files, reverts and edits in a session. [MergeEntry] reports a
// conflict if both sides changed the same lines. [MergeKeepingBoth] keeps both texts of a conflict in the entry.
// Package diff merges the lines. [NewReplaceVersionOps] returns the operations that replace one version by another.
package threeway

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// MergeEntry merges the content, the aliases and the labels of two entry versions. All remaining fields in the result
// are equal to the fields in ours. isClean is false if both sides changed the same or adjacent content lines. In this
// case, the result has the content of ours.
func MergeEntry(base, ours, theirs *oxbow.Entry) (merged oxbow.Entry, isClean bool) {
	merged = ours.Clone()
	content, isClean := diff.MergeLines(base.Content, ours.Content, theirs.Content)
	if isClean {
		merged.Content = content
	}
	merged.Aliases, merged.Labels = MergeAliasesAndLabels(base, ours, theirs)
	return merged, isClean
}

// MergeAliasesAndLabels merges the aliases and the labels of two entry versions. Such a merge cannot have conflicts.
func MergeAliasesAndLabels(base, ours, theirs *oxbow.Entry) (aliases []string, labels []oxbow.Label) {
	return mergeSets(base.Aliases, ours.Aliases, theirs.Aliases), MergeLabels(base.Labels, ours.Labels, theirs.Labels)
}

// mergeSets merges two sets that were derived from base. The result contains each value that one side added, and does
// not contain the values that one side removed. If only one side changed the set, the result is the set of this side.
// Otherwise, the result has the order of ours, followed by the values that only theirs added.
func mergeSets[T comparable](base, ours, theirs []T) []T {
	if slices.Equal(ours, base) {
		return slices.Clone(theirs)
	}
	var out []T
	for _, v := range ours {
		if slices.Contains(theirs, v) || !slices.Contains(base, v) {
			out = append(out, v)
		}
	}
	for _, v := range theirs {
		if !slices.Contains(base, v) && !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// MergeLabels merges two sets of labels that were derived from base, and sorts the result. An entry can have only one
// confidence. If both sides changed the confidence, the result has the confidence of ours.
func MergeLabels(base, ours, theirs []oxbow.Label) []oxbow.Label {
	merged := mergeSets(base, ours, theirs)
	isConfidence := func(l oxbow.Label) bool { return l.Key == oxbow.LabelConfidence }
	if i := slices.IndexFunc(ours, isConfidence); i >= 0 && slices.Contains(merged, ours[i]) {
		merged = slices.DeleteFunc(merged, func(l oxbow.Label) bool { return isConfidence(l) && l != ours[i] })
	}
	return oxbow.SortLabels(merged)
}
