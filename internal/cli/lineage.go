// This file implements the command "oxbow lineage".

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func lineageCommand(mem *openMemory) *cobra.Command {
	return setUpCall(mem, &cobra.Command{
		Use:   "lineage NAME",
		Short: "Show the sources of an entry and the entries made from it",
		Long: `Lineage shows two trees: the entries from which an entry was made, and the
entries that were made from it. oxbow recognizes a source in three ways: a
label from: names it, two entries were merged, or a text repeats six words in a
row that first occurred in the source.`,
		Example: `  oxbow lineage style
  oxbow lineage style --json`,
		Args: argCount(1, 1, "the NAME of an entry"),
	}, history.Lineage, positional, func(out history.LineageOut) {
		if len(out.Why) > 0 {
			mem.env.showNothing(out.Why, nil)
			return
		}
		if len(out.Sources) > 0 {
			mem.env.printf("%s was made from\n", mem.env.bold(nameText(out.Name)))
			newLineageTree(out.Sources, toSources).print(mem, out.Name, 1)
		}
		if len(out.Made) > 0 {
			mem.env.printf("made from %s\n", mem.env.bold(nameText(out.Name)))
			newLineageTree(out.Made, toMade).print(mem, out.Name, 1)
		}
	})
}

// direction is the direction of the edges in a lineageTree.
type direction int

const (
	toSources direction = iota // from entries to their sources
	toMade                     // from sources to the entries made from them
)

// lineageTree is a tree of entries. Reports have no trees.
type lineageTree struct {
	edges map[string][]lineageStep // by the name of the entry from which they lead
	drawn map[string]bool          // names whose edges were printed
}

// lineageStep is an edge of a lineageTree.
type lineageStep struct {
	name string // entry or turn to which the edge leads
	seq  uint64 // number of the version, or 0 if the edge has no version
	how  string
}

// newLineageTree returns the tree of edges that lead in one direction.
func newLineageTree(edges []lineage.Edge, to direction) lineageTree {
	t := lineageTree{edges: map[string][]lineageStep{}, drawn: map[string]bool{}}
	for _, e := range edges {
		if to == toMade {
			t.edges[e.From] = append(t.edges[e.From], lineageStep{e.Name, e.Seq, e.How})
		} else {
			t.edges[e.Name] = append(t.edges[e.Name], lineageStep{e.From, e.Source, e.How})
		}
	}
	return t
}

// print prints the edges that lead from a name as a tree. The edges of each name are printed only
// once.
func (t lineageTree) print(mem *openMemory, name string, depth int) {
	t.drawn[name] = true
	for _, step := range t.edges[name] {
		text := nameText(step.name)
		if step.seq != 0 {
			text += "@" + seqText(step.seq)
		}
		mem.env.printf("%s%s  %s\n", strings.Repeat("  ", depth), text, mem.env.dim(step.how))
		if !t.drawn[step.name] {
			t.print(mem, step.name, depth+1)
		}
	}
}
