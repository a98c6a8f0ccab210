// This file implements the verbs that list, change, check and suggest labels of many entries.

package verb

import (
	"github.com/oxbow-memory/oxbow"
)

func LabelTexts(ls []oxbow.Label) []string {
	var texts []string
	for _, l := range ls {
		texts = append(texts, l.String())
	}
	return texts
}
