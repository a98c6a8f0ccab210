// The headline of an annotation: its reasoning on one line.

package annotate

import (
	"cmp"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/reason"
)

// Headline returns the reasoning on one line, where there is no room for more. What
// was written as an annotation begins with what matters: its first line. What an
// agent said on its way to an edit, as transcripts have it, ends with that: the last
// sentence that does more than to announce the next step.
func (r *Record) Headline() string {
	why := strings.TrimSpace(r.Why)
	if !r.fromTranscript() || strings.HasPrefix(why, NoReasoning) {
		first, _, _ := strings.Cut(why, "\n")
		return strings.TrimSpace(first)
	}
	said, _ := reason.Sentence(why)
	return cmp.Or(said, why)
}

// OnlyAnnounces reports whether all that an agent said on its way to the edit announces the
// next step, so that the headline says nothing of why the lines are so.
func (r *Record) OnlyAnnounces() bool {
	_, gives := reason.Sentence(r.Why)
	return !gives && r.fromTranscript() && !strings.HasPrefix(r.Why, NoReasoning)
}

// Reasoning returns why the lines are as they are: of what an agent said before an edit, without
// what only announces its next step.
func (r *Record) Reasoning() string {
	if !r.fromTranscript() || strings.HasPrefix(r.Why, NoReasoning) {
		return r.Why
	}
	return reason.Trim(r.Why)
}

// NoReasoning begins what is kept of an edit that the transcript has no reasoning of.
const NoReasoning = "No reasoning is shown."

// fromTranscript reports whether the reasoning is what an agent said before an edit.
func (r *Record) fromTranscript() bool {
	return len(r.ID) == 17 && r.ID[0] == 't' && r.Ref != ""
}
