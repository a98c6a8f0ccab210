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

// Report shows how many entries were imported, or would be imported in a dry run. It also lists the problems and notes.
// If ShouldListAllMessages is false, it lists only the first message for each cause. If UnlistedMessageCount is
// positive, it shows the number of the problems and notes that were not recorded.
func (o ImportOut) Report() (r report.Report) {
	shown := groupMessagesByCause
	if o.ShouldListAllMessages {
		shown = func(all []string) []string { return all }
	}
	for _, s := range shown(o.Problems) {
		r.Warnf("%s", report.QuotedText(s))
	}
	for _, s := range shown(o.Notes) {
		r.AddNotef("%s", report.QuotedText(s))
	}
	if o.UnlistedMessageCount > 0 {
		r.Warnf("and %d more", o.UnlistedMessageCount)
	}
	if o.DryRun {
		r.Add(o.changeList())
	}
	r.AddLinef(
		"%s: %d added, %d updated, %d the same, %d skipped",
		report.EffectVerb(o.DryRun, "imported", "would import"),
		o.AddedEntryCount,
		o.UpdatedEntryCount,
		o.UnchangedEntryCount,
		o.SkippedItemCount,
	)
	for _, dir := range o.ObsidianVaults {
		r.AddNotef("a vault of Obsidian: its #tags are tags; oxbow folder add %s follows its later edits",
			report.OxbowText(text.ShellQuote(dir)))
	}
	o.addFirstEntryNamesNote(&r)
	if o.QuarantinedEntryCount > 0 {
		r.AddNotef("%s", verb.QuarantinedEntriesText(o.QuarantinedEntryCount, o.ApprovalGroup))
	}
	if o.UndoCommand != "" {
		r.AddNotef("undo it with: %s", report.OxbowText(o.UndoCommand))
	}
	addNamesNote(&r, "no longer in the files they came from, and left as they are", o.StaleEntries)
	addNamesNote(&r, "the file was deleted or renamed, and the entry is left as it is", o.EntriesOfMissingFiles)
	return r
}

// maxNameListBytes is the maximum length of a name list. The list and the number of further names must fit a
// terminal line.
const maxNameListBytes = 45

// addFirstEntryNamesNote adds a note with the names of the first entries that were added or updated.
func (o ImportOut) addFirstEntryNamesNote(r *report.Report) {
	if o.DryRun || len(o.FirstEntryNames) == 0 {
		return
	}
	did := "added or updated"
	switch {
	case o.UpdatedEntryCount == 0:
		did = "added"
	case o.AddedEntryCount == 0:
		did = "updated"
	}
	names, n := text.TruncateWithEllipsis(o.FirstEntryNames[0], maxNameListBytes), 1
	for n < len(o.FirstEntryNames) && len(names)+len("; ")+len(o.FirstEntryNames[n]) <= maxNameListBytes {
		names += "; " + o.FirstEntryNames[n]
		n++
	}
	if more := o.AddedEntryCount + o.UpdatedEntryCount - n; more > 0 {
		names += fmt.Sprintf("; and %d more", more)
	}
	r.AddNotef("%s: %s", report.OxbowText(did), report.QuotedText(names))
}

// changeList lists the entries in o.Changes. The import has added or updated these entries. In a dry run, it would add
// or update them. The mark + means added, and ~ means updated.
func (o ImportOut) changeList() report.List {
	list := report.List{ListAllAdvice: verb.AdviceForListingChanges(o.DryRun), ShowsItemsInShortReport: true}
	for _, c := range o.Changes {
		mark := map[oxbow.Verb]report.OxbowText{oxbow.VerbAdd: "+", oxbow.VerbUpdate: "~"}[c.Verb]
		list.Items = append(
			list.Items,
			report.Line{
				Sentence: report.Sentencef(
					"%s %s (%s)",
					mark,
					report.EntryName(c.Name),
					report.QuotedText(c.ItemPosition),
				),
			},
		)
	}
	return list
}

// addNamesNote adds a note that lists the names of entries. If the list entryNames has more than 20 names, the note
// lists only the first maxListedStaleEntries names, and a second note contains the number of remaining names. If the
// list is empty, addNamesNote adds nothing.
func addNamesNote(r *report.Report, noteText string, entryNames []string) {
	const manyStale = 20
	if len(entryNames) == 0 {
		return
	}
	names := entryNames
	if len(names) > manyStale {
		names = names[:maxListedStaleEntries]
	}
	r.AddNotef("%s:%s", report.OxbowText(noteText), report.QuotedLines(names))
	if more := len(entryNames) - len(names); more > 0 {
		r.AddNotef("and %d more; the same import with --dry-run --json lists them all", more)
	}
}

// variableMessagePartPattern matches the parts of a message that may differ between messages with the same cause. These
// parts are numbers and quoted texts. If the word "key" or "field" precedes a quoted text, the match begins with this
// word. The caller groupMessagesByCause recognizes such matches by this word and does not ignore them, because a
// different key or field means a different cause.
var variableMessagePartPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9]+|(?:\b(?:key|field) )?"(?:[^"\\]|\\.)*"`)
})

// groupMessagesByCause groups messages that have the same cause. It returns each group's first message, and appends the
// number of further messages in the group.
//
// To compare two messages, it ignores the text before the first colon, all numbers, and quoted texts. A quoted text
// directly after the word "key" or "field" is compared, because a different key or field means a different cause.
func groupMessagesByCause(messages []string) []string {
	at, more := map[string]int{}, []int{}
	var first []string
	for _, s := range messages {
		_, cause, ok := strings.Cut(s, ": ")
		if !ok {
			cause = s
		}
		cause = variableMessagePartPattern().ReplaceAllStringFunc(cause, func(v string) string {
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
