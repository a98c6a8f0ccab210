// This file finds in a memory's history which entries were made from which other entries.

package lineage

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// The ways in which oxbow recognizes that a version of an entry was made from another entry or a conversation turn.
const (
	FoundByLabel = "from"   // The version has a label "from" that names its source.
	FoundByMerge = "merged" // The change merged the source, which was another entry, into this entry.
	// The version contains six consecutive words that first occurred in the source's text.
	FoundByCopiedWords = "words"
)

// Edge records that a version of an entry was made from another entry or from a conversation turn, the source.
type Edge struct {
	EntryName     string `json:"name"`
	EntryVersion  uint64 `json:"seq"`
	SourceName    string `json:"from"`               // name of the source, which is an entry or a turn
	SourceVersion uint64 `json:"from_seq,omitempty"` // version of the source, or 0 if the source is a turn
	FoundBy       string `json:"how"`                // FoundByLabel, FoundByMerge or FoundByCopiedWords
}

// historyGraph contains the history of a memory's changes, or the part of it in which the requested connections
// between entries and their sources can be found.
type historyGraph struct {
	changes []oxbow.Change // changes, oldest first
	// previousVersion maps each version to the previous version of the same entry.
	previousVersion map[*oxbow.Version]*oxbow.Version
}

// readHistoryGraph reads the whole history of a memory.
func readHistoryGraph(ctx context.Context, h oxbow.Historian) (*historyGraph, error) {
	var changes []oxbow.Change
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	slices.Reverse(changes)
	return newHistoryGraph(changes), nil
}

// newHistoryGraph returns a historyGraph of the changes, which must be in order, oldest first.
func newHistoryGraph(changes []oxbow.Change) *historyGraph {
	g := &historyGraph{changes: changes, previousVersion: map[*oxbow.Version]*oxbow.Version{}}
	last := map[string]*oxbow.Version{}
	for v := range g.eachVersion {
		if old := last[v.Entry.Name]; old != nil {
			g.previousVersion[v] = old
		}
		last[v.Entry.Name] = v
	}
	return g
}

// eachVersion yields all versions that were not erased, oldest first.
func (g *historyGraph) eachVersion(yield func(*oxbow.Version) bool) {
	for i := range g.changes {
		for j := range g.changes[i].Versions {
			if v := &g.changes[i].Versions[j]; !v.Erased && !yield(v) {
				return
			}
		}
	}
}

// Edges returns the connections between the named entries and their sources, and between the named entries and the
// entries made from them. They are ordered by version. If several edges connect the same two entries, it returns only
// the first. A version that an undo or a revert restored does not count as copied from another entry.
func (g *historyGraph) Edges(names map[string]bool) (edges []Edge) {
	type ends struct{ name, from string }
	found := map[ends]bool{}
	add := func(e Edge) {
		k := ends{e.EntryName, e.SourceName}
		isAsked := names[e.EntryName] || names[e.SourceName]
		if e.EntryName == e.SourceName || !isAsked {
			return
		}
		if !found[k] {
			found[k] = true
			edges = append(edges, e)
		}
	}
	asked, first := g.hashVersionWordGrams(names), map[WordGram]*oxbow.Version{}
	var scanner wordGramHasher
	for i := range g.changes {
		for _, e := range g.findMergeEdges(&g.changes[i]) {
			add(e)
		}
		for j := range g.changes[i].Versions {
			v := &g.changes[i].Versions[j]
			for _, e := range g.edgesFromSourceLabels(v) {
				add(e)
			}
			for _, w := range scanner.hashTextWordGrams(v.Entry.Content) {
				if !asked.contains(w) {
					continue
				}
				if o := first[w]; o == nil {
					first[w] = v
				} else if v.Verb != oxbow.VerbRestore {
					add(Edge{v.Entry.Name, v.Seq, o.Entry.Name, o.Seq, FoundByCopiedWords})
				}
			}
		}
	}
	return edges
}

// hashVersionWordGrams returns a hash for each six consecutive words in all versions of the named entries.
func (g *historyGraph) hashVersionWordGrams(names map[string]bool) *wordGramSet {
	all, scanner := map[WordGram]bool{}, wordGramHasher{}
	for v := range g.eachVersion {
		if names[v.Entry.Name] {
			for _, w := range scanner.hashTextWordGrams(v.Entry.Content) {
				all[w] = true
			}
		}
	}
	return newGramSet(all)
}

// edgesFromSourceLabels returns an edge for each source that a label of the version v names. It skips labels that the
// previous version of the entry already had.
func (g *historyGraph) edgesFromSourceLabels(v *oxbow.Version) (edges []Edge) {
	for _, l := range v.Entry.Values(SourceLabel) {
		if old := g.previousVersion[v]; old != nil && slices.Contains(old.Entry.Values(SourceLabel), l) {
			continue
		}
		e := Edge{EntryName: v.Entry.Name, EntryVersion: v.Seq, SourceName: l, FoundBy: FoundByLabel}
		if name, seq, ok := ParseSource(l); ok {
			e.SourceName, e.SourceVersion = name, seq
		}
		edges = append(edges, e)
	}
	return edges
}

// findMergeEdges returns an edge for each pair of entries that a change merged. The removed entry is the source of the
// kept entry.
func (g *historyGraph) findMergeEdges(c *oxbow.Change) (edges []Edge) {
	eachEntryMerge(c, func(gone, kept int) {
		from, to := &c.Versions[gone], &c.Versions[kept]
		edges = append(edges, Edge{to.Entry.Name, to.Seq, from.Entry.Name, from.Prev, FoundByMerge})
	})
	return edges
}

// eachEntryMerge calls fn for each merge in a change, with the indexes of the removed and the kept version in the
// change. In a merge, an entry is removed and its name becomes an alias of another entry.
func eachEntryMerge(c *oxbow.Change, fn func(gone, kept int)) {
	// for each alias, the indexes in c.Versions of the entries with this alias, without removed entries
	var withAlias map[string][]int
	for i := range c.Versions {
		if c.Versions[i].Verb != oxbow.VerbRemove {
			continue
		}
		if withAlias == nil {
			withAlias = map[string][]int{}
			for j := range c.Versions {
				if v := &c.Versions[j]; v.Verb != oxbow.VerbRemove {
					for _, alias := range v.Entry.Aliases {
						withAlias[alias] = append(withAlias[alias], j)
					}
				}
			}
		}
		for _, kept := range withAlias[c.Versions[i].Entry.Name] {
			fn(i, kept)
		}
	}
}

// FindLineage follows a chain of sources, or a chain with entries made from an entry, for at most maxLineageSteps
// steps.
const maxLineageSteps = 8

// followEdgesBothWays returns the two results of [FindLineage]: the edges toward the entry's sources, and the edges
// toward the entries made from it. findEdges must return all edges that start or end at a given entry.
func followEdgesBothWays(
	name string,
	findEdges func(map[string]bool) ([]Edge, error),
) (sourceEdges, derivedEdges []Edge, err error) {
	nearest, err := findEdges(map[string]bool{name: true})
	if err != nil {
		return nil, nil, err
	}
	w := edgeFollower{findEdges: findEdges, isTowardSources: true}
	sourceEdges, err = w.followEdges(name, nearest)
	if err != nil {
		return nil, nil, err
	}
	w.isTowardSources = false
	derivedEdges, err = w.followEdges(name, nearest)
	return sourceEdges, derivedEdges, err
}

// edgeFollower follows connections between entries, either from an entry to its sources or from a source to the entries
// made from it.
type edgeFollower struct {
	findEdges       func(names map[string]bool) ([]Edge, error)
	isTowardSources bool
}

// edgeEntriesInWalkOrder returns the names of the two entries that an edge connects. The walk goes from near to far.
func (w edgeFollower) edgeEntriesInWalkOrder(e Edge) (near, far string) {
	if w.isTowardSources {
		return e.EntryName, e.SourceName
	}
	return e.SourceName, e.EntryName
}

// followEdges returns the edges that can be reached from the entry called name in at most maxLineageSteps steps. An
// edge connects an entry with a source from which the entry was made. If w.isTowardSources is set, each step leads from
// an entry to its sources. Otherwise each step leads from a source to the entries that were made from it. The argument
// found must contain all edges that begin or end at the entry called name. If w.findEdges fails, followEdges returns
// the error.
func (w edgeFollower) followEdges(name string, found []Edge) (edges []Edge, err error) {
	seen, at := map[string]bool{name: true}, map[string]bool{name: true}
	for step := 1; ; step++ {
		next := map[string]bool{}
		for _, e := range found {
			near, far := w.edgeEntriesInWalkOrder(e)
			if !at[near] {
				continue
			}
			edges = append(edges, e)
			if !seen[far] {
				seen[far], next[far] = true, true
			}
		}
		if len(next) == 0 || step == maxLineageSteps {
			return edges, nil
		}
		at = next
		found, err = w.findEdges(next)
		if err != nil {
			return nil, err
		}
	}
}
