// This file joins the findings about texts that are read together.

// Package screen examines texts before they are stored and before they are shown. Package secret
// finds passwords and keys, personal finds personal data, instruction finds text that is
// shaped like instructions to an agent, and fingerprint finds text that repeats foreign text.
//
// A text that is written is examined in two steps. First, secrets in the text are replaced, or the text is refused, so
// that no later step stores a secret. Then one call of [Find] examines the text that will be stored, and the findings
// become labels. A text without labels, such as a file, is examined by [Doubt] each time it is shown.
package screen

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
	"github.com/oxbow-memory/oxbow/internal/screening/personal"
)

// Findings describes texts that are read together, such as the name, content and aliases of an entry.
type Findings struct {
	Personal     []personal.Kind // kinds of personal data, sorted
	Instructions []string        // rules for instructions that the texts match, sorted
}

// Find examines texts that are read together. The texts in added were added by programs, such as
// the values of labels with the origin of the text. Find searches them for personal data only.
func Find(texts, added []string) Findings {
	written := strings.Join(texts, "\n")
	all := written
	if len(added) > 0 {
		all += "\n" + strings.Join(added, "\n")
	}
	return Findings{Personal: personal.FindKinds(all), Instructions: instruction.Find(written)}
}

// A DoubtReason is the reason why a text without labels needs a warning, or must not be shown to a model that did not
// ask for it. The text of the reason completes a sentence that begins with "a part of it". An empty DoubtReason means
// that the text may be shown.
type DoubtReason string

// The reasons for doubt.
const (
	IsShaped DoubtReason = "is shaped like instructions"
	Repeats  DoubtReason = "repeats what others wrote, which an agent had read"
)

// Doubt returns the reason to doubt texts that agents or strangers may have written and that are read
// together. It is the only function that decides this for texts without labels, such as the files of
// other layouts, past turns, profiles and annotations. For entries, see store.Entry.WhyHeld. If
// repeats is nil, repetitions are not checked.
func Doubt(repeats func(text string) bool, texts ...string) DoubtReason {
	text := strings.Join(texts, "\n")
	switch {
	case instruction.Find(text) != nil:
		return IsShaped
	case repeats != nil && repeats(text):
		return Repeats
	}
	return ""
}

// Shape describes the rules for instructions that a text matches. It returns "" if the text matches
// none.
func Shape(text string) string {
	rules := instruction.Find(text)
	if rules == nil {
		return ""
	}
	return "shaped like instructions to an agent (" + strings.Join(rules, ", ") + ")"
}
