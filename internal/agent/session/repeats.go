// This file finds events that repeat text that was read of others.

package session

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// findRepeats finds the events in which the agent's text repeats foreign text that it had read, and
// records the repetitions in their field Repeats.
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

// agentText returns the agent's text, plan or command with output. It is "" for other events.
func (e *Event) agentText() string {
	switch {
	case e.Kind == KindText || e.Kind == KindPlan || e.Kind == KindCompact:
		return e.Text
	case e.Kind == KindCall && e.Call != nil:
		return strings.TrimSpace(e.Call.Command + "\n" + e.Call.Output)
	}
	return ""
}

// outputRepeats returns the repeats of a failed command's stored output. If the call read text by
// others, the whole output is text by others.
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

// textSource returns the judgement of a call, or nil if no hook has judged the event.
func (e *Event) textSource() *TextSource {
	if e.Call == nil {
		return nil
	}
	return e.Call.TextSource
}
