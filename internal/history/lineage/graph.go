// This file finds the entries that were made from other entries, in the history of a memory.

package lineage

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// The ways in which oxbow recognizes that a version was made from a source.
const (
	ByLabel = "from"   // a label names the source
	ByMerge = "merged" // a change merged two entries
	ByWords = "words"  // it contains six consecutive words that first occurred in the source
)

// Edge is the fact that a version was made from a source.
type Edge struct {
	Name   string `json:"name"`
	Seq    uint64 `json:"seq"`
	From   string `json:"from"`               // name of the source: an entry or a turn
	Source uint64 `json:"from_seq,omitempty"` // version of the source entry (0 for a turn)
	How    string `json:"how"`                // ByLabel, ByMerge or ByWords
}

// Graph contains a history. It computes edges on request.
type Graph struct {
	changes []oxbow.Change // oldest first
	// For each version, the version of the same entry before it.
	before map[*oxbow.Version]*oxbow.Version
}

// Read reads the history of a memory.
func Read(ctx context.Context, h oxbow.Historian) (*Graph, error) {
	g := &Graph{before: map[*oxbow.Version]*oxbow.Version{}}
	for c, err := range h.Log(ctx) {
		if err != nil {
			return nil, err
		}
		g.changes = append(g.changes, c)
	}
	slices.Reverse(g.changes)
	last := map[string]*oxbow.Version{}
	for v := range g.eachVersion {
		if old := last[v.Entry.Name]; old != nil {
			g.before[v] = old
		}
		last[v.Entry.Name] = v
	}
	return g, nil
}

// eachVersion yields all versions that were not erased, oldest first.
func (g *Graph) eachVersion(yield func(*oxbow.Version) bool) {
	for i := range g.changes {
		for j := range g.changes[i].Versions {
			if v := &g.changes[i].Versions[j]; !v.Erased && !yield(v) {
				return
			}
		}
	}
}

// Edges returns the edges that start or end at a named entry, ordered by version. If several edges
// connect the same two entries, it returns the first. A version restored by an undo or a revert
// does not count as copied.
func (g *Graph) Edges(names map[string]bool) (edges []Edge) {
	type ends struct{ name, from string }
	found := map[ends]bool{}
	add := func(e Edge) {
		k := ends{e.Name, e.From}
		if e.Name != e.From && (names[e.Name] || names[e.From]) && !found[k] {
			found[k] = true
			edges = append(edges, e)
		}
	}
	asked, first := g.versionGrams(names), map[Gram]*oxbow.Version{}
	var scanner gramScanner
	for i := range g.changes {
		for _, e := range g.mergeEdges(&g.changes[i]) {
			add(e)
		}
		for j := range g.changes[i].Versions {
			v := &g.changes[i].Versions[j]
			for _, e := range g.labelEdges(v) {
				add(e)
			}
			for _, w := range scanner.hashGrams(v.Entry.Content) {
				if !asked.contains(w) {
					continue
				}
				if o := first[w]; o == nil {
					first[w] = v
				} else if v.Verb != oxbow.VerbRestore {
					add(Edge{v.Entry.Name, v.Seq, o.Entry.Name, o.Seq, ByWords})
				}
			}
		}
	}
	return edges
}

// versionGrams returns the grams in all versions of the named entries.
func (g *Graph) versionGrams(names map[string]bool) *gramSet {
	all, scanner := map[Gram]bool{}, gramScanner{}
	for v := range g.eachVersion {
		if names[v.Entry.Name] {
			for _, w := range scanner.hashGrams(v.Entry.Content) {
				all[w] = true
			}
		}
	}
	return newGramSet(all)
}

// labelEdges returns an edge for each source label that the version before does not have.
func (g *Graph) labelEdges(v *oxbow.Version) (edges []Edge) {
	for _, l := range v.Entry.Values(Label) {
		if old := g.before[v]; old != nil && slices.Contains(old.Entry.Values(Label), l) {
			continue
		}
		e := Edge{Name: v.Entry.Name, Seq: v.Seq, From: l, How: ByLabel}
		if name, seq, ok := ParseSource(l); ok {
			e.From, e.Source = name, seq
		}
		edges = append(edges, e)
	}
	return edges
}

// mergeEdges returns edges for entries that a change merged. A merge removes an entry, and the
// removed name becomes another entry's alias.
func (g *Graph) mergeEdges(c *oxbow.Change) (edges []Edge) {
	var withAlias map[string][]*oxbow.Version // versions of entries that stay, by alias
	for i := range c.Versions {
		gone := &c.Versions[i]
		if gone.Verb != oxbow.VerbRemove {
			continue
		}
		if withAlias == nil {
			withAlias = map[string][]*oxbow.Version{}
			for j := range c.Versions {
				if v := &c.Versions[j]; v.Verb != oxbow.VerbRemove {
					for _, alias := range v.Entry.Aliases {
						withAlias[alias] = append(withAlias[alias], v)
					}
				}
			}
		}
		for _, v := range withAlias[gone.Entry.Name] {
			edges = append(edges, Edge{v.Entry.Name, v.Seq, gone.Entry.Name, gone.Prev, ByMerge})
		}
	}
	return edges
}

// maxSteps is the maximum length of a path that Walk follows.
const maxSteps = 8

// Walk returns the edges from an entry to its sources, then to their sources, and so on. It also
// returns the edges from the entry to the entries made from it, then to those made from these.
func (g *Graph) Walk(name string) (sources, made []Edge) {
	nearest := g.Edges(map[string]bool{name: true})
	sources = g.walk(name, nearest, func(e Edge) (near, far string) { return e.Name, e.From })
	made = g.walk(name, nearest, func(e Edge) (near, far string) { return e.From, e.Name })
	return sources, made
}

// walk follows edges from the near end to the far end. found are the edges of the named entry.
func (g *Graph) walk(name string, found []Edge, ends func(Edge) (near, far string)) (edges []Edge) {
	seen, at := map[string]bool{name: true}, map[string]bool{name: true}
	for step := 1; ; step++ {
		next := map[string]bool{}
		for _, e := range found {
			near, far := ends(e)
			if !at[near] {
				continue
			}
			edges = append(edges, e)
			if !seen[far] {
				seen[far], next[far] = true, true
			}
		}
		if len(next) == 0 || step == maxSteps {
			return edges
		}
		at, found = next, g.Edges(next)
	}
}
