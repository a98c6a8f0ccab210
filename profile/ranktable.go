// This file ranks the entries of a selection. It uses a table of heads, which are entries without their contents. It
// examines only as many entries as can be among the best. Therefore a selection from a million entries takes little
// time.

package profile

import (
	"math"

	"github.com/oxbow-memory/oxbow"
)

// rankTableEntries returns the highest-ranking entries and the totals of all entries, like rankEntries. Its input is a
// table of heads, which are the metadata of entries. The profile must not list entries by name, and its scope must not
// depend on times.
//
// rankTableEntries divides the entries into groups with the same traits. Within a group, a newer entry ranks higher,
// unless the query finds the entries. Therefore the entries that the query found are added separately. All entries in
// small groups, such as pinned entries, are added too. The entries in all other groups are read from the newest to the
// oldest. When an entry of a group ranks too low, all older entries of the group also rank too low and need not be
// read.
func (r *Resolved) rankTableEntries(
	t *oxbow.HeadTable,
	input *rankingInput,
	tokenBudget int,
) (ranked []rankedEntry, totals includedEntryTotals, err error) {
	best := bestEntries{tokenBudget: tokenBudget}
	for _, e := range t.ChangedEntries {
		if !r.isSelectable(e, input) {
			continue
		}
		totals.addEntry(len(e.Content))
		best.add(rankedEntry{
			rankTraits:   rankTraitsFromLabels(e),
			id:           e.ID,
			entry:        e,
			contentBytes: len(e.Content),
			updateTime:   e.Updated,
			queryRank:    input.queryRanksByID[e.ID],
		})
	}
	groups, err := r.groupFormsByTraits(t, input)
	if err != nil {
		return nil, totals, err
	}
	err = t.EachRow(func(row, form, size int) {
		if g := groups.groupByForm[form]; g != nil {
			g.addRow(row)
			totals.addEntry(size)
		}
	})
	if err != nil {
		return nil, totals, err
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
		if !ok || groups.groupByForm[form] == nil {
			continue
		}
		best.add(newRanked(row, groups.groupByForm[form]))
	}
	groups.addSmallGroups(&best, newRanked)
	groups.addNewestEntries(t, &best, newRanked)
	return best.sortedByRank(), totals, nil
}

// maxSmallGroupEntries is the number of entries up to which all entries of a group are ranked. In a larger group, the
// newest entries are found by reading the entries of all groups in the order of their times.
const maxSmallGroupEntries = 256

// traitGroup contains the entries with the same traits.
type traitGroup struct {
	rankTraits
	entryRows   []int // rows of the entries in a group with at most maxSmallGroupEntries entries
	unreadCount int   // number of entries not examined yet (0 if none of them can rank high enough)
}

// addRow counts an entry of the group and, if the group is small, appends the entry's row in the table to g.entryRows.
// If the group has more than maxSmallGroupEntries entries, addRow sets g.entryRows to nil, because rows are only needed
// for small groups.
func (g *traitGroup) addRow(row int) {
	g.unreadCount++
	switch {
	case g.unreadCount <= maxSmallGroupEntries:
		g.entryRows = append(g.entryRows, row)
	case g.entryRows != nil:
		g.entryRows = nil
	}
}

// traitGroups are the groups of entries that a selection may contain.
type traitGroups struct {
	groupByForm   []*traitGroup // group for each form, a combination of kind and labels (nil if it is not selectable)
	groupByTraits map[rankTraits]*traitGroup
}

// groupFormsByTraits puts the forms of the table t into groups. A form is a kind with a set of labels, which many
// entries have in common. A group contains the forms whose labels have the same effect on the rank of an entry. Forms
// of entries that a selection must not contain get no group.
func (r *Resolved) groupFormsByTraits(t *oxbow.HeadTable, input *rankingInput) (groups traitGroups, err error) {
	groups = traitGroups{groupByForm: make([]*traitGroup, t.FormCount), groupByTraits: map[rankTraits]*traitGroup{}}
	err = t.EachForm(func(form int, e *oxbow.Entry) {
		if !r.isSelectable(e, input) {
			return
		}
		traits := rankTraitsFromLabels(e)
		g := groups.groupByTraits[traits]
		if g == nil {
			g = &traitGroup{rankTraits: traits}
			groups.groupByTraits[traits] = g
		}
		groups.groupByForm[form] = g
	})
	return groups, err
}

// addSmallGroups adds the entries of each small group to the list best, except the entries that the query found. In a
// small group, the rows of all entries are stored in entryRows. addSmallGroups sets unreadCount to 0 for these groups,
// so that their entries are not examined again.
func (s traitGroups) addSmallGroups(best *bestEntries, newRanked func(row int, g *traitGroup) rankedEntry) {
	for _, g := range s.groupByTraits {
		for _, row := range g.entryRows {
			if x := newRanked(row, g); x.queryRank == 0 {
				best.add(x)
			}
		}
		if len(g.entryRows) > 0 {
			g.unreadCount = 0
		}
	}
}

// groupCheckRowInterval is the number of rows after which addNewestEntries checks whether a group's older entries can
// still be among the best.
const groupCheckRowInterval = 1024

// addNewestEntries adds entries to best, the list of the highest-ranking entries so far. It reads the rows of the table
// t from the newest to the oldest. It offers each row in a group that still has unread entries to best, except if the
// query found the row's entry, because that entry was added before. addNewestEntries stops reading a group if none of
// its further entries can rank high enough. The function makeRankedEntry makes the ranked entry for a row of a group.
func (s traitGroups) addNewestEntries(
	t *oxbow.HeadTable,
	best *bestEntries,
	makeRankedEntry func(row int, g *traitGroup) rankedEntry,
) {
	unread := s.countUnreadGroups()
	if unread == 0 {
		return
	}
	readRows := 0
	for row, form := range t.NewestRows {
		readRows++
		if readRows%groupCheckRowInterval == 0 {
			s.skipLowRankGroups(t, row, best)
			unread = s.countUnreadGroups()
			if unread == 0 {
				return
			}
		}
		g := s.groupByForm[form]
		if g == nil || g.unreadCount == 0 {
			continue
		}
		g.unreadCount--
		x := makeRankedEntry(row, g)
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

// countUnreadGroups returns the number of groups with entries that have not been read yet and may still rank high
// enough to be selected.
func (s traitGroups) countUnreadGroups() (n int) {
	for _, g := range s.groupByTraits {
		if g.unreadCount > 0 {
			n++
		}
	}
	return n
}

// skipLowRankGroups marks groups as read if none of their remaining entries can rank high enough. The remaining entries
// are not newer than the entry in the given row. Therefore a group is marked if even an entry with the time of this row
// would rank too low in the group.
func (s traitGroups) skipLowRankGroups(t *oxbow.HeadTable, row int, best *bestEntries) {
	_, updated, _ := t.Head(row)
	for _, g := range s.groupByTraits {
		x := rankedEntry{rankTraits: g.rankTraits, id: math.MaxUint64, updateTime: updated}
		if best.ranksTooLow(&x) {
			g.unreadCount = 0
		}
	}
}
