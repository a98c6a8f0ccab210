// This file removes facts from MEMORY.md that repeat another fact.

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

// textMovedToHistory is a text that is moved to HISTORY.md.
type textMovedToHistory struct {
	headingsAbove string
	text          string
	// text of the entry together with oxbow's comment, which contains the name ("" if the entry has no comment)
	textWithComment string
	entryName       string // the entry's name ("" without a name of its own)
}

// markRepeatedUnits finds pairs of facts in MEMORY.md that repeat each other. In each pair it marks one fact as
// removed, and moves oxbow's comment from this fact to the kept fact. The pair does not change if the fact to remove
// has the label tag:keep, or if its comment cannot be moved. movedTexts contains the removed texts that must be
// appended to HISTORY.md. steps says what was done with each removed fact.
func markRepeatedUnits(
	ctx context.Context,
	units []markdownUnit,
) (movedTexts []textMovedToHistory, steps []layout.Step, err error) {
	var texts []sametext.Passage
	var at []int
	for i := range units {
		u := &units[i]
		if !u.isRemovableFact() || u.isRemoved {
			continue
		}
		t := sametext.Passage{Text: u.textWithoutListMarker(), Heading: u.headingPath}
		if u.comment != nil {
			t.KeepPriority = 1
		}
		texts = append(texts, t)
		at = append(at, i)
	}
	near, err := sametext.FindNearDuplicates(ctx, texts, nil)
	if err != nil {
		return nil, nil, err
	}
	for _, tw := range near {
		drop, keep := &units[at[tw.DroppedIndex]], &units[at[tw.KeptIndex]]
		if drop.hasKeepTag() || !moveEntryComment(drop, keep) {
			continue
		}
		drop.isRemoved = true
		step := layout.Step{
			Did:  "drop",
			Text: drop.textWithoutListMarker(),
			Kept: keep.textWithoutListMarker(),
			Why:  "it is the same",
		}
		same := slices.Equal(
			strings.Fields(drop.textWithoutListMarker()),
			strings.Fields(keep.textWithoutListMarker()),
		)
		if !same {
			step.Did, step.Why = "move", "what stays says all of it"
		}
		if !same || drop.headingPath != keep.headingPath {
			movedTexts = append(movedTexts, textMovedToHistory{headingsAbove: drop.headingPath, text: drop.sourceText})
		}
		steps = append(steps, step)
	}
	return movedTexts, steps, nil
}

// moveEntryComment moves oxbow's comment, which contains the name and the labels of an entry, from the unit from to the
// unit to. The caller is about to remove from. If to already has a comment, the two comments are merged. If from has no
// comment, nothing changes, and the result is true.
//
// The result is false if the comment cannot be moved: if to is a list item, or if the new comment would not be valid.
func moveEntryComment(from, to *markdownUnit) bool {
	if from.comment == nil {
		return true
	}
	if to.kind == markdownListItem {
		return false // A comment before an item would split the Markdown list that contains the item.
	}
	m := entryComment{
		Name:    from.comment.Name,
		Aliases: from.comment.Aliases,
		Labels:  from.comment.Labels,
		Created: from.comment.Created,
	}
	if from.newComment != nil {
		m.Aliases, m.Labels = from.newComment.Aliases, from.newComment.Labels
	}
	if old := currentComment(to); old != nil {
		m = entryComment{
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
	to.newComment = &m
	return true
}

// currentComment returns oxbow's comment above a fact, with the changes that were planned so far. It returns nil if
// the fact lacks a comment.
func currentComment(u *markdownUnit) *entryComment {
	if u.newComment != nil {
		return u.newComment
	}
	return u.comment
}

// unionWords returns the words of a and b without duplicates. It leaves out the word excluded.
func unionWords(a, b []string, excluded string) []string {
	var all []string
	for _, s := range slices.Concat(a, b) {
		if s != excluded && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
