// This file finds events whose text repeats text by others that the agent had read.

package session

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// findRepeats finds the events in which the agent repeats text by others, and sets their field Repeats.
func findRepeats(prints *fingerprint.File, events []Event) {
	if prints == nil {
		return
	}
	var texts []string
	var at []int
	for i := range events {
		if s := events[i].agentText(); s != "" {
			texts, at = append(texts, s), append(at, i)
		}
		events[i].Repeats = events[i].Repeats.merge(events[i].outputRepeats())
	}
	for k, m := range prints.FindRepeats(texts, nil) {
		e := &events[at[k]]
		e.Repeats = e.Repeats.merge((&RepeatedCalls{m.Foreign, m.Unvouched}).normalize())
	}
}

// agentText returns the part of an event that comes from the agent: the text, the plan, or the command with the
// output. It returns "" for other events.
func (e *Event) agentText() string {
	switch {
	case e.Kind == KindText || e.Kind == KindPlan || e.Kind == KindCompact:
		return e.Text
	case e.Kind == KindCall && e.Call != nil:
		return strings.TrimSpace(e.Call.Command + "\n" + e.Call.Output)
	}
	return ""
}

// outputRepeats returns the call whose text the output of a failed command repeats. If the command itself read text by
// others, this is the command's own call. Otherwise outputRepeats returns nil.
func (e *Event) outputRepeats() *RepeatedCalls {
	r := e.textSource()
	if r == nil || e.Call.Output == "" {
		return nil
	}
	switch r.Level {
	case LevelForeign:
		return (&RepeatedCalls{Foreign: []string{r.Cause}}).normalize()
	case LevelUnvouched:
		return (&RepeatedCalls{Unvouched: []string{r.Cause}}).normalize()
	}
	return nil
}

// textSource returns the hook's judgement about a call's result. It returns nil if the event is not a call, or if no
// hook has judged the call.
func (e *Event) textSource() *TextSource {
	if e.Call == nil {
		return nil
	}
	return e.Call.TextSource
}
