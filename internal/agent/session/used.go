// This file decides whether an agent used the entries that it was shown.

package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// InjectionEvents returns the events that record injections.
func (t *Turn) InjectionEvents() []Event {
	return slices.DeleteFunc(slices.Clone(t.Events), func(e Event) bool {
		return e.Kind != KindInjection || e.Injection == nil
	})
}

// minRareTermsOfUsedEntry is the number of an entry's rare terms that an agent must write before the entry counts as
// used.
const minRareTermsOfUsedEntry = 3

// ShownEntriesUsed returns the entries that were shown in the turn and used in it. An entry counts as used if, after
// the entry was shown, the agent wrote at least minRareTermsOfUsedEntry of the entry's rare terms for the first time.
// ShownEntriesUsed examines the agent's texts, commands, queries and the paths of changed files.
//
// ShownEntriesUsed only compares words. It overlooks an agent that follows a note without repeating the note's words,
// and it ignores later turns.
func (t *Turn) ShownEntriesUsed() (used []ShownEntry) {
	all := t.InjectionEvents()
	var rare []string
	for i := range all {
		rare = append(rare, all[i].Injection.RareTerms...)
	}
	if len(rare) == 0 {
		return nil
	}
	find := analysis.NewTermFinder(analysis.NewTermSet(rare, nil))
	first, seen := t.firstWriteTimes(find), map[ShownEntry]bool{}
	for i := range all {
		// Round the time of the insertion down to a second, because some clients report the times of later calls only
		// in whole seconds.
		in, since := all[i].Injection, all[i].Time.Truncate(time.Second)
		for _, s := range in.ShownEntries {
			if seen[s] {
				continue
			}
			n, held := 0, find.FindTerms(all[i].textAboutEntry(s))
			for _, w := range slices.Compact(slices.Sorted(slices.Values(in.RareTerms))) {
				at, ok := first[w]
				isLater := ok && !at.Before(since)
				if isLater && held[w] {
					n++
				}
			}
			seen[s] = n >= minRareTermsOfUsedEntry
			if seen[s] {
				used = append(used, s)
			}
		}
	}
	return used
}

// textAboutEntry returns the lines of the event's text that are about an entry. The lines begin with a line that
// contains the entry's NAME@VERSION, and end before the next line with another entry's NAME@VERSION. If no line
// contains it, textAboutEntry returns the whole text.
func (e *Event) textAboutEntry(s ShownEntry) string {
	mark := func(s ShownEntry) string { return fmt.Sprintf("%s@%d", s.Name, s.Version) }
	if !strings.Contains(e.Text, mark(s)) {
		return e.Text
	}
	var b strings.Builder
	in := false
	for line := range strings.Lines(e.Text) {
		for _, o := range e.Injection.ShownEntries {
			if strings.Contains(line, mark(o)) {
				in = o == s
				break
			}
		}
		if in {
			b.WriteString(line)
		}
	}
	return b.String()
}

// firstWriteTimes returns, for each term that termFinder can find, the time at which the agent first wrote the term. A
// term that the agent did not write is missing. firstWriteTimes examines the agent's texts, commands, web queries and
// names of written files.
func (t *Turn) firstWriteTimes(termFinder *analysis.TermFinder) map[string]time.Time {
	first := map[string]time.Time{}
	for i := range t.Events {
		e := &t.Events[i]
		s := ""
		switch {
		case e.Kind == KindText:
			s = e.Text
		case e.Kind == KindToolCall && e.Call != nil:
			s = strings.Join(append([]string{e.Call.Command, e.Call.WebQuery}, e.Call.WrittenFiles...), "\n")
		}
		for w := range termFinder.FindTerms(s) {
			if at, ok := first[w]; !ok || e.Time.Before(at) {
				first[w] = e.Time
			}
		}
	}
	return first
}
