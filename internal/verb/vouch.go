// This file holds the labels that say whether a person vouches for a text.

package verb

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
)

var (
	approvedByPerson = oxbow.Label{Key: oxbow.LabelApproved, Value: string(oxbow.Person)}
	unvouchedImport  = oxbow.Label{Key: oxbow.LabelUnvouched, Value: oxbow.UnvouchedImport}
)

// approvedLabels returns the labels with the label for a person's approval.
func approvedLabels(labels []oxbow.Label) []oxbow.Label {
	if slices.Contains(labels, approvedByPerson) {
		return labels
	}
	return oxbow.SortLabels(append(slices.Clone(labels), approvedByPerson))
}
