// This file takes out of MEMORY.md what another fact there says.

package clawft

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/internal/analysis"
	"github.com/oxbow-memory/oxbow/mdtree"
	"github.com/oxbow-memory/oxbow/prompt"
)

var _ dialect.Tidier = (*Home)(nil)

// Consolidate implements [dialect.Tidier]. A fact is a paragraph or an item of a
// list; which says what another one does is decided by [analysis.NearDuplicates]. Of two that
// are the same the named one stays, else the first; of others the longer. One
// that is not the same to the letter goes to HISTORY.md. The names, aliases and
// labels of an entry that goes are given to the one that stays.
func (h *Home) Consolidate(ctx context.Context, dry bool) (dialect.Tidied, error) {
	return h.tidy(ctx, dry, "consolidate", func(text string, now time.Time) (string, []moved, []dialect.Step, error) {
		units := cutUnits(text)
		out, steps := consolidate(units)
		settle(units)
		return join(text, units), out, steps, nil
	})
}

// moved is what goes to HISTORY.md.
type moved struct {
	under string
	text  string
	named string // the whole of a named entry, with its comment; "" for what has no name
	name  string // of that
}

// consolidate marks the units that can go and returns those that are to be kept
// in the history.
func consolidate(units []unit) (out []moved, steps []dialect.Step) {
	var texts []analysis.Passage
	var at []int
	for i := range units {
		u := &units[i]
		if !u.isFact() || u.gone {
			continue
		}
		t := analysis.Passage{Text: u.fact(), Heading: u.under}
		if u.mark != nil {
			t.Weight = 1
		}
		texts = append(texts, t)
		at = append(at, i)
	}
	for _, tw := range analysis.NearDuplicates(texts) {
		drop, keep := &units[at[tw.Drop]], &units[at[tw.Keep]]
		if drop.kept() || !heir(drop, keep) {
			continue
		}
		drop.gone = true
		step := dialect.Step{Did: "drop", Text: drop.fact(), Kept: keep.fact(), Why: "it is the same"}
		same := slices.Equal(strings.Fields(drop.fact()), strings.Fields(keep.fact()))
		if !same {
			step.Did, step.Why = "move", "what stays says all of it"
		}
		if !same || drop.under != keep.under {
			out = append(out, moved{under: drop.under, text: drop.text})
		}
		steps = append(steps, step)
	}
	return out, steps
}

// heir gives what the comment above one unit says to another, and reports whether
// that one can hold it.
func heir(from, to *unit) bool {
	if from.mark == nil {
		return true
	}
	if to.kind == anItem {
		return false // a comment there would cut the list in two
	}
	m := mark{Name: from.mark.Name, Aliases: from.mark.Aliases, Labels: from.mark.Labels, Created: from.mark.Created}
	if from.also != nil {
		m.Aliases, m.Labels = from.also.Aliases, from.also.Labels
	}
	if old := markNow(to); old != nil {
		m = mark{Name: old.Name, Aliases: union(old.Aliases, append([]string{m.Name}, m.Aliases...), old.Name),
			Labels: union(old.Labels, m.Labels, ""), Created: old.Created, End: old.End, more: old.more}
	}
	var labels []oxbow.Label
	for _, s := range m.Labels {
		l, err := oxbow.ParseLabel(s)
		if err != nil {
			return false
		}
		labels = append(labels, l)
	}
	if oxbow.CheckOp(oxbow.Add{Name: m.Name, Aliases: m.Aliases, Labels: labels}) != nil {
		return false
	}
	m.Labels = nil
	for _, l := range oxbow.SortLabels(labels) {
		m.Labels = append(m.Labels, l.String())
	}
	to.also = &m
	return true
}

// markNow returns what the comment above a unit is to say by now, nil for none.
func markNow(u *unit) *mark {
	if u.also != nil {
		return u.also
	}
	return u.mark
}

// union returns the words of both, each once, without one of them.
func union(a, b []string, without string) []string {
	var all []string
	for _, s := range slices.Concat(a, b) {
		if s != without && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// tidy makes a change of MEMORY.md of which nothing is lost: what it takes out is
// written behind HISTORY.md, and it can be taken back.
func (h *Home) tidy(ctx context.Context, dry bool, what string, change func(text string, now time.Time) (string, []moved, []dialect.Step, error)) (dialect.Tidied, error) {
	var did dialect.Tidied
	err := h.edit(ctx, dry, func(file func(string) string, now time.Time) ([]mdtree.Edit, error) {
		was, history := file(memoryFile), file(historyFile)
		is, out, steps, err := change(was, now)
		if err != nil {
			return nil, err
		}
		did = dialect.Tidied{What: what, Time: now, Before: prompt.Tokens(injected(was)), After: prompt.Tokens(injected(is)), Steps: steps}
		if len(steps) == 0 {
			return nil, nil
		}
		r := replaced{What: what, Time: now, Was: was, Is: atLeastALine(is)}
		edits := []mdtree.Edit{{Path: memoryFile, Text: is}}
		if len(out) > 0 {
			r.History = h.archive(what, out, now, history)
			edits = append(edits, mdtree.Edit{Path: historyFile, Text: history + r.History})
		}
		n, kept, err := h.record(r)
		if !dry {
			did.Number = n
		}
		return append(edits, kept...), err
	})
	if err != nil {
		return dialect.Tidied{}, fmt.Errorf("%s: %w", what, err)
	}
	return did, nil
}

// archive returns what is written behind HISTORY.md: a line that says when and
// why, and each text as a paragraph of its own below the headings that it stood
// under.
func (h *Home) archive(what string, out []moved, now time.Time, history string) string {
	eol := eolOf(history)
	why := "Taken out of MEMORY.md, where what stays says the same:"
	if what == "compress" {
		why = "Moved out of MEMORY.md, to fit its budget:"
	}
	var b strings.Builder
	b.WriteString(gap(history) + h.stamp(now) + " " + why + eol + eol)
	taken := map[string]bool{}
	for _, it := range h.layout.parse(historyFile, history) {
		taken[it.name] = true
	}
	for _, m := range out {
		text := m.text
		switch {
		case m.named != "" && !taken[m.name]:
			text, taken[m.name] = m.named, true
		case m.under != "":
			b.WriteString("(" + m.under + ")" + eol)
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", eol)
		b.WriteString(text + eol + eol)
	}
	return b.String()
}

// stamp returns the date that an entry of HISTORY.md begins with.
func (h *Home) stamp(t time.Time) string {
	return "[" + t.In(h.layout.zone).Format("2006-01-02 15:04") + "]"
}
