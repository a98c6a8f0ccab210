// This file ranks the entries of a selection by a table of heads. It examines only as many entries as can be among the
// best, so that a selection from a million entries takes little time.

package profile

import (
	"github.com/oxbow-memory/oxbow"
)

// rankTable is like rankEntries, with a table of heads. The profile must not list entries by name, and its scope must
// not depend on times.
//
// The rank of two entries with the same traits depends only on the times of their last changes, unless the query finds
// them. Therefore rankTable divides the entries into groups with the same traits, and reads the newest entries first.
// When an entry of a group ranks too low, all further entries in this group do as well.
func (r *Resolved) rankTable(
	t *oxbow.HeadTable,
	input *rankingInput,
	tokenBudget int,
) (ranked []rankedEntry, sum includedEntryTotals, err error) {
	best := bestEntries{tokenBudget: tokenBudget}
	for _, e := range t.ChangedEntries {
		if !r.isSelectable(e, input) {
			continue
		}
		sum.addEntry(len(e.Content))
		best.add(rankedEntry{
			rankTraits:   rankTraitsFromLabels(e),
			id:           e.ID,
			entry:        e,
			contentBytes: len(e.Content),
			updateTime:   e.Updated,
			queryRank:    input.queryRanksByID[e.ID],
		})
	}
	groups, err := r.groupForms(t, input)
	if err != nil {
		return nil, sum, err
	}
	err = t.EachRow(func(_, form, size int) {
		if g := groups.byForm[form]; g != nil {
			g.unreadCount++
			sum.addEntry(size)
		}
	})
	if err != nil {
		return nil, sum, err
	}
	newRanked := func(row int, g *traitGroup) rankedEntry {
		id, updated, size := t.Head(row)
		return rankedEntry{
			rankTraits:   g.rankTraits,
			id:           id,
			contentBytes: size,
			updateTime:   updated,
			queryRank:    input.queryRanksByID[id],
		}
	}
	for id := range input.queryRanksByID {
		row, form, ok := t.FindRow(id)
		if !ok || groups.byForm[form] == nil {
			continue
		}
		best.add(newRanked(row, groups.byForm[form]))
	}
	groups.addNewest(t, &best, newRanked)
	return best.sorted(), sum, nil
}

// traitGroup contains the entries with the same traits.
type traitGroup struct {
	rankTraits
	unreadCount int // number of the entries that may still be among the best
}

// traitGroups are the groups of entries that a selection may contain.
type traitGroups struct {
	byForm []*traitGroup // the group of each form (nil if a selection must not contain entries with the form)
	all    map[rankTraits]*traitGroup
}

// groupForms returns the groups for the forms in the table.
func (r *Resolved) groupForms(t *oxbow.HeadTable, input *rankingInput) (groups traitGroups, err error) {
	groups = traitGroups{byForm: make([]*traitGroup, t.FormCount), all: map[rankTraits]*traitGroup{}}
	err = t.EachForm(func(form int, e *oxbow.Entry) {
		if !r.isSelectable(e, input) {
			return
		}
		traits := rankTraitsFromLabels(e)
		g := groups.all[traits]
		if g == nil {
			g = &traitGroup{rankTraits: traits}
			groups.all[traits] = g
		}
		groups.byForm[form] = g
	})
	return groups, err
}

// addNewest adds the best entries of each group, except those that the query found, to best.
func (s traitGroups) addNewest(
	t *oxbow.HeadTable,
	best *bestEntries,
	newRanked func(row int, g *traitGroup) rankedEntry,
) {
	unread := 0 // number of groups with unread entries
	for _, g := range s.all {
		if g.unreadCount > 0 {
			unread++
		}
	}
	if unread == 0 {
		return
	}
	for row, form := range t.NewestRows {
		g := s.byForm[form]
		if g == nil || g.unreadCount == 0 {
			continue
		}
		g.unreadCount--
		x := newRanked(row, g)
		isFound := x.queryRank > 0 // was added before
		if !isFound && !best.add(x) {
			g.unreadCount = 0
		}
		if g.unreadCount > 0 {
			continue
		}
		unread--
		if unread == 0 {
			return
		}
	}
}
