// This file implements selections, which are the texts that a profile gives an agent at the start.

package verb

import (
	"github.com/oxbow-memory/oxbow/profile"
)

// SelectionOut is a selection and its text.
type SelectionOut struct {
	*profile.Selection
	Text string `json:"text"`
}

func NewSelectionOut(s *profile.Selection) SelectionOut { return SelectionOut{s, s.Text()} }
