// This file describes the answer of an import.

package transfer

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// shownStale is the number of stale entries that a report names, if there are many. An entry is stale if it is no
// longer in the file that it was imported from.
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
	if o.Held > 0 {
		r.Notef("%s", verb.HeldBack(o.Held, o.Group))
	}
	if o.Undo && !o.DryRun {
		r.Notef("undo it with: oxbow undo")
	}
	o.noteStale(&r)
	return r
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

// noteStale adds a note about entries that are no longer in the files that they came from.
func (o ImportOut) noteStale(r *report.Report) {
	const manyStale = 20
	if len(o.Stale) == 0 {
		return
	}
	names := o.Stale
	if len(names) > manyStale {
		names = names[:shownStale]
	}
	r.Notef("no longer in the files they came from, and left as they are:%s", report.Lines(names))
	if more := len(o.Stale) - len(names); more > 0 {
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
