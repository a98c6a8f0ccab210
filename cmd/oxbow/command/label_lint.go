// oxbow label lint.

package command

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) labelLintCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "lint",
		Short: "Point out labels that were perhaps meant to be one",
		Long: `Lint finds labels that differ in capitals, accents or the marks between words
only, in a plural, in the owner before a project's name, or in one typing error,
and words that are a project and a tag. It says the command that joins them and
changes nothing.`,
		Example: `  oxbow label lint
  oxbow label lint --json`,
	}, tool.LintLabels, noArguments[tool.LintLabelsIn], a.showLabelDoubts)
}

func (a *app) showLabelDoubts(out tool.LintLabelsOut) {
	for _, d := range out.Doubts {
		var counts []string
		merge := []string{"oxbow", "label", "merge"}
		for _, l := range d.Labels {
			counts = append(counts, fmt.Sprintf("%s (%d)", l.Label, l.Entries))
			if l.Label != d.Merge {
				merge = append(merge, quote(l.Label))
			}
		}
		a.hang("", clean(strings.Join(counts, ", ")+": "+d.Why))
		a.note("  %s", clean(strings.Join(append(merge, quote(d.Merge)), " ")))
	}
	if len(out.Doubts) == 0 {
		a.note("no two labels look like one")
	}
}
