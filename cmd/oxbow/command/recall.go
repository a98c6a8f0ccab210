// oxbow recall.

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) recallCommand() *cobra.Command {
	var whole bool // a budget was asked for
	c := &cobra.Command{
		Use:   "recall WORDS…",
		Short: "Find entries by words, best first",
		Long: `Recall ranks the entries that hold any of the words (BM25). Among the words
may stand filters: project:vtt, tag:"two words", -tag:draft, kind:note,
after:2026-04, by:agent. Filters alone select, newest first. A word may be
demanded (+word), left out (-word), "two words" together, or begun (ret*).`,
		Example: `  oxbow recall double charge
  oxbow recall deploy project:harbor -tag:draft --limit 3
  oxbow recall retry -payment '"two words"' --explain
  oxbow recall prices --as-of 2026-01-31 --json
  oxbow recall prices --recency 30d`,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	does(a, c, tool.Recall, func(in *tool.RecallIn, f *flagSet, args []string) error {
		in.Query, whole = strings.Join(args, " "), f.given("max_tokens")
		if strings.TrimSpace(in.Query) == "" && !slices.ContainsFunc(withoutWords, f.given) {
			return misusef("for example: oxbow recall deploy project:harbor; oxbow list shows all entries", "recall needs words to look for, or a filter")
		}
		return nil
	}, func(out tool.RecallOut) { a.showRecalled(out, whole) })
	a.completeLabels(c)
	return c
}

// withoutWords are the parameters of recall that do without words.
var withoutWords = []string{"filter", "project", "tags", "kind", "after", "before", "collapse", "rank"}

// showRecalled shows the hits: their snippets or, when a budget was asked for,
// the contents that it had room for.
func (a *app) showRecalled(out tool.RecallOut, whole bool) {
	if len(out.Hits) == 0 {
		a.showNothing(out.Why, out.Near)
		a.showNotes(out.Notes)
		return
	}
	for i, h := range out.Hits {
		if i > 0 {
			a.printf("\n")
		}
		if !whole {
			h.Content = nil
		}
		a.showHit(i+1, h)
	}
	for _, n := range out.Notes {
		if whole || !n.About("max_tokens") {
			a.showNotes([]tool.Note{n})
		}
	}
}

func (a *app) showHit(n int, h tool.Entry) {
	head := fmt.Sprintf("%d  %s", n, a.bold(strings.ReplaceAll(h.Name, "\n", `\n`)))
	meta := a.summary(h)
	if h.Score > 0 {
		meta = fmt.Sprintf("%.2f · ", h.Score) + meta
	}
	a.printf("%s\n", head)
	a.printf("   %s\n", a.dim(fit(meta, a.width()-3)))
	if h.Content != nil {
		for line := range strings.Lines(strings.TrimRight(clean(*h.Content), "\n")) {
			a.printf("   %s\n", strings.TrimRight(line, "\n"))
		}
	} else if h.Snippet != "" {
		for _, line := range wrap(clean(h.Snippet), a.width()-3) {
			a.printf("   %s\n", line)
		}
	}
	if len(h.Alike) > 0 {
		a.printf("   %s\n", a.dim(fit("said as well by "+clean(strings.Join(h.Alike, ", ")), a.width()-3)))
	}
	for _, c := range h.Citations {
		a.printf("   %s\n", a.dim(fit("cites "+citationText(c), a.width()-3)))
	}
	if x := h.Explanation; x != nil {
		for _, t := range x.Terms {
			if t.Score == 0 {
				continue
			}
			where := fmt.Sprintf("%g here", t.TF)
			if len(t.Fields) == 1 {
				where += " from " + clean(t.Fields[0].Field)
			}
			for i, f := range t.Fields {
				switch {
				case len(t.Fields) == 1:
				case i == 0:
					where = fmt.Sprintf("%s %.3f", clean(f.Field), f.Score)
				default:
					where += fmt.Sprintf(", %s %.3f", clean(f.Field), f.Score)
				}
			}
			line := fmt.Sprintf("%7.3f  %s: %s; in %d of %d, idf %.2f", t.Score, clean(t.Term), where, t.DF, x.Entries, t.IDF)
			a.printf("   %s\n", a.dim(line))
		}
		a.printf("   %s\n", a.dim(fmt.Sprintf("%7.3f  %s, %g terms long (%.1f on average)", h.Score, x.Formula, x.Length, x.AvgLen)))
	}
}

// showNothing explains an empty result.
func (a *app) showNothing(why []tool.Note, near []string) {
	if a.quiet {
		return
	}
	if len(why) == 0 {
		why = []tool.Note{tool.Plain("nothing was found")}
	}
	for _, w := range why {
		fmt.Fprintf(a.env.Stderr, "oxbow: %s\n", clean(sentence(w)))
	}
	if len(near) > 0 {
		fmt.Fprintf(a.env.Stderr, "  near to it: %s\n", clean(strings.Join(near, ", ")))
	}
}

// showNotes shows what a verb wants its caller to know.
func (a *app) showNotes(notes []tool.Note) {
	for _, n := range notes {
		a.note("%s", clean(sentence(n)))
	}
}
