// Package threeway merges two versions of an entry's labels and aliases that were derived from a
// common base. Loads, imports, team files, synchronisation, stores over files, reverts and edits in
// a session use it. Texts are merged by [diff.MergeLines].
//
// [diff.MergeLines]: https://pkg.go.dev/github.com/oxbow-memory/oxbow/internal/base/diff#MergeLines
package threeway

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// MergeSets merges two sets that were derived from base. The result contains a value that one side added,
// and lacks a value that one side removed. If only one side changed, the result is this side.
// Otherwise it has the order of ours, followed by the values that only theirs added.
func MergeSets[T comparable](base, ours, theirs []T) []T {
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

// MergeLabels merges two sets of labels that were derived from base, and sorts the result. An entry has at
// most one confidence. If both sides changed the confidence, the result has the confidence of ours.
func MergeLabels(base, ours, theirs []oxbow.Label) []oxbow.Label {
	merged := MergeSets(base, ours, theirs)
	isConfidence := func(l oxbow.Label) bool { return l.Key == oxbow.LabelConfidence }
	if i := slices.IndexFunc(ours, isConfidence); i >= 0 && slices.Contains(merged, ours[i]) {
		merged = slices.DeleteFunc(merged, func(l oxbow.Label) bool { return isConfidence(l) && l != ours[i] })
	}
	return oxbow.SortLabels(merged)
}
