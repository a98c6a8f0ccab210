// This file implements the command "oxbow recall".

package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func recallCommand(mem *lazyMemory) *cobra.Command {
	var sessions, interactive bool // search past sessions; show the hits on a screen
	c := &cobra.Command{
		Use:   "recall WORDS…",
		Short: "Find entries by words, best first",
		Long: `Recall finds the entries that contain any of the words, and ranks them (BM25).
You can add filters: project:vtt, tag:"two words", -tag:draft, kind:note,
after:2026-04, by:agent. Without words, the filters select entries, the newest
first. +word requires a word, -word excludes it, "two words" requires a phrase,
and ret* finds all words that begin so.

With -i, a screen searches while you type and shows up to 50 entries. Its last
line lists the keys: Enter prints the chosen entry and ends, e edits an entry,
d forgets it, u undoes this, and Esc quits.

The screen needs a terminal with colours. On Windows, it needs Windows 10 or
later, and Ctrl-Z does not suspend it there. In a pipe, -i prints a line for
each hit: name, score, creation time and first line, separated by tabs.`,
		Example: `  oxbow recall double charge
  oxbow recall deploy project:harbor -tag:draft --limit 3
  oxbow recall retry -payment '"two words"' --explain
  oxbow recall prices --as-of 2026-01-31 --json
  oxbow recall prices --recency 30d
  oxbow recall rounding error --sessions
  oxbow recall -i deploy                     # type on, choose, read, correct
  oxbow recall -i deploy | cut -f 1          # the names alone`,
	}
	setUpFlagsAndArgs(c, func(ctx context.Context, in verb.RecallIn, args []string) error {
		in.Query = strings.Join(args, " ")
		if sessions {
			if in.SearchScope != "" && in.SearchScope != "sessions" {
				return usageErrorf("leave one of them out", "--sessions and --in %s are given", in.SearchScope)
			}
			in.SearchScope = "sessions"
		}
		needsNoWords := slices.ContainsFunc(recallFlagsReplacingWords, c.Flags().Changed) ||
			(interactive && mem.env.canShowScreen())
		if strings.TrimSpace(in.Query) == "" && !needsNoWords {
			return usageErrorf(
				"for example: oxbow recall deploy project:harbor; oxbow list shows all entries",
				"recall needs words to look for, or a filter",
			)
		}
		if interactive && mem.env.canShowScreen() {
			return mem.recallOnScreen(ctx, in)
		}
		show := func(out verb.RecallOut) { mem.env.showRecallResult(out, in.MaxTokens != nil) }
		if interactive {
			show = mem.env.printHitLines
		}
		return callAndPrint(ctx, mem, verb.Recall, in, show)
	})
	c.Flags().BoolVarP(&interactive, "interactive", "i", false, "search while you type, on a screen")
	c.Flags().BoolVar(&sessions, "sessions", false, "search past sessions instead of the memory")
	return c
}

// canShowScreen reports whether recall -i can show its screen.
func (env *environment) canShowScreen() bool { return env.IsStdoutTerminal && !env.wantsJSON }

// recallFlagsReplacingWords lists the flags with which recall needs no words to search for.
var recallFlagsReplacingWords = []string{
	"filter",
	"project",
	"tag",
	"kind",
	"after",
	"before",
	"until",
	"collapse",
	"rank",
}

// showRecallResult prints the hits with their snippets. If wantsContent is set, because a token budget was given, it
// prints the contents that fit the budget instead.
func (env *environment) showRecallResult(out verb.RecallOut, wantsContent bool) {
	if len(out.Hits) == 0 {
		env.explainEmptyResult(out.EmptyReasons, out.SimilarNames)
		env.showNotes(out.Notes)
		return
	}
	excerpt := maxExcerptRows
	if !wantsContent {
		for i := range out.Hits {
			out.Hits[i].Content = nil
		}
		excerpt = env.fittingExcerptRows(out)
	}
	env.showHits(out.Hits, excerpt)
	for _, n := range out.Notes {
		if wantsContent || !n.RefersTo("max_tokens") {
			env.showNotes([]verb.Note{n})
		}
	}
}

// maxExcerptRows is how many rows a hit's excerpt has at most.
const maxExcerptRows = 4

// fittingExcerptRows returns how many rows each excerpt may have so that all hits fit in the terminal. If the hits were
// longer, the best hit, which is printed first, would scroll away. The result is at least 1. If the hits do not fit
// with one row each, the pager shows them. If the output is not a terminal, the result is maxExcerptRows.
func (env *environment) fittingExcerptRows(out verb.RecallOut) int {
	if !env.IsStdoutTerminal || env.TerminalHeight < 1 {
		return maxExcerptRows
	}
	// Reserve a row for the shell's prompt, and two rows for each note, which is printed below the hits.
	room := env.TerminalHeight - 1 - 2*len(out.Notes)
	shown := env.Stdout
	defer func() { env.Stdout = shown }()
	for rows := maxExcerptRows; rows > 1; rows-- {
		var text bytes.Buffer
		env.Stdout = &text
		env.showHits(out.Hits, rows)
		if bytes.Count(text.Bytes(), []byte("\n")) <= room {
			return rows
		}
	}
	return 1
}

// showHits prints hits whose excerpts have at most maxRows rows.
func (env *environment) showHits(hits []verb.Entry, maxRows int) {
	for i, h := range hits {
		if i > 0 {
			env.printf("\n")
		}
		env.showHit(i+1, h, maxRows)
	}
}

// showHit prints a hit and its number in the list. The excerpt from the entry has at most maxRows rows. Most other
// output goes through package report, but showHit prints directly, because it highlights the words of the query, and
// because the excerpt's length depends on the screen's height.
func (env *environment) showHit(number int, h verb.Entry, maxRows int) {
	slices.Sort(h.MatchedWords)
	env.printWrappedHighlighted(fmt.Sprintf("%d  ", number), printableName(h.Name), h.MatchedWords, termtext.Bold)
	meta := env.entrySummary(h)
	if h.Score > 0 {
		meta = fmt.Sprintf("%.2f · ", h.Score) + meta
	}
	below := func(s string) { env.printf("   %s\n", env.dim(env.cutColumns(s, env.textWidth()-3))) }
	below(meta)
	if warning := strings.TrimSpace(env.trustWarning(oxbow.Trust(h.TrustLevel))); warning != "" {
		below(warning)
	}
	text := text.Excerpt(h.HitContent, h.MatchedWords, 2*env.textWidth())
	if h.Content != nil {
		text = strings.TrimRight(*h.Content, "\n")
	}
	rows := wrapText(replaceHarmfulChars(text), env.textWidth()-3)
	if h.Content == nil && len(rows) > maxRows {
		first := slices.IndexFunc(
			rows,
			func(row string) bool { return len(termtext.FindWords(row, h.MatchedWords)) > 0 },
		)
		if maxRows > 1 {
			first-- // Begin with the row before the first matched word, as context.
		}
		first = max(0, min(first, len(rows)-maxRows))
		rows = rows[first : first+maxRows]
	}
	turns := func(ts []verb.Turn) {
		for _, turn := range ts {
			below("… " + replaceHarmfulChars(strings.Join(strings.Fields(turn.Content), " ")))
		}
	}
	turns(h.TurnsBefore)
	for _, row := range rows {
		env.printf("   %s\n", env.highlightWords(row, h.MatchedWords, ""))
	}
	turns(h.TurnsAfter)
	if len(h.SameContentNames) > 0 {
		below("said as well by " + replaceHarmfulChars(strings.Join(h.SameContentNames, ", ")))
	}
	for _, c := range h.Citations {
		below("cites " + citationText(c))
	}
	if h.Explanation != nil {
		env.showExplanation(h)
	}
}

func (env *environment) showExplanation(h verb.Entry) {
	for _, f := range listScoreFacts(h) {
		env.printWrappedText("   "+padColumns(f.Name, 7)+"  ", f.Value)
	}
}
