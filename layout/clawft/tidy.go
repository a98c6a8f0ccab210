// This file shortens MEMORY.md without losing text: by consolidation and by compression.

package clawft

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/prompt"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
	"github.com/oxbow-memory/oxbow/layout"
)

// Consolidate implements [layout.Tidier]. It removes facts that repeat other facts. A fact is a paragraph or a list
// item, and [sametext.FindNearDuplicates] decides which facts repeat others.
//
// If two facts are equal, Consolidate keeps the fact that has a name, or the first fact if neither has a name. If two
// facts are only similar, it keeps the longer fact. The name, aliases and labels of the removed fact are added to the
// kept fact. The removed fact is moved to HISTORY.md, unless the kept fact has the same text and is below the same
// headings.
func (h *Home) Consolidate(ctx context.Context, dryRun bool) (layout.Tidied, error) {
	return h.tidyMemory(
		ctx,
		dryRun,
		"consolidate",
		func(text string, now time.Time) (string, []textMovedToHistory, []layout.Step, error) {
			units := splitMarkdownUnits(text)
			out, steps, err := markRepeatedUnits(ctx, units)
			removeEmptyHeadings(units)
			return joinMarkdownUnits(text, units), out, steps, err
		},
	)
}

// tidyMemory changes MEMORY.md as the function change says. change gets the text of the file, and returns the new text,
// the texts that were removed from it, and the steps for the report. tidyMemory appends the removed texts to
// HISTORY.md, and writes an undo record. changeKind names the change in the record, for example "compress". If dryRun
// is true, nothing is written, and the result describes what would change.
func (h *Home) tidyMemory(
	ctx context.Context,
	dryRun bool,
	changeKind string,
	change func(text string, now time.Time) (string, []textMovedToHistory, []layout.Step, error),
) (layout.Tidied, error) {
	var did layout.Tidied
	err := h.applyEdits(ctx, dryRun, func(file func(string) string, now time.Time) ([]mdtree.Edit, error) {
		was, history := file(memoryFile), file(historyFile)
		is, out, steps, err := change(was, now)
		if err != nil {
			return nil, err
		}
		did = layout.Tidied{What: changeKind, Time: now, Before: prompt.EstimateTokens(injectedMemoryText(was)),
			After: prompt.EstimateTokens(injectedMemoryText(is)), Steps: steps}
		if len(steps) == 0 {
			return nil, nil
		}
		r := undoRecord{What: changeKind, Time: now, OldMemory: was, NewMemory: textOrLineEnd(is)}
		edits := []mdtree.Edit{{Path: memoryFile, Text: is}}
		if len(out) > 0 {
			r.History = h.removedTextForHistory(changeKind, out, now, history)
			edits = append(edits, mdtree.Edit{Path: historyFile, Text: history + r.History})
		}
		n, kept, err := h.newUndoRecordEdits(r)
		if !dryRun {
			did.Number = n
		}
		return append(edits, kept...), err
	})
	if err != nil {
		return layout.Tidied{}, fmt.Errorf("%s: %w", changeKind, err)
	}
	return did, nil
}

// removedTextForHistory returns the text to append to HISTORY.md for the texts that were removed from MEMORY.md.
// history is the present text of HISTORY.md. The first line contains the date and the reason for the removal. A
// paragraph follows for each removed text:
//   - If the text belongs to an entry whose name HISTORY.md does not contain, the paragraph has a comment with this
//     name.
//   - Otherwise, if the text was below headings, the headings precede it in parentheses.
func (h *Home) removedTextForHistory(
	removalReason string,
	movedTexts []textMovedToHistory,
	now time.Time,
	history string,
) string {
	eol := lineEnding(history)
	why := "Taken out of MEMORY.md, where what stays says the same:"
	if removalReason == "compress" {
		why = "Moved out of MEMORY.md, to fit its budget:"
	}
	var b strings.Builder
	b.WriteString(lineEndsBeforeParagraph(history) + h.formatEntryDate(now) + " " + why + eol + eol)
	taken := map[string]bool{}
	for _, it := range h.layout.parseItems(historyFile, history) {
		taken[it.name] = true
	}
	for _, m := range movedTexts {
		text := m.text
		switch {
		case m.textWithComment != "" && !taken[m.entryName]:
			text, taken[m.entryName] = m.textWithComment, true
		case m.headingsAbove != "":
			b.WriteString("(" + m.headingsAbove + ")" + eol)
		}
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", eol)
		b.WriteString(text + eol + eol)
	}
	return b.String()
}

// Compress implements [layout.Tidier]. It shortens the memory until it has at most tokenBudget tokens. To this end, it
// applies these steps, and stops as soon as the text is short enough:
//   - It removes repeated facts, as [Home.Consolidate] does.
//   - It shortens each paragraph to the first sentence.
//   - It removes facts. If it removes the last fact below a heading, it also removes the heading.
//
// The oldest facts come first in the last two steps. They are at the top of the file, because new facts are appended to
// the file. Entries with the label tag:keep do not change. All removed texts and the full texts of shortened paragraphs
// are appended to HISTORY.md. If the memory cannot be made short enough, Compress changes nothing and returns an
// [oxbow.InvalidError].
func (h *Home) Compress(ctx context.Context, tokenBudget int, dryRun bool) (layout.Tidied, error) {
	if tokenBudget < 1 {
		return layout.Tidied{}, &oxbow.InvalidError{
			Field:  "budget",
			Value:  strconv.Itoa(tokenBudget),
			Reason: "is less than 1 token",
		}
	}
	return h.tidyMemory(
		ctx,
		dryRun,
		"compress",
		func(text string, _ time.Time) (string, []textMovedToHistory, []layout.Step, error) {
			is, out, steps, ok := compressText(ctx, text, tokenBudget)
			if err := ctx.Err(); err != nil || ok {
				return is, out, steps, err
			}
			return "", nil, nil, &oxbow.InvalidError{Field: "budget", Value: strconv.Itoa(tokenBudget),
				Reason: fmt.Sprintf(
					"cannot be kept: what must stay are %d tokens",
					prompt.EstimateTokens(injectedMemoryText(is)),
				)}
		},
	)
}
