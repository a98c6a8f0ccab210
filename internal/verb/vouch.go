// This file holds the labels that say whether a person vouches for a text.

package verb

import "github.com/oxbow-memory/oxbow"

var (
	approvedByPerson = oxbow.Label{Key: oxbow.LabelApproved, Value: string(oxbow.Person)}
	unvouchedImport  = oxbow.Label{Key: oxbow.LabelUnvouched, Value: oxbow.UnvouchedImport}
)
