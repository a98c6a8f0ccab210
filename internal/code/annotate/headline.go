// This file shortens the reasoning of an annotation for lists.

package annotate

import (
	"cmp"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/editreason"
)

// Headline returns the most important sentence of the reasoning on one line. If the reasoning was written as an
// annotation, Headline returns its first line. If the reasoning was taken from a transcript, it is the text that the
// agent wrote before an edit. Headline then returns the last sentence that does more than announce the agent's next
// step, or the whole text if there is no such sentence. If the transcript contains no reasoning, Headline returns the
// first line.
func (r *Record) Headline() string {
	why := strings.TrimSpace(r.Why)
	if !r.isFromTranscript() || strings.HasPrefix(why, NoReasoning) {
		first, _, _ := strings.Cut(why, "\n")
		return strings.TrimSpace(first)
	}
	said, _ := editreason.FindReasonSentence(why)
	return cmp.Or(said, why)
}

// IsNextStepAnnouncement reports whether Why, the reasoning that was taken from a transcript, only announces the
// agent's next step. Such reasoning does not explain the annotated lines. IsNextStepAnnouncement returns false if the
// annotation does not come from a transcript.
func (r *Record) IsNextStepAnnouncement() bool {
	_, gives := editreason.FindReasonSentence(r.Why)
	return !gives && r.isFromTranscript() && !strings.HasPrefix(r.Why, NoReasoning)
}

// Reasoning returns the reasoning. In text from a transcript, it omits sentences that only announce the agent's next
// step.
func (r *Record) Reasoning() string {
	if !r.isFromTranscript() || strings.HasPrefix(r.Why, NoReasoning) {
		return r.Why
	}
	return editreason.TrimAnnouncements(r.Why)
}

// NoReasoning is the beginning of an annotation's text if the transcript shows no reason for the edit.
const NoReasoning = "No reasoning is shown."

// isFromTranscript reports whether the record comes from a transcript, so that its reasoning is text that an agent
// wrote before an edit. The ID of such a record is the letter t with 16 hexadecimal digits, and Ref contains the
// position in the transcript.
func (r *Record) isFromTranscript() bool {
	return len(r.ID) == 17 && r.ID[0] == 't' && r.SourceRef != ""
}
