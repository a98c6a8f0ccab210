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
	headings  string
	text      string
	namedText string // full text of a named entry with its comment ("" if the entry has no name)
	name      string // name of a named entry
}

// markRepeated marks the units that repeat other units as removed. movedTexts has the removed texts that
// must be appended to HISTORY.md.
func markRepeated(ctx context.Context, units []unit) (movedTexts []movedText, steps []layout.Step, err error) {
	var texts []sametext.Passage
	var at []int
	for i := range units {
		u := &units[i]
		if !u.isFact() || u.isRemoved {
			continue
		}
		t := sametext.Passage{Text: u.factText(), Heading: u.headings}
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
		if drop.hasKeepTag() || !moveComment(drop, keep) {
			continue
		}
		drop.isRemoved = true
		step := layout.Step{Did: "drop", Text: drop.factText(), Kept: keep.factText(), Why: "it is the same"}
		same := slices.Equal(strings.Fields(drop.factText()), strings.Fields(keep.factText()))
		if !same {
			step.Did, step.Why = "move", "what stays says all of it"
		}
		if !same || drop.headings != keep.headings {
			movedTexts = append(movedTexts, movedText{headings: drop.headings, text: drop.text})
		}
		steps = append(steps, step)
	}
	return movedTexts, steps, nil
}

// moveComment transfers the comment of the unit from, which will be removed, to the unit to. It returns
// false if the unit to cannot have such a comment.
func moveComment(from, to *unit) bool {
	if from.mark == nil {
		return true
	}
	if to.kind == unitListItem {
		return false // a comment there would split the list
	}
	m := entryMark{
		Name:    from.mark.Name,
		Aliases: from.mark.Aliases,
		Labels:  from.mark.Labels,
		Created: from.mark.Created,
	}
	if from.newMark != nil {
		m.Aliases, m.Labels = from.newMark.Aliases, from.newMark.Labels
	}
	if old := currentMark(to); old != nil {
		m = entryMark{
			Name:    old.Name,
			Aliases: unionWords(old.Aliases, append([]string{m.Name}, m.Aliases...), old.Name),
			Labels: unionWords(
				old.Labels,
				m.Labels,
				"",
			),
			Created:     old.Created,
			End:         old.End,
			unknownKeys: old.unknownKeys,
		}
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
	to.newMark = &m
	return true
}

// currentMark returns the comment that a unit has now, or nil if the unit has no comment.
func currentMark(u *unit) *entryMark {
	if u.newMark != nil {
		return u.newMark
	}
	return u.mark
}

// unionWords returns the words of a and b without duplicates and without the given word.
func unionWords(a, b []string, excluded string) []string {
	var all []string
	for _, s := range slices.Concat(a, b) {
		if s != excluded && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
