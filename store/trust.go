// Trust: how far an entry may be believed, by who wrote it and what was read before.

package store

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/screening/personal"
)

// Trust is how far an entry may be believed. It follows from the source of the
// version and from labels that programs write; no caller sets it.
type Trust string

// The levels of trust, the highest first; see [Trusts].
const (
	trustPerson      Trust = "person"
	trustVerified    Trust = "verified" // by an agent, when a test had passed or a commit was made
	trustTeam        Trust = "team"     // reviewed in the repository of the project
	trustAgent       Trust = "agent"    // or a program
	TrustImported    Trust = "imported"
	TrustUnvouched   Trust = "unvouched"   // by an agent of which no hook reports what it read
	TrustTainted     Trust = "tainted"     // written after its agent had read what others wrote
	TrustQuarantined Trust = "quarantined" // tainted, and shaped like instructions: no text finds it
)

// Labels that programs write. Trust follows from all but the last.
const (
	LabelTaint      = "taint"      // a call that read what others wrote
	LabelSuspect    = "suspect"    // a rule of texts that look like instructions
	LabelQuarantine = "quarantine" // the same of a tainted one
	LabelOrigin     = "origin"     // the trust of a source that is lower than its own
	LabelVerified   = "verified"   // the test or commit
	LabelPersonal   = "personal"   // a kind of personal data that the text holds
	LabelApproved   = "approved"   // person: a person wrote or approved the text, though the last change is a program's

	// LabelUnvouched is on text that nobody vouches for although no foreign text is known
	// to be in it. The value says why: no-hooks, if the writer's session reports nothing, or the command whose output the
	// text repeats.
	LabelUnvouched = "unvouched"
)

// UnvouchedImport is the value of [LabelUnvouched] for what was read from elsewhere.
const UnvouchedImport = "import"

// IsPersonal reports whether the label is one that programs write of personal data.
func (l Label) IsPersonal() bool {
	return l.Key == LabelPersonal && slices.Contains(personal.Kinds(), personal.Kind(l.Value))
}

// IsLocal reports whether a memory gives the label itself and files do not have it: one
// of personal data, or that an import brought the text, because the memory that reads
// the file gives it again.
func (l Label) IsLocal() bool {
	return l.IsPersonal() || l == Label{LabelUnvouched, UnvouchedImport}
}

// Trusts returns the levels, the highest first.
func Trusts() []Trust {
	return []Trust{trustPerson, trustVerified, trustTeam, trustAgent, TrustImported, TrustUnvouched, TrustTainted, TrustQuarantined}
}

// Trust returns how far the entry may be believed.
func (e *Entry) Trust() Trust {
	switch {
	case e.has(LabelQuarantine):
		return TrustQuarantined
	case e.has(LabelTaint):
		return TrustTainted
	case e.Source.Actor == Imported || e.Source.Actor == Foreign || e.has(LabelOrigin) || e.hasValue(LabelUnvouched, UnvouchedImport):
		return TrustImported
	case e.has(LabelUnvouched):
		return TrustUnvouched
	case e.Source.Actor == Person || e.has(LabelApproved):
		return trustPerson
	case e.Source.Actor == Team:
		return trustTeam
	}
	if e.has(LabelVerified) {
		return trustVerified
	}
	return trustAgent
}

// heldLabels are the keys of labels that hold a text back from models that have not
// asked for it, until a person approves it.
var heldLabels = []string{LabelTaint, LabelSuspect, LabelQuarantine, LabelUnvouched, LabelOrigin}

// HeldLabels returns the keys of the labels that hold an entry back; see
// [Entry.Volunteered].
func HeldLabels() []string { return slices.Clone(heldLabels) }

// Suspicious reports whether the text shares words with what was read of others or is
// shaped like instructions. Only a person's approval makes it go on to other places,
// such as a server, a layout without labels or a handoff that is taken without its name.
func (e *Entry) Suspicious() bool {
	return e.has(LabelTaint) || e.has(LabelSuspect) || e.has(LabelQuarantine)
}

// Volunteered reports whether the text may be shown to a model that has not asked for
// it, for example to answer a prompt. It may not if a label holds it back, or if it
// was imported or came with a home that is not trusted. Such a text is found by those
// who ask, with a mark. A person's approval changes that.
func (e *Entry) Volunteered() bool { return !e.HeldByLabel() && !e.Shaped() }

// HeldByLabel reports whether a label or the author keeps the entry from models that have
// not asked for it. It needs no content and little time, so that it can be asked of all
// entries; what is chosen must also be [Entry.Volunteered].
func (e *Entry) HeldByLabel() bool {
	return e.Source.Actor == Imported || e.Source.Actor == Foreign || slices.ContainsFunc(heldLabels, e.has)
}

// Vouched reports whether the text may be in the block with which a session begins.
// A person must have written or approved it, or the team reviewed it, or a test or a
// commit must stand behind it. To be found or shown vouches for nothing.
func (e *Entry) Vouched() bool {
	isByPerson := e.Source.Actor == Person || e.Source.Actor == Team
	return e.Volunteered() && (isByPerson || e.has(LabelVerified) || e.has(LabelApproved))
}

// Withheld reports whether the text is kept from the caller of the context: the entry is
// in quarantine, and its caller is no person.
func (e *Entry) Withheld(ctx context.Context) bool {
	src, _ := SourceFrom(ctx)
	return src.Actor != Person && e.Trust() == TrustQuarantined
}

func (e *Entry) hasValue(key, value string) bool { return slices.Contains(e.Labels, Label{key, value}) }

func (e *Entry) has(key string) bool {
	return slices.ContainsFunc(e.Labels, func(l Label) bool { return l.Key == key })
}
