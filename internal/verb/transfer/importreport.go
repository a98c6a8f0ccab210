// This file describes the answer of an import.

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

// shownStale is the number of stale entries that a report names. An entry is stale if the file from which the entry
// was imported no longer contains it.
const shownStale = 5

// Report tells how many entries were, or would be, imported. It also lists the problems and the notes, by default only
// one for each cause.
func (o ImportOut) Report() (r report.Report) {
	shown := alike
	if o.ListsAll {
		shown = func(all []string) []string { return all }
	}
	for _, s := range shown(o.Problems) {
		r.Warnf("%s", report.Text(s))
	}
	for _, s := range shown(o.Notes) {
		r.Notef("%s", report.Text(s))
	}
	if o.More > 0 {
		r.Warnf("and %d more", o.More)
	}
	if o.DryRun {
		r.Add(o.changeList())
	}
	r.Linef("%s: %d added, %d updated, %d the same, %d skipped", report.Did(o.DryRun, "imported", "would import"),
		o.Added, o.Updated, o.Same, o.Skipped)
	for _, dir := range o.Vaults {
		r.Notef("a vault of Obsidian: its #tags are tags; oxbow folder add %s follows its later edits",
			report.Words(text.ShellQuote(dir)))
	}
	o.noteFirst(&r)
	if o.Held > 0 {
		r.Notef("%s", verb.HeldBack(o.Held, o.Group))
	}
	if o.Undo != "" {
		r.Notef("undo it with: %s", report.Words(o.Undo))
	}
	noteNames(&r, "no longer in the files they came from, and left as they are", o.Stale)
	noteNames(&r, "the file was deleted or renamed, and the entry is left as it is", o.Gone)
	return r
}

// firstBytes is the maximum length of the first names, so that they and the number of others fit a line of a terminal.
const firstBytes = 45

// noteFirst adds a note with the names of the first entries that were added or updated.
func (o ImportOut) noteFirst(r *report.Report) {
	if o.DryRun || len(o.First) == 0 {
		return
	}
	did := "added or updated"
	switch {
	case o.Updated == 0:
		did = "added"
	case o.Added == 0:
		did = "updated"
	}
	names, n := text.Clip(o.First[0], firstBytes), 1
	for n < len(o.First) && len(names)+len("; ")+len(o.First[n]) <= firstBytes {
		names += "; " + o.First[n]
		n++
	}
	if more := o.Added + o.Updated - n; more > 0 {
		names += fmt.Sprintf("; and %d more", more)
	}
	r.Notef("%s: %s", report.Words(did), report.Text(names))
}

// changeList lists the entries that would be added or updated.
func (o ImportOut) changeList() report.List {
	list := report.List{All: verb.AllTouched(o.DryRun), IsAnswer: true}
	for _, c := range o.Changes {
		mark := map[oxbow.Verb]report.Words{oxbow.VerbAdd: "+", oxbow.VerbUpdate: "~"}[c.Verb]
		list.Items = append(list.Items,
			report.Line{Sentence: report.Sentencef("%s %s (%s)", mark, report.Name(c.Name), report.Text(c.Ref))})
	}
	return list
}

// noteNames adds a note with the names of entries. If there are many, it contains only the first.
func noteNames(r *report.Report, what string, all []string) {
	const manyStale = 20
	if len(all) == 0 {
		return
	}
	names := all
	if len(names) > manyStale {
		names = names[:shownStale]
	}
	r.Notef("%s:%s", report.Words(what), report.Lines(names))
	if more := len(all) - len(names); more > 0 {
		r.Notef("and %d more; the same import with --dry-run --json lists them all", more)
	}
}

// variable matches the parts of a message that may differ between messages with the same cause: numbers and quoted
// texts. For a quoted text after the word key or field, the match includes the word, because alike must not ignore
// such texts.
var variable = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[0-9]+|(?:\b(?:key|field) )?"(?:[^"\\]|\\.)*"`)
})

// alike returns the first message for each cause, with the number of similar messages.
func alike(messages []string) []string {
	at, more := map[string]int{}, []int{}
	var first []string
	for _, s := range messages {
		_, cause, ok := strings.Cut(s, ": ")
		if !ok {
			cause = s
		}
		cause = variable().ReplaceAllStringFunc(cause, func(v string) string {
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
