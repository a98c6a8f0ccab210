// This file describes the result of an import.

package transfer

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// maxListedStaleEntries is the maximum number of stale entries that a report names. An entry is stale if the file from
// which it was imported does not contain the entry any more.
const maxListedStaleEntries = 5

// Report tells how many entries were, or would be, imported. It also lists the problems and notes, usually only one of
// each kind.
func (o ImportOut) Report() (r report.Report) {
	shown := firstPerCause
	if o.ListsAll {
		shown = func(all []string) []string { return all }
	}
	for _, s := range shown(o.Problems) {
		r.Warnf("%s", report.Text(s))
	}
	for _, s := range shown(o.Notes) {
		r.AddNotef("%s", report.Text(s))
	}
	if o.UnlistedMessages > 0 {
		r.Warnf("and %d more", o.UnlistedMessages)
	}
	if o.DryRun {
		r.Add(o.changeList())
	}
	r.AddLinef(
		"%s: %d added, %d updated, %d the same, %d skipped",
		report.EffectVerb(o.DryRun, "imported", "would import"),
		o.Added,
		o.Updated,
		o.SameEntries,
		o.SkippedItems,
	)
	for _, dir := range o.Vaults {
		r.AddNotef("a vault of Obsidian: its #tags are tags; oxbow folder add %s follows its later edits",
			report.Words(text.ShellQuote(dir)))
	}
	o.addFirstNamesNote(&r)
	if o.HeldEntries > 0 {
		r.AddNotef("%s", verb.HeldEntriesText(o.HeldEntries, o.Group))
	}
	if o.UndoCommand != "" {
		r.AddNotef("undo it with: %s", report.Words(o.UndoCommand))
	}
	addNamesNote(&r, "no longer in the files they came from, and left as they are", o.StaleEntries)
	addNamesNote(&r, "the file was deleted or renamed, and the entry is left as it is", o.GoneFileEntries)
	return r
}

// maxFirstNamesBytes is the maximum length of a name list. The list and the number of further names must fit a
// terminal line.
const maxFirstNamesBytes = 45

// addFirstNamesNote adds a note with the names of the first entries that were added or updated.
func (o ImportOut) addFirstNamesNote(r *report.Report) {
	if o.DryRun || len(o.FirstNames) == 0 {
		return
	}
	did := "added or updated"
	switch {
	case o.Updated == 0:
		did = "added"
	case o.Added == 0:
		did = "updated"
	}
	names, n := text.TruncateWithEllipsis(o.FirstNames[0], maxFirstNamesBytes), 1
	for n < len(o.FirstNames) && len(names)+len("; ")+len(o.FirstNames[n]) <= maxFirstNamesBytes {
		names += "; " + o.FirstNames[n]
		n++
	}
	if more := o.Added + o.Updated - n; more > 0 {
		names += fmt.Sprintf("; and %d more", more)
	}
	r.AddNotef("%s: %s", report.Words(did), report.Text(names))
}

// changeList lists the entries that would be added or updated.
func (o ImportOut) changeList() report.List {
	list := report.List{AllItemsAdvice: verb.ShowAllAdvice(o.DryRun), IsAnswer: true}
	for _, c := range o.Changes {
		mark := map[oxbow.Verb]report.Words{oxbow.VerbAdd: "+", oxbow.VerbUpdate: "~"}[c.Verb]
		list.Items = append(list.Items,
			report.Line{Sentence: report.Sentencef("%s %s (%s)", mark, report.Name(c.Name), report.Text(c.Ref))})
	}
	return list
}

// addNamesNote adds a note with the names of entries. If there are many, the note contains only the first names.
func addNamesNote(r *report.Report, noteText string, all []string) {
	const manyStale = 20
	if len(all) == 0 {
		return
	}
	names := all
	if len(names) > manyStale {
		names = names[:maxListedStaleEntries]
	}
	r.AddNotef("%s:%s", report.Words(noteText), report.Lines(names))
	if more := len(all) - len(names); more > 0 {
		r.AddNotef("and %d more; the same import with --dry-run --json lists them all", more)
	}
}

// variableParts matches parts of a message that may differ between messages with the same cause: numbers and quoted
// texts. If the word key or field precedes a quoted text, the match includes this word, because firstPerCause must not
// ignore such texts.
var variableParts = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9]+|(?:\b(?:key|field) )?"(?:[^"\\]|\\.)*"`)
})

// firstPerCause groups messages with the same cause and returns each group's first message, with the number of further
// messages. Two messages have the same cause if they differ only in the part before the first colon, in numbers, and
// in quoted texts that do not follow the word key or field.
func firstPerCause(messages []string) []string {
	at, more := map[string]int{}, []int{}
	var first []string
	for _, s := range messages {
		_, cause, ok := strings.Cut(s, ": ")
		if !ok {
			cause = s
		}
		cause = variableParts().ReplaceAllStringFunc(cause, func(v string) string {
			if v[0] == 'k' || v[0] == 'f' {
				return v
			}
			return "…"
		})
		i, seen := at[cause]
		if !seen {
			i = len(first)
			at[cause] = i
			first = append(first, s)
			more = append(more, 0)
		} else {
			more[i]++
		}
	}
	for i, n := range more {
		if n > 0 {
			first[i] += fmt.Sprintf(" (and %d more like this; --verbose lists them)", n)
		}
	}
	return first
}
