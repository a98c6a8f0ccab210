// This file joins the findings about texts that are read together.

// Package screen examines texts before they are stored and before they are shown. Package secret
// finds passwords and keys, personal finds personal data, instruction finds text that is
// shaped like instructions to an agent, and fingerprint finds text that repeats foreign text.
//
// A text that is written is examined in two steps. First, a [Cleaner] replaces secrets in the text, or the text is
// refused, so that no later step stores a secret. Then one call of [Find] examines the text that will be stored,
// and the findings become labels. A text without labels, such as a file, is examined by [ReasonToDoubt] each time
// it is shown.
//
// Other packages do not import secret, personal and instruction, but call this package. Therefore a new kind of finding
// is added in one place.
package screen

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
	"github.com/oxbow-memory/oxbow/internal/screening/personal"
)

// PersonalKind is a kind of personal data.
type PersonalKind = personal.Kind

// PersonalKinds returns all kinds of personal data that [Find] finds.
func PersonalKinds() []PersonalKind { return personal.AllKinds() }

// Findings describes texts that are read together, such as the name, content and aliases of an entry.
type Findings struct {
	Personal     []PersonalKind // kinds of personal data, sorted
	Instructions []string       // rules for instructions that the texts match, sorted
}

// Find examines texts that are read together. The texts in added were added by programs, such as
// the values of labels with the origin of the text. Find searches them for personal data only.
func Find(texts, added []string) Findings {
	size := 0
	for _, text := range texts {
		size += len(text) + 1
	}
	all := strings.Join(slices.Concat(texts, added), "\n")
	written := all[:max(0, size-1)]
	return Findings{Personal: personal.FindKinds(all), Instructions: InstructionRules(written)}
}

// RuleHidden is the rule of [InstructionRules] for characters that only a model sees.
const RuleHidden = instruction.RuleHidden

// InstructionRules returns the rules for instructions to an agent that a text matches, sorted. It returns nil if
// the text matches none.
func InstructionRules(text string) []string { return instruction.Find(text) }

// A DoubtReason is the reason why a text without labels needs a warning, or must not be shown to a model that did not
// ask for it. The text of the reason completes a sentence that begins with "a part of it". An empty DoubtReason means
// that the text may be shown.
type DoubtReason string

// The reasons for doubt.
const (
	DoubtInstructions DoubtReason = "is shaped like instructions"
	DoubtForeignText  DoubtReason = "repeats what others wrote, which an agent had read"
)

// ReasonToDoubt returns the reason to doubt texts that agents or strangers may have written and that are read
// together. It is the only function that decides this for texts without labels, such as the files of
// other layouts, past turns, profiles and annotations. For entries, see store.Entry.WhyHeld. If
// repeats is nil, repetitions are not checked.
func ReasonToDoubt(repeats func(text string) bool, texts ...string) DoubtReason {
	text := strings.Join(texts, "\n")
	switch {
	case InstructionRules(text) != nil:
		return DoubtInstructions
	case repeats != nil && repeats(text):
		return DoubtForeignText
	}
	return ""
}

// DescribeInstructions describes the rules for instructions that a text matches. It returns "" if the text matches
// none.
func DescribeInstructions(text string) string {
	rules := InstructionRules(text)
	if rules == nil {
		return ""
	}
	return "shaped like instructions to an agent (" + strings.Join(rules, ", ") + ")"
}
