// This file removes facts of MEMORY.md that another fact repeats.

package clawft

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/sametext"
	"github.com/oxbow-memory/oxbow/layout"
)

var _ layout.Tidier = (*Home)(nil)

// movedText is a text that is moved to HISTORY.md.
type movedText struct {
	under string
	text  string
	named string // full text of a named entry with its comment ("" if the entry has no name)
	name  string // name of a named entry
}

// consolidate marks the units that repeat other units as removed. out has the removed texts that
// must be appended to HISTORY.md.
func consolidate(ctx context.Context, units []unit) (out []movedText, steps []layout.Step, err error) {
	var texts []sametext.Passage
	var at []int
	for i := range units {
		u := &units[i]
		if !u.isFact() || u.gone {
			continue
		}
		t := sametext.Passage{Text: u.fact(), Heading: u.under}
		if u.mark != nil {
			t.Weight = 1
		}
		texts = append(texts, t)
		at = append(at, i)
	}
	near, err := sametext.NearDuplicates(ctx, texts, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, tw := range near {
		drop, keep := &units[at[tw.Drop]], &units[at[tw.Keep]]
		if drop.mustStay() || !heir(drop, keep) {
			continue
		}
		drop.gone = true
		step := layout.Step{Did: "drop", Text: drop.fact(), Kept: keep.fact(), Why: "it is the same"}
		same := slices.Equal(strings.Fields(drop.fact()), strings.Fields(keep.fact()))
		if !same {
			step.Did, step.Why = "move", "what stays says all of it"
		}
		if !same || drop.under != keep.under {
			out = append(out, movedText{under: drop.under, text: drop.text})
		}
		steps = append(steps, step)
	}
	return out, steps, nil
}

// heir transfers the comment of the unit from, which will be removed, to the unit to. It returns
// false if the unit to cannot have such a comment.
func heir(from, to *unit) bool {
	if from.mark == nil {
		return true
	}
	if to.kind == anItem {
		return false // a comment there would split the list
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
	if (oxbow.Add{Name: m.Name, Aliases: m.Aliases, Labels: labels}).Check() != nil {
		return false
	}
	m.Labels = nil
	for _, l := range oxbow.SortLabels(labels) {
		m.Labels = append(m.Labels, l.String())
	}
	to.also = &m
	return true
}

// markNow returns the comment that a unit has now, or nil if the unit has no comment.
func markNow(u *unit) *mark {
	if u.also != nil {
		return u.also
	}
	return u.mark
}

// union returns the words of a and b without duplicates and without the given word.
func union(a, b []string, excluded string) []string {
	var all []string
	for _, s := range slices.Concat(a, b) {
		if s != excluded && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
