// This file finds events that repeat foreign text. Foreign text is text that the agent has read and that neither the
// agent nor the person wrote.

package session

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// findRepeats finds the events in which the agent repeats text by others, and sets their field RepeatedCallResults. It
// does nothing if fingerprints is nil.
func findRepeats(fingerprints *fingerprint.Store, events []Event) {
	if fingerprints == nil {
		return
	}
	var texts []string
	var at []int
	for i := range events {
		if s := events[i].agentText(); s != "" {
			texts, at = append(texts, s), append(at, i)
		}
		events[i].RepeatedCallResults = events[i].RepeatedCallResults.merge(events[i].callsRepeatedInOutput())
	}
	for k, m := range fingerprints.FindRepeats(texts, nil) {
		e := &events[at[k]]
		e.RepeatedCallResults = e.RepeatedCallResults.merge(
			(&RepeatedCallResults{m.ForeignTextLabels, m.UnknownAuthorLabels}).normalize(),
		)
	}
}

// agentText returns the part of an event that comes from the agent: the text, the plan, a compacted conversation's
// summary, or the command with its output. It returns "" for other events.
func (e *Event) agentText() string {
	switch {
	case e.Kind == KindText || e.Kind == KindPlan || e.Kind == KindCompact:
		return e.Text
	case e.Kind == KindToolCall && e.Call != nil:
		return strings.TrimSpace(e.Call.Command + "\n" + e.Call.Output)
	}
	return ""
}

// callsRepeatedInOutput returns the event's own call if the output that the event stores may contain text by others, or
// text for which nobody vouches. This is the case if a hook has judged that the call returned such text. The result is
// nil in all other cases, and also if no output is stored, because only the output of a failed command is stored.
func (e *Event) callsRepeatedInOutput() *RepeatedCallResults {
	r := e.textSource()
	if r == nil || e.Call.Output == "" {
		return nil
	}
	switch r.TrustLevel {
	case TrustLevelForeignText:
		return (&RepeatedCallResults{ForeignTextCalls: []string{r.CallDescription}}).normalize()
	case TrustLevelUnvouchedText:
		return (&RepeatedCallResults{UnvouchedTextCalls: []string{r.CallDescription}}).normalize()
	}
	return nil
}

// textSource returns the hook's judgement about a call's result. It returns nil unless the event is a call that a hook
// has judged.
func (e *Event) textSource() *TextSource {
	if e.Call == nil {
		return nil
	}
	return e.Call.ResultTextSource
}
