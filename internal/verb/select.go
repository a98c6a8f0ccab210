// This file defines the result that contains a profile's selection. The selection is the text that an agent gets when
// it loads the profile.

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
