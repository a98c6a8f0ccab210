// This file defines the result for a selection, which is the text that a profile gives an agent at the start.

package verb

import (
	"github.com/oxbow-memory/oxbow/profile"
)

// SelectionOut is the selection of a profile, with its text.
type SelectionOut struct {
	*profile.Selection
	Text string `json:"text"`
}

func NewSelectionOut(s *profile.Selection) SelectionOut { return SelectionOut{s, s.Text()} }
