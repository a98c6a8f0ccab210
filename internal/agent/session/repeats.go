// This file finds which events repeat what was read of others.

package session

import (
	"strings"

	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// findRepeats sets what the events of agents repeat of what was read of others.
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
		events[i].Repeats = events[i].Repeats.merge(events[i].ownOutput())
	}
	for k, m := range prints.Find(texts, nil) {
		e := &events[at[k]]
		e.Repeats = e.Repeats.merge((&Repeats{m.Foreign, m.Unvouched}).clean())
	}
}

// agentText returns what the agent said, planned or typed; "" for what a person said.
func (e *Event) agentText() string {
	switch {
	case e.Kind == Text || e.Kind == Plan || e.Kind == Compact:
		return e.Text
	case e.Kind == Called && e.Call != nil:
		return strings.TrimSpace(e.Call.Command + "\n" + e.Call.Output)
	}
	return ""
}

// ownOutput returns what the kept output of a failed command repeats because of where it
// came from: all of it is the text of others if the call read others.
func (e *Event) ownOutput() *Repeats {
	if e.Call == nil || e.Call.Output == "" || e.Call.Reading == nil {
		return nil
	}
	switch r := e.Call.Reading; r.Level {
	case ReadForeign:
		return (&Repeats{Foreign: []string{r.What}}).clean()
	case ReadUnvouched:
		return (&Repeats{Unvouched: []string{r.What}}).clean()
	}
	return nil
}
