// This file defines the labels that say whether a person vouches for a text.

package provenance

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

var (
	ApprovedByPersonLabel = oxbow.Label{Key: oxbow.LabelApproved, Value: string(oxbow.Person)}
	unvouchedImportLabel  = oxbow.Label{Key: oxbow.LabelUnvouched, Value: oxbow.UnvouchedImport}
)

// WithApproval returns the labels with a label that says that a person approved the entry.
func WithApproval(labels []oxbow.Label) []oxbow.Label {
	if slices.Contains(labels, ApprovedByPersonLabel) {
		return labels
	}
	return oxbow.SortLabels(append(slices.Clone(labels), ApprovedByPersonLabel))
}
