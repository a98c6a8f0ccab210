// This file implements the command "oxbow lineage".

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func lineageCommand(mem *lazyMemory) *cobra.Command {
	return setUpVerbCommand(mem, &cobra.Command{
		Use:   "lineage NAME",
		Short: "Show the sources of an entry and the entries made from it",
		Long: `Lineage shows two trees: the entries from which an entry was made, and the
entries that were made from it. oxbow recognizes a source in three ways: a
label from: names it, two entries were merged, or a text repeats six words in a
row that first occurred in the source.`,
		Example: `  oxbow lineage style
  oxbow lineage style --json`,
		Args: requireArgCount(1, 1, "the NAME of an entry"),
	}, history.Lineage, setPositionalArgs, func(out history.LineageOut) {
		if len(out.EmptyResultReasons) > 0 {
			mem.env.explainEmptyResult(out.EmptyResultReasons, nil)
			return
		}
		if len(out.SourceEdges) > 0 {
			mem.env.printf("%s was made from\n", mem.env.bold(printableName(out.Name)))
			newEntryLineageTree(out.SourceEdges, towardSources).printBranch(mem, out.Name, 1)
		}
		if len(out.DerivedEdges) > 0 {
			mem.env.printf("made from %s\n", mem.env.bold(printableName(out.Name)))
			newEntryLineageTree(out.DerivedEdges, towardDerivedEntries).printBranch(mem, out.Name, 1)
		}
	})
}

// lineageDirection is the direction of the arrows that a entryLineageTree prints between an entry and its sources.
type lineageDirection int

const (
	towardSources lineageDirection = iota // towardSources means that edges lead from entries to their sources.
	// towardDerivedEntries means that edges lead from sources to the entries made from them.
	towardDerivedEntries
)

// entryLineageTree is a tree of entries that the command prints itself, because a report cannot contain a tree.
type entryLineageTree struct {
	edgesBySource map[string][]lineageEdge // the edges that begin at each entry name
	printedNames  map[string]bool          // entry names whose edges were already printed
}

// lineageEdge is an arrow in a entryLineageTree that leads from an entry to a source, or from a source to an entry.
type lineageEdge struct {
	targetName       string // entry or turn to which the edge leads
	targetVersion    uint64 // version number of the entry to which the edge leads (0 if the edge names no version)
	relationToTarget string
}

// newEntryLineageTree returns a tree of the given edges. Each edge connects an entry with a source, from which the
// entry was made. If direction is towardDerivedEntries, each node leads to the entries that were made from it.
// Otherwise each node leads to its sources.
func newEntryLineageTree(edges []lineage.Edge, direction lineageDirection) entryLineageTree {
	t := entryLineageTree{edgesBySource: map[string][]lineageEdge{}, printedNames: map[string]bool{}}
	for _, e := range edges {
		if direction == towardDerivedEntries {
			t.edgesBySource[e.SourceName] = append(
				t.edgesBySource[e.SourceName],
				lineageEdge{e.EntryName, e.EntryVersion, e.FoundBy},
			)
		} else {
			t.edgesBySource[e.EntryName] = append(t.edgesBySource[e.EntryName],
				lineageEdge{e.SourceName, e.SourceVersion,
					e.FoundBy})
		}
	}
	return t
}

// printBranch prints the names to which the edges from a name lead, each on a line with an indentation of depth steps.
// Below each of these names, it prints the branch of this name in the same way. The edges of a name are printed only
// once.
func (t entryLineageTree) printBranch(mem *lazyMemory, name string, depth int) {
	t.printedNames[name] = true
	for _, step := range t.edgesBySource[name] {
		text := printableName(step.targetName)
		if step.targetVersion != 0 {
			text += "@" + formatSeq(step.targetVersion)
		}
		mem.env.printf("%s%s  %s\n", strings.Repeat("  ", depth), text, mem.env.dim(step.relationToTarget))
		if !t.printedNames[step.targetName] {
			t.printBranch(mem, step.targetName, depth+1)
		}
	}
}
