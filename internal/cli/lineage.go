// This file implements the command "oxbow lineage".

package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/verb/history"
)

func (a *app) lineageCommand() *cobra.Command {
	return setUpCall(a, &cobra.Command{
		Use:   "lineage NAME",
		Short: "Show what an entry was made from, and what was made from it",
		Long: `Lineage draws the sources of an entry and what was made from it as trees, as
far as the history says: a label from: names the source, two entries were made
one, or a text has six words in a row that stood first in another.`,
		Example: `  oxbow lineage style
  oxbow lineage style --json`,
		Args: argCount(1, 1, "the NAME of an entry"),
	}, history.Lineage, positional, func(out history.LineageOut) {
		if len(out.Why) > 0 {
			a.showNothing(out.Why, nil)
			return
		}
		if len(out.Sources) > 0 {
			a.printf("%s was made from\n", a.bold(nameText(out.Name)))
			lineageTree{edges: out.Sources, drawn: map[string]bool{}}.print(a, out.Name, 1)
		}
		if len(out.Made) > 0 {
			a.printf("made from %s\n", a.bold(nameText(out.Name)))
			lineageTree{edges: out.Made, toMade: true, drawn: map[string]bool{}}.print(a, out.Name, 1)
		}
	})
}

// lineageTree is a tree of entries. Reports have no trees.
type lineageTree struct {
	edges  []lineage.Edge
	toMade bool            // from sources to the entries made from them, not to the sources
	drawn  map[string]bool // names whose edges were printed
}

// print prints the edges that lead from a name as a tree. The edges of each name are printed only
// once.
func (t lineageTree) print(a *app, name string, depth int) {
	t.drawn[name] = true
	for _, e := range t.edges {
		near := e.Name
		far := e.From
		seq := e.Source
		if t.toMade {
			near = e.From
			far = e.Name
			seq = e.Seq
		}
		if near != name {
			continue
		}
		text := nameText(far)
		if seq != 0 {
			text += "@" + seqText(seq)
		}
		a.printf("%s%s  %s\n", strings.Repeat("  ", depth), text, a.dim(e.How))
		if !t.drawn[far] {
			t.print(a, far, depth+1)
		}
	}
}
