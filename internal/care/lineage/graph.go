// Which versions of a history were made from which.

package lineage

import (
	"context"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// How it is known that a version was made from another.
const (
	ByLabel = "from"   // a label names the source
	ByMerge = "merged" // two entries were made one
	ByWords = "words"  // it has words in a row that stood first in the other
)

// Edge says that a version was made from a source.
type Edge struct {
	Name   string `json:"name"`
	Seq    uint64 `json:"seq"`
	From   string `json:"from"`               // name of an entry or of a turn
	Source uint64 `json:"from_seq,omitempty"` // the version; 0 for a turn
	How    string `json:"how"`                // from, merged or words
}

// Graph is a history, of which edges are made as they are asked for.
type Graph struct {
	changes []oxbow.Change // oldest first
	before  map[*oxbow.Version]*oxbow.Version
}

// Read reads a history.
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
	for v := range g.versions {
		if old := last[v.Entry.Name]; old != nil {
			g.before[v] = old
		}
		last[v.Entry.Name] = v
	}
	return g, nil
}

// versions yields all versions, oldest first.
func (g *Graph) versions(yield func(*oxbow.Version) bool) {
	for i := range g.changes {
		for j := range g.changes[i].Versions {
			if v := &g.changes[i].Versions[j]; !v.Erased && !yield(v) {
				return
			}
		}
	}
}

// Edges returns the edges from or to any of some entries, in order of the versions
// that were made, each once for two names. What an undo or a revert brings back was
// made before.
func (g *Graph) Edges(names map[string]bool) (edges []Edge) {
	add := func(e Edge) {
		if e.Name != e.From && (names[e.Name] || names[e.From]) &&
			!slices.ContainsFunc(edges, func(o Edge) bool { return o.Name == e.Name && o.From == e.From }) {
			edges = append(edges, e)
		}
	}
	asked, first := g.words(names), map[Gram]*oxbow.Version{}
	for i := range g.changes {
		for _, e := range g.merged(&g.changes[i]) {
			add(e)
		}
		for j := range g.changes[i].Versions {
			v := &g.changes[i].Versions[j]
			for _, e := range g.named(v) {
				add(e)
			}
			for _, w := range Grams(v.Entry.Content) {
				switch o := first[w]; {
				case !asked[w]:
				case o == nil:
					first[w] = v
				case v.Verb != oxbow.VerbRestore:
					add(Edge{v.Entry.Name, v.Seq, o.Entry.Name, o.Seq, ByWords})
				}
			}
		}
	}
	return edges
}

// words returns the words in a row of all versions of some entries.
func (g *Graph) words(names map[string]bool) map[Gram]bool {
	all := map[Gram]bool{}
	for v := range g.versions {
		if names[v.Entry.Name] {
			for _, w := range Grams(v.Entry.Content) {
				all[w] = true
			}
		}
	}
	return all
}

// named returns the edges of the labels that are new with a version.
func (g *Graph) named(v *oxbow.Version) (edges []Edge) {
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

// merged returns the edges of entries that a change made one: one goes, and its name
// is an alias of the other.
func (g *Graph) merged(c *oxbow.Change) (edges []Edge) {
	for _, gone := range c.Versions {
		if gone.Verb != oxbow.VerbRemove {
			continue
		}
		for _, v := range c.Versions {
			if v.Verb != oxbow.VerbRemove && slices.Contains(v.Entry.Aliases, gone.Entry.Name) {
				edges = append(edges, Edge{v.Entry.Name, v.Seq, gone.Entry.Name, gone.Prev, ByMerge})
			}
		}
	}
	return edges
}

// maxSteps is the most steps from an entry that are followed.
const maxSteps = 8

// Walk returns the edges that lead from an entry to its sources or, with down, to
// what was made from it, and on from there.
func (g *Graph) Walk(name string, down bool) (edges []Edge) {
	seen, next := map[string]bool{name: true}, map[string]bool{name: true}
	for range maxSteps {
		found := g.Edges(next)
		at := next
		next = map[string]bool{}
		for _, e := range found {
			near, far := e.Name, e.From
			if down {
				near, far = far, near
			}
			if !at[near] {
				continue
			}
			edges = append(edges, e)
			if !seen[far] {
				seen[far], next[far] = true, true
			}
		}
		if len(next) == 0 {
			break
		}
	}
	return edges
}
