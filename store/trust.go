// Trust: how far an entry may be believed, by who wrote it and what was read before.

package store

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/personal"
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

	// LabelUnvouched is on text that nobody vouches for although no foreign text is known
	// to be in it. The value says why: no-hooks, if the writer's session reports nothing, or the command whose output the
	// text repeats.
	LabelUnvouched = "unvouched"
)

// IsPersonal reports whether the label is one that programs write of personal data.
func (l Label) IsPersonal() bool {
	return l.Key == LabelPersonal && slices.Contains(personal.Kinds(), personal.Kind(l.Value))
}

// Trusts returns the levels, the highest first.
func Trusts() []Trust {
	return []Trust{trustPerson, trustVerified, trustTeam, trustAgent, TrustImported, TrustTainted, TrustQuarantined}
}

// Trust returns how far the entry may be believed.
func (e *Entry) Trust() Trust {
	switch {
	case e.has(LabelQuarantine):
		return TrustQuarantined
	case e.has(LabelTaint):
		return TrustTainted
	case e.Source.Actor == Imported || e.Source.Actor == Foreign || e.has(LabelOrigin):
		return TrustImported
	case e.Source.Actor == Person:
		return trustPerson
	case e.Source.Actor == Team:
		return trustTeam
	}
	if e.has(LabelVerified) {
		return trustVerified
	}
	return trustAgent
}

// Volunteered reports whether the entry may stand before a model that has not asked
// for it: one that is tainted, or shaped like instructions that no person wrote, may
// not.
func (e *Entry) Volunteered() bool {
	return !e.has(LabelTaint) && !e.has(LabelSuspect) && !e.has(LabelQuarantine)
}

// Withheld reports whether the text is kept from the caller of the context: the entry is
// in quarantine, and its caller is no person.
func (e *Entry) Withheld(ctx context.Context) bool {
	src, _ := SourceFrom(ctx)
	return src.Actor != Person && e.Trust() == TrustQuarantined
}

func (e *Entry) has(key string) bool {
	return slices.ContainsFunc(e.Labels, func(l Label) bool { return l.Key == key })
}
