// oxbow recall.

package command

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/screen"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/tool"
)

func (a *app) recallCommand() *cobra.Command {
	var whole, sessions bool // a budget was asked for; the archive is
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
  oxbow recall prices --recency 30d
  oxbow recall rounding error --sessions`,
	}
	does(a, c, tool.Recall, func(in *tool.RecallIn, f *flagSet, args []string) error {
		in.Query, whole = strings.Join(args, " "), f.given("max_tokens")
		if sessions {
			if in.In != "" && in.In != "sessions" {
				return misusef("leave one of them out", "--sessions and --in %s are given", in.In)
			}
			in.In = "sessions"
		}
		if strings.TrimSpace(in.Query) == "" && !slices.ContainsFunc(withoutWords, f.given) {
			return misusef("for example: oxbow recall deploy project:harbor; oxbow list shows all entries", "recall needs words to look for, or a filter")
		}
		return nil
	}, func(out tool.RecallOut) { a.showRecalled(out, whole) })
	c.Flags().BoolVar(&sessions, "sessions", false, "look in what was said in past sessions")
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

// excerptRows is the most rows that a hit is shown by.
const excerptRows = 4

func (a *app) showHit(n int, h tool.Entry) {
	slices.Sort(h.Words)
	a.hangMarked(fmt.Sprintf("%d  ", n), nameText(h.Name), h.Words, screen.Bold)
	meta := a.summary(h)
	if h.Score > 0 {
		meta = fmt.Sprintf("%.2f · ", h.Score) + meta
	}
	below := func(s string) { a.printf("   %s\n", a.dim(a.cut(s, a.width()-3))) }
	below(meta)
	if h.Trust != "" {
		below(strings.TrimSpace(tool.Warning(oxbow.Trust(h.Trust))))
	}
	text := text.Excerpt(h.Text, h.Words, 2*a.width())
	if h.Content != nil {
		text = strings.TrimRight(*h.Content, "\n")
	}
	rows := wrap(clean(text), a.width()-3)
	if h.Content == nil && len(rows) > excerptRows {
		first := slices.IndexFunc(rows, func(row string) bool { return len(screen.Found(row, h.Words)) > 0 })
		first = max(0, min(first-1, len(rows)-excerptRows))
		rows = rows[first : first+excerptRows]
	}
	turns := func(ts []tool.Turn) {
		for _, t := range ts {
			below("… " + clean(strings.Join(strings.Fields(t.Content), " ")))
		}
	}
	turns(h.Before)
	for _, row := range rows {
		a.printf("   %s\n", a.mark(row, h.Words, ""))
	}
	turns(h.After)
	if len(h.Alike) > 0 {
		below("said as well by " + clean(strings.Join(h.Alike, ", ")))
	}
	for _, c := range h.Citations {
		below("cites " + citationText(c))
	}
	if h.Explanation != nil {
		a.showExplanation(h)
	}
}

func (a *app) showExplanation(h tool.Entry) {
	x := h.Explanation
	for _, t := range x.Terms {
		if t.Score == 0 {
			continue
		}
		var fields []string
		for _, f := range t.Fields {
			fields = append(fields, fmt.Sprintf("%s %.3f", clean(f.Field), f.Score))
		}
		where := strings.Join(fields, ", ")
		if len(fields) < 2 {
			where = fmt.Sprintf("%g here", t.TF)
		}
		if len(fields) == 1 {
			where += " from " + clean(t.Fields[0].Field)
		}
		a.hang(fmt.Sprintf("   %7.3f  ", t.Score), fmt.Sprintf("%s: %s; in %d of %d, idf %.2f", clean(t.Term), where, t.DF, x.Entries, t.IDF))
	}
	a.hang(fmt.Sprintf("   %7.3f  ", h.Score), fmt.Sprintf("%s, %g terms long (%.1f on average)", x.Formula, x.Length, x.AvgLen))
}
