// This file decides whether the text of an entry may be shown.

package store

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// An Occasion is a situation in which the text of an entry is shown. [Entry.WhyHeld] decides for
// each occasion whether an entry may be shown.
type Occasion int

// These are the occasions on which the text of an entry may be shown.
const (
	// BySearch: a search finds the entry by words in its text, or suggests its name in place of an unknown name.
	BySearch Occasion = iota
	// RequestedByPerson: a person reads the entry, or a list of entries.
	RequestedByPerson
	// RequestedByModel: an agent or a program reads the entry, or a list of entries. The answer
	// shows the level of trust.
	RequestedByModel
	// Unasked: a model gets the entry without asking for it, at a prompt, before an edit or in the
	// selection of a profile.
	Unasked
	// UnaskedByLabels: as for Unasked, a model gets the entry without asking for it, but only the entry's labels and
	// author are checked and not its text. Use it to choose candidates from many entries, or from heads, which lack
	// content. Check each chosen entry for Unasked before you show the entry.
	UnaskedByLabels
	// AtStart: a model gets the entry at the start of its session.
	AtStart
	// WithoutLabels: the entry is copied to a place that does not keep its labels, such as a file that other programs
	// read, a team's repository, a handoff that nobody requested by name, or a layout without labels.
	WithoutLabels
)

// OnRequest returns the occasion on which an answer shows an entry to the caller in ctx. If the caller is a person, the
// result is RequestedByPerson. Otherwise it is RequestedByModel.
func OnRequest(ctx context.Context) Occasion {
	if src, _ := SourceFrom(ctx); src.Actor == Person {
		return RequestedByPerson
	}
	return RequestedByModel
}

// A HoldReason is the reason why an entry must not be shown. The text completes a sentence that
// begins with "it". An empty HoldReason means that the entry may be shown.
type HoldReason string

// These are the reasons for which an entry is held back.
const (
	heldInQuarantine   HoldReason = "is in quarantine"
	heldAsTainted      HoldReason = "repeats foreign text"
	heldAsInstruction  HoldReason = "reads like an instruction to an agent"
	HeldAsImported     HoldReason = "comes from outside, and nobody approved it"
	heldAsUnvouched    HoldReason = "was written by an agent, and what that agent had read is not known"
	heldAtSessionStart HoldReason = "is vouched for by no person, team, test or commit"
)

// WhyHeld returns the reason why the entry must not be shown on the given occasion, or "" if the entry may be shown.
// All other code must call WhyHeld to decide whether an entry may be shown. If several reasons apply, WhyHeld returns
// the most dangerous reason. The approval of an entry by a person removes the labels that hold the entry back.
//
// On the occasions Unasked, AtStart and WithoutLabels, WhyHeld also searches the name, content, aliases and label
// values for instructions. Therefore it also covers entries that were stored before the present rules for instructions
// existed.
func (e *Entry) WhyHeld(occasion Occasion) HoldReason {
	trust := e.Trust()
	switch occasion {
	case RequestedByPerson:
		return ""
	case BySearch, RequestedByModel:
		if trust == TrustQuarantined {
			return heldInQuarantine
		}
		return ""
	}
	switch {
	case trust == TrustQuarantined:
		return heldInQuarantine
	case trust == TrustTainted:
		return heldAsTainted
	case e.hasLabel(LabelSuspect):
		return heldAsInstruction
	case occasion == WithoutLabels:
		if e.readsLikeInstruction() {
			return heldAsInstruction
		}
		return ""
	case trust == TrustImported:
		return HeldAsImported
	case trust == TrustUnvouched:
		return heldAsUnvouched
	case occasion == UnaskedByLabels:
		return ""
	case e.readsLikeInstruction():
		return heldAsInstruction
	case occasion == AtStart && !trust.isAbove(trustAgent):
		return heldAtSessionStart
	}
	return ""
}

// MayShow reports whether the entry may be shown on an occasion (see [Entry.WhyHeld]).
func (e *Entry) MayShow(occasion Occasion) bool { return e.WhyHeld(occasion) == "" }

// onRequestOnlyLabelKeys contains label keys. An entry that has a label with such a key is shown to a model only on
// request. All keys apply on the occasions Unasked, UnaskedByLabels and AtStart, on which a model gets entries that it
// did not ask for. On the occasion WithoutLabels, on which an entry is copied to a place that does not keep its labels,
// only the first heldWithoutLabelsKeyCount keys apply.
var onRequestOnlyLabelKeys = []string{LabelQuarantine, LabelTaint, LabelSuspect, LabelUnvouched, LabelOrigin}

const heldWithoutLabelsKeyCount = 3

// onRequestOnlyActors are the authors whose entries are not shown to a model that did not ask for them.
var onRequestOnlyActors = []string{string(Imported), string(Foreign)}

// HeldLabels returns the keys of labels that prevent an entry from being shown. The receiver on is the occasion, a
// situation in which entries are shown, such as a search. The result does not depend on the author of the entry. On the
// occasion [RequestedByPerson], it is nil, because a person may see every entry.
func (on Occasion) HeldLabels() []string {
	switch on {
	case RequestedByPerson:
		return nil
	case BySearch, RequestedByModel:
		return onRequestOnlyLabelKeys[:1:1]
	case WithoutLabels:
		return onRequestOnlyLabelKeys[:heldWithoutLabelsKeyCount:heldWithoutLabelsKeyCount]
	}
	return slices.Clone(onRequestOnlyLabelKeys)
}

// Filter returns a filter that selects the entries that may be shown on this occasion, according to their labels and
// authors. Before an entry is shown unasked, the caller must also check its text with [Entry.WhyHeld].
func (on Occasion) Filter() Filter {
	var f Filter
	if keys := on.HeldLabels(); keys != nil {
		f.Terms = append(f.Terms, Term{Key: "has", Values: keys, Not: true})
	}
	switch on {
	case Unasked, UnaskedByLabels, AtStart:
		f.Terms = append(f.Terms, Term{Key: "by", Values: slices.Clone(onRequestOnlyActors), Not: true})
	}
	return f
}

// readsLikeInstruction reports whether the entry's name, content, aliases or label values look like instructions to an
// agent. It returns false if a person wrote the text or approved the entry. If the text is by the team, which means
// that people have reviewed it, readsLikeInstruction returns true only if the entry contains hidden characters.
// Reviewers cannot see hidden characters.
func (e *Entry) readsLikeInstruction() bool {
	if e.TextBy() == Person || e.hasLabel(LabelApproved) {
		return false
	}
	texts := make([]string, 0, 2+len(e.Aliases)+len(e.Labels))
	texts = append(append(texts, e.Name, e.Content), e.Aliases...)
	for _, l := range e.Labels {
		texts = append(texts, l.Value)
	}
	rules := screen.FindInstructionRules(strings.Join(texts, "\n"))
	if e.TextBy() == Team {
		return slices.Contains(rules, screen.RuleHiddenChars)
	}
	return rules != nil
}
