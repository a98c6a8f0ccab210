// This file defines the turn: a person's prompt and all events up to the next prompt.

package session

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Turn is a person's prompt and all events up to the next prompt. [Fold] builds turns from events.
type Turn struct {
	Client  string    `json:"client"`
	Session string    `json:"session"`
	N       int       `json:"turn"`         // number in the session, from 1
	ID      string    `json:"id,omitempty"` // the client's prompt ID, if known
	Start   time.Time `json:"start,omitzero"`
	End     time.Time `json:"end,omitzero"` // time of the latest event

	// Events contains each event once, sorted by time. Their Turn is the turn's ID.
	Events []Event `json:"events"`

	// Cut reports whether events were left out because the turn was too large.
	Cut bool `json:"cut,omitempty"`

	reports []Event // the reports from which Events was derived
}

// talk identifies a session of a client.
type talk struct{ client, session string }

// joinTexts returns the main agent's texts of a kind, separated by blank lines.
func (t *Turn) joinTexts(k Kind) string {
	var all []string
	for _, e := range t.Events {
		isMain := e.Kind == k && e.Agent == ""
		if isMain && e.Text != "" {
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// Prompt returns the person's text, or "" if only the agent's part is known.
func (t *Turn) Prompt() string { return t.joinTexts(Prompt) }

// AgentText returns the agent's visible text, without the texts of sub-agents.
func (t *Turn) AgentText() string { return t.joinTexts(Text) }

// CallEvents returns all call events, including calls by sub-agents.
func (t *Turn) CallEvents() []Event {
	return slices.DeleteFunc(slices.Clone(t.Events), func(e Event) bool { return e.Kind != Called || e.Call == nil })
}

// Dir returns the working directory in which the turn began, or "" if it is not known.
func (t *Turn) Dir() string { return t.first(func(e *Event) string { return e.Dir }) }

// Branch returns the branch on which the turn began, or "" if it is not known.
func (t *Turn) Branch() string { return t.first(func(e *Event) string { return e.Branch }) }

func (t *Turn) first(valueOf func(*Event) string) string {
	for i := range t.Events {
		if s := valueOf(&t.Events[i]); s != "" && t.Events[i].Agent == "" {
			return s
		}
	}
	return ""
}

// cutKind is the kind of a report which says that the turn omits reports.
const cutKind Kind = "cut"

// kindOrder lists the kinds in the order of simultaneous events.
var kindOrder = []Kind{Start, Prompt, Injected, Plan, Text, Called, Compact, Stop, End, cutKind}

// compare orders events by time, then by kind, then by their other fields except Injection.
func compare(a, b Event) int {
	return cmp.Or(a.Time.Compare(b.Time),
		cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Agent, b.Agent),
		cmp.Compare(a.Text, b.Text),
		cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Model, b.Model),
		cmp.Compare(a.Transcript, b.Transcript),
		compareCalls(a.Call, b.Call), cmp.Compare(a.Repeats.joinWords(), b.Repeats.joinWords()))
}

func compareCalls(a, b *Call) int {
	if a == nil || b == nil {
		return cmp.Compare(present(a), present(b))
	}
	return cmp.Or(
		cmp.Compare(a.input(), b.input()),
		cmp.Compare(exitStatus(a), exitStatus(b)),
		cmp.Compare(a.Output, b.Output),
		cmp.Compare(a.Was+a.Became, b.Was+b.Became),
		cmp.Compare(a.Before+a.After, b.Before+b.After),
		cmp.Compare(word(a.Failed), word(b.Failed)),
		cmp.Compare(a.Reading.rank(), b.Reading.rank()),
	)
}

// input returns the tool and the arguments of a call. It distinguishes calls if the client reports
// no ID.
func (c *Call) input() string {
	return strings.Join(
		slices.Concat([]string{c.Tool, c.Command, c.Asked, "w"}, c.Wrote, []string{"r"}, c.Read),
		"\x00",
	)
}

func present(c *Call) int { return len(word(c != nil)) }

// word maps true to a text that sorts after the text for false.
func word(b bool) string {
	if b {
		return "x"
	}
	return ""
}

// exitStatus returns the exit status of a call, or a value below every status if it is not known.
func exitStatus(c *Call) int {
	if c.Exit == nil {
		return -1 << 31
	}
	return *c.Exit
}

// SourceEvents returns the reports from which the turn was built. Folding them together with other
// events has the same result as folding all original events.
func (t *Turn) SourceEvents() []Event { return slices.Clone(t.reports) }

// joinWords returns the repeats as a single text, for comparisons.
func (r *Repeats) joinWords() string {
	if r == nil {
		return ""
	}
	return strings.Join(r.Foreign, "\x00") + "\x01" + strings.Join(r.Unvouched, "\x00")
}

// rank returns a text that orders readings by level, from the most trusted to the least trusted. If
// the levels are equal, a reading without a trace comes last.
func (r *Reading) rank() string {
	if r == nil {
		return ""
	}
	level := map[string]string{ReadOwn: "1", ReadUnvouched: "2", ReadForeign: "3"}[r.Level]
	if level == "" {
		level = "4"
	}
	return level + word(r.Trace == "") + "\x00" + r.What + "\x00" + r.Trace
}
