// This file shortens the reasoning of an annotation.

package annotate

import (
	"cmp"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/editreason"
)

// Headline returns the reasoning in one line. The first line of a written annotation is the most
// important. Text from a transcript, which an agent wrote before an edit, is different: its last
// sentence that does not merely announce the next step is the most important.
func (r *Record) Headline() string {
	why := strings.TrimSpace(r.Why)
	if !r.isFromTranscript() || strings.HasPrefix(why, NoReasoning) {
		first, _, _ := strings.Cut(why, "\n")
		return strings.TrimSpace(first)
	}
	said, _ := editreason.ReasonSentence(why)
	return cmp.Or(said, why)
}

// IsOnlyAnnouncement reports whether the agent's text before the edit only announces the next step. Then
// the headline does not explain the lines.
func (r *Record) IsOnlyAnnouncement() bool {
	_, gives := editreason.ReasonSentence(r.Why)
	return !gives && r.isFromTranscript() && !strings.HasPrefix(r.Why, NoReasoning)
}

// Reasoning returns the reasoning. If it is text from a transcript, sentences that only announce
// the agent's next step are removed.
func (r *Record) Reasoning() string {
	if !r.isFromTranscript() || strings.HasPrefix(r.Why, NoReasoning) {
		return r.Why
	}
	return editreason.TrimAnnouncements(r.Why)
}

// NoReasoning is the beginning of an annotation's text if the transcript has no reasoning for
// the edit.
const NoReasoning = "No reasoning is shown."

// isFromTranscript reports whether the reasoning is an agent's text before an edit.
func (r *Record) isFromTranscript() bool {
	return len(r.ID) == 17 && r.ID[0] == 't' && r.Ref != ""
}
