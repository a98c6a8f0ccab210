// This file computes an entry's level of trust, from its author and from the texts that the author's session had read.

package store

import (
	"cmp"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// Trust is an entry's level of trust. [Entry.Trust] computes the level from the version's source
// and from labels that only programs write, so that callers cannot set the level. [Trusts] lists
// the levels in order. [Entry.WhyHeld] decides from the level and the text on which occasions the
// entry may be shown.
type Trust string

// The levels of trust, highest first (see [Trusts]).
const (
	trustPerson   Trust = "person"
	trustVerified Trust = "verified" // written by an agent after a test had passed or a commit was made
	trustTeam     Trust = "team"     // reviewed by the project's team, because it is in the project's repository
	// written by an agent or a program, without any of the signs that change the level of trust
	trustAgent    Trust = "agent"
	TrustImported Trust = "imported"
	// written by an agent in a session for which no hook reports what the agent reads
	TrustUnvouched Trust = "unvouched"
	TrustTainted   Trust = "tainted" // written after the agent had read text by others, such as a web page
	// The text is tainted (see LabelTaint) and also looks like instructions. A search does not find the entry by its
	// text.
	TrustQuarantined Trust = "quarantined"
)

// Only programs write these labels. [Entry.Trust] depends on all these labels except suspect and personal.
const (
	// the agent had read text by others before it wrote the entry; the value is the call that returned this text
	LabelTaint = "taint"
	// the text looks like instructions to an agent; the value is the rule that recognized it
	LabelSuspect = "suspect"
	// the text looks like instructions and may come from others; the value is the rule that recognized it
	LabelQuarantine = "quarantine"
	// trust level of the place that the text comes from, if it is lower than the author's trust level
	LabelOrigin   = "origin"
	LabelVerified = "verified" // the test or commit that supports the text
	LabelPersonal = "personal" // a kind of personal data that the text contains
	// "person" if a person wrote or approved the text, although a program made the last
	// change
	LabelApproved = "approved"

	// LabelUnvouched marks a text that nobody vouches for, although the text is not known to contain text by others.
	// The value is the reason. The value "no-hooks" means that the writer's session does not report which texts it
	// reads. The value "import" means that the text was imported. If the text repeats the output of a command, the
	// value is the command.
	LabelUnvouched = "unvouched"

	// LabelTextBy names the author of an entry's text if the author of the last change is not the author of the text.
	// This is the case if a person changed only the labels of another author's entry, or restored such an entry.
	LabelTextBy = "text-by"
)

// UnvouchedImport is the value of [LabelUnvouched] for imported texts.
const UnvouchedImport = "import"

// IsPersonal reports whether the label marks personal data. Such a label has the key [LabelPersonal], and its value is
// one of the kinds of personal data.
func (l Label) IsPersonal() bool {
	return l.Key == LabelPersonal && slices.Contains(screen.PersonalKinds(), screen.PersonalKind(l.Value))
}

// IsLocal reports whether the label is left out of exported files. This is so for the personal data mark and the
// import mark. The memory that reads the file sets these labels itself.
func (l Label) IsLocal() bool {
	return l.IsPersonal() || l == Label{LabelUnvouched, UnvouchedImport}
}

// Trusts returns the levels of trust, highest first.
func Trusts() []Trust {
	return []Trust{trustPerson, trustVerified, trustTeam, trustAgent, TrustImported, TrustUnvouched, TrustTainted,
		TrustQuarantined}
}

// isAbove reports whether the level is higher than another level.
func (t Trust) isAbove(other Trust) bool {
	return slices.Index(Trusts(), t) < slices.Index(Trusts(), other)
}

// TextBy returns the author of the entry's text. The author of the text is usually the author of the last change. If a
// person made the last change, but only changed labels or aliases or restored an older text, the person has not
// confirmed the text. In this case, the label LabelTextBy stores the author of the text, and TextBy returns this
// author.
func (e *Entry) TextBy() Actor {
	if e.Source.Actor == Person {
		for _, l := range e.Labels {
			if l.Key == LabelTextBy {
				return Actor(l.Value)
			}
		}
	}
	return e.Source.Actor
}

// KeepTextBy returns the labels that an entry must have after a change that keeps the text of the entry. The argument
// by is the author of the change, labels are the labels that the change sets, and old is the entry before the change.
//
// A person who changes only other parts of the entry does not become the author of the text, unless the person approves
// the text with [LabelApproved]. Therefore KeepTextBy adds a label that names the origin of the text. If the text was
// imported or is by others, this is [LabelUnvouched] with the value [UnvouchedImport]. If an agent or a program wrote
// the text, this is [LabelTextBy] with the author. In all other cases, KeepTextBy adds nothing. It always removes a
// former [LabelTextBy].
func KeepTextBy(labels []Label, old *Entry, by Actor) []Label {
	labels = slices.DeleteFunc(slices.Clone(labels), func(l Label) bool { return l.Key == LabelTextBy })
	isApproved := slices.ContainsFunc(labels, func(l Label) bool { return l.Key == LabelApproved })
	if by != Person || isApproved {
		return labels
	}
	author := cmp.Or(old.TextBy(), Program)
	isForeign := author == Imported || author == Foreign
	if isForeign || old.hasValue(LabelUnvouched, UnvouchedImport) {
		return SortLabels(append(labels, Label{LabelUnvouched, UnvouchedImport}))
	}
	if author != Person {
		labels = append(labels, Label{LabelTextBy, string(author)})
	}
	return SortLabels(labels)
}

// WithoutTextBy returns the labels without the labels that [KeepTextBy] adds. Writers do not set these labels.
// Therefore two versions that differ only in these labels count as equal.
func WithoutTextBy(labels []Label) []Label {
	return slices.DeleteFunc(slices.Clone(labels), func(l Label) bool {
		return l.Key == LabelTextBy || l == Label{LabelUnvouched, UnvouchedImport}
	})
}

// Trust returns the entry's level of trust.
func (e *Entry) Trust() Trust {
	switch {
	case e.hasLabel(LabelQuarantine):
		return TrustQuarantined
	case e.hasLabel(LabelTaint):
		return TrustTainted
	case e.Source.Actor == Imported || e.Source.Actor == Foreign || e.hasLabel(LabelOrigin) ||
		e.hasValue(LabelUnvouched, UnvouchedImport):
		return TrustImported
	case e.hasLabel(LabelUnvouched):
		return TrustUnvouched
	case e.TextBy() == Person || e.hasLabel(LabelApproved):
		return trustPerson
	case e.TextBy() == Team:
		return trustTeam
	}
	if e.hasLabel(LabelVerified) {
		return trustVerified
	}
	return trustAgent
}

func (e *Entry) hasValue(key, value string) bool { return slices.Contains(e.Labels, Label{key, value}) }

func (e *Entry) hasLabel(key string) bool {
	return slices.ContainsFunc(e.Labels, func(l Label) bool { return l.Key == key })
}
