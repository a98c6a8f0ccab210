// This file combines the findings of the screening packages for texts that are read together.

// Package screen examines texts before they are stored and before they are shown. It combines four packages: secret
// finds passwords and keys, personal finds personal data, instruction finds text that looks like instructions to an
// agent, and fingerprint finds text that repeats foreign text.
//
// A text that is written is examined in two steps. First, a [SecretCleaner] replaces its secrets, or the text is
// refused, so that no later step stores a secret. Then [ExamineTexts] examines the text that will be stored, and its
// findings become labels. A text without labels, such as a file, is examined by [FindWarningReason] each time it is
// shown.
//
// Other packages call this package instead of secret, personal and instruction. Therefore a new kind of finding must be
// added only here.
package screen

import (
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/instruction"
	"github.com/oxbow-memory/oxbow/internal/screening/personal"
)

// PersonalKind is a kind of personal data.
type PersonalKind = personal.Kind

// PersonalKinds returns all kinds of personal data that [ExamineTexts] finds.
func PersonalKinds() []PersonalKind { return personal.AllKinds() }

// Findings contains what [ExamineTexts] has found in texts that are read together, such as the name, the content
// and the aliases of an entry.
type Findings struct {
	PersonalDataKinds []PersonalKind // kinds of personal data, sorted
	// Names of the rules that the texts match because they look like instructions, sorted.
	InstructionRuleNames []string
}

// ExamineTexts examines texts that are read together. It searches them for personal data, and for instructions to an
// agent. The texts in addedTexts come from programs, such as the values of labels about the text's origin. These texts
// are searched only for personal data.
func ExamineTexts(texts, addedTexts []string) Findings {
	size := 0
	for _, text := range texts {
		size += len(text) + 1
	}
	all := strings.Join(slices.Concat(texts, addedTexts), "\n")
	written := all[:max(0, size-1)]
	return Findings{PersonalDataKinds: personal.FindKinds(all), InstructionRuleNames: FindInstructionRules(written)}
}

// RuleHiddenChars is the rule of [FindInstructionRules] for characters that a model reads but a person does not see.
const RuleHiddenChars = instruction.RuleHiddenChars

// FindInstructionRules returns the names of the rules that a text matches because it looks like instructions to an
// agent, sorted. It returns nil if the text matches no rule.
func FindInstructionRules(text string) []string { return instruction.FindMatchingRules(text) }

// A WarningReason tells why a text without labels needs a warning, or must not be shown to a model that did not ask for
// it. It completes a sentence that begins with "a part of it". If it is "", the text may be shown.
type WarningReason string

// Reasons to doubt a text.
const (
	ReasonInstructions WarningReason = "is shaped like instructions"
	ReasonForeignText  WarningReason = "repeats what others wrote, which an agent had read"
)

// FindWarningReason returns the reason why the texts cannot be trusted: agents or strangers may have written them. It
// returns "" if it finds no reason. The texts are joined and examined as one text. FindWarningReason is meant for texts
// without labels, such as files of other memory systems, past turns, profiles and annotations. For entries, see
// store.Entry.WhyHeld. The function repeatsForeignText reports whether a text repeats a text by others that an agent
// had read. If repeatsForeignText is nil, this is not checked.
func FindWarningReason(repeatsForeignText func(text string) bool, texts ...string) WarningReason {
	text := strings.Join(texts, "\n")
	switch {
	case FindInstructionRules(text) != nil:
		return ReasonInstructions
	case repeatsForeignText != nil && repeatsForeignText(text):
		return ReasonForeignText
	}
	return ""
}

// DescribeInstructions describes the rules that a text matches because it looks like instructions to an agent. It
// returns "" if the text matches no rule.
func DescribeInstructions(text string) string {
	rules := FindInstructionRules(text)
	if rules == nil {
		return ""
	}
	return "shaped like instructions to an agent (" + strings.Join(rules, ", ") + ")"
}
