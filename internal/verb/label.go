// This file converts labels to the texts that answers contain.

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
