// This file separates what people wrote, and summaries, from the text that clients add.

package transcript

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// ExtractPromptText returns the part of a user message that the person wrote (see [clientfile.ExtractPromptText]).
// The function clean removes what must not be stored.
func ExtractPromptText(s string, clean func(string) string) string {
	return strings.TrimSpace(clean(clientfile.ExtractPromptText(s)))
}

// ExtractSummaryText returns the summary of a conversation. s is the text with the summary that a client stored or
// showed to the model. The function clean removes secrets and other parts that must not be stored.
func ExtractSummaryText(s string, clean func(string) string) string {
	if _, in, ok := strings.Cut(s, "<summary>"); ok {
		s, _, _ = strings.Cut(in, "</summary>")
	} else {
		for _, head := range []string{
			"\nSummary:\n",
			"use the information in this summary to assist with your own analysis:\n",
		} {
			if _, in, ok := strings.Cut(s, head); ok {
				s = in
			}
		}
		s, _, _ = strings.Cut(s, "\n\nIf you need specific details from before compaction")
	}
	return strings.TrimSpace(clean(strings.TrimSpace(s)))
}
