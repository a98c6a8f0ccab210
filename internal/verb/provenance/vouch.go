// This file holds the labels that say whether a person vouches for a text.

package provenance

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

var (
	ApprovedByPerson = oxbow.Label{Key: oxbow.LabelApproved, Value: string(oxbow.Person)}
	unvouchedImport  = oxbow.Label{Key: oxbow.LabelUnvouched, Value: oxbow.UnvouchedImport}
)

// ApprovedLabels returns the labels with the label for a person's approval.
func ApprovedLabels(labels []oxbow.Label) []oxbow.Label {
	if slices.Contains(labels, ApprovedByPerson) {
		return labels
	}
	return oxbow.SortLabels(append(slices.Clone(labels), ApprovedByPerson))
}
