// Turn: a person's prompt and everything up to the next one.

package session

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Turn is a person's prompt and what came of it, up to the next prompt. [Fold]
// makes turns.
type Turn struct {
	Client  string    `json:"client"`
	Session string    `json:"session"`
	N       int       `json:"turn"`         // ordinal in the session, from 1
	ID      string    `json:"id,omitempty"` // the client's identifier of the prompt, when it gives one
	Start   time.Time `json:"start,omitzero"`
	End     time.Time `json:"end,omitzero"` // of the last event

	// Events are all that happened, each once, by time; the Turn of each is ID.
	Events []Event `json:"events"`

	// Cut says that the turn was too large, and that events are left out.
	Cut bool `json:"cut,omitempty"`

	reports []Event // what Events were made of, each as it was reported
}

// talk is one session of a client.
type talk struct{ client, session string }

// texts joins the texts of events of a kind that are of the main agent.
func (t *Turn) texts(k Kind) string {
	var all []string
	for _, e := range t.Events {
		if e.Kind == k && e.Agent == "" && e.Text != "" {
			all = append(all, e.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// Prompt returns what the person said; "" where only the agent's part is known.
func (t *Turn) Prompt() string { return t.texts(Prompt) }

// Said returns the agent's visible text, without that of sub-agents.
func (t *Turn) Said() string { return t.texts(Text) }

// Calls returns the events that are calls, those of sub-agents among them.
func (t *Turn) Calls() []Event {
	return slices.DeleteFunc(slices.Clone(t.Events), func(e Event) bool { return e.Kind != Called || e.Call == nil })
}

// Dir returns the working directory in which the turn began, "" when it is not known.
func (t *Turn) Dir() string { return t.first(func(e *Event) string { return e.Dir }) }

// Branch returns the branch on which the turn began, "" when it is not known.
func (t *Turn) Branch() string { return t.first(func(e *Event) string { return e.Branch }) }

func (t *Turn) first(of func(*Event) string) string {
	for i := range t.Events {
		if s := of(&t.Events[i]); s != "" && t.Events[i].Agent == "" {
			return s
		}
	}
	return ""
}

// cutKind stands, among the reports of a turn, for those that were left out.
const cutKind Kind = "cut"

// kindOrder are the kinds in the order of events of the same time.
var kindOrder = []Kind{Start, Prompt, Injected, Plan, Text, Called, Compact, Stop, End, cutKind}

// compare orders events by time. No two events of different bytes are equal.
func compare(a, b Event) int {
	return cmp.Or(a.Time.Compare(b.Time),
		cmp.Compare(slices.Index(kindOrder, a.Kind), slices.Index(kindOrder, b.Kind)), cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Turn, b.Turn), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Agent, b.Agent),
		cmp.Compare(a.Text, b.Text),
		cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.Branch, b.Branch), cmp.Compare(a.Model, b.Model),
		cmp.Compare(a.Transcript, b.Transcript),
		compareCalls(a.Call, b.Call), cmp.Compare(a.Repeats.words(), b.Repeats.words()))
}

func compareCalls(a, b *Call) int {
	if a == nil || b == nil {
		return cmp.Compare(present(a), present(b))
	}
	return cmp.Or(
		cmp.Compare(a.input(), b.input()),
		cmp.Compare(exitOf(a), exitOf(b)),
		cmp.Compare(a.Output, b.Output),
		cmp.Compare(a.Was+a.Became, b.Was+b.Became),
		cmp.Compare(a.Before+a.After, b.Before+b.After),
		cmp.Compare(word(a.Failed), word(b.Failed)),
		cmp.Compare(a.Reading.rank(), b.Reading.rank()),
	)
}

// input is what a call was given: what tells it from another where the client
// gives no identifier.
func (c *Call) input() string {
	return strings.Join(
		slices.Concat([]string{c.Tool, c.Command, c.Asked, "w"}, c.Wrote, []string{"r"}, c.Read),
		"\x00",
	)
}

func present(c *Call) int { return len(word(c != nil)) }

// word returns a text for true that stands after that for false.
func word(b bool) string {
	if b {
		return "x"
	}
	return ""
}

// exitOf returns the status of a call, less than any where it is not known.
func exitOf(c *Call) int {
	if c.Exit == nil {
		return -1 << 31
	}
	return *c.Exit
}

// Reports returns what the turn was made of. Together with other events they fold
// to what all of them would.
func (t *Turn) Reports() []Event { return slices.Clone(t.reports) }

// words returns all of it as one text, to compare it.
func (r *Repeats) words() string {
	if r == nil {
		return ""
	}
	return strings.Join(r.Foreign, "\x00") + "\x01" + strings.Join(r.Unvouched, "\x00")
}

// rank orders readings: by level, and of one level the one without a trace last.
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
