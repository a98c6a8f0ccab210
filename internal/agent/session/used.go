// Whether an agent used what it was shown.

package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Injections returns the events that hold what hooks put before the model.
func (t *Turn) Injections() []Event {
	return slices.DeleteFunc(slices.Clone(t.Events), func(e Event) bool {
		return e.Kind != Injected || e.Injection == nil
	})
}

// leastRare is how many rare terms of what was shown of an entry an agent writes
// that used it.
const leastRare = 3

// Used returns the entries that were shown in the turn and used in it: the agent
// wrote at least leastRare of the rare terms that were shown of one, in its texts,
// its commands or the paths of files that it changed, and none of these before. It is
// a matter of words: an agent may follow a note without one of its words, and what
// it does in later turns is not looked at.
func (t *Turn) Used() (used []Shown) {
	all := t.Injections()
	var rare []string
	for i := range all {
		rare = append(rare, all[i].Injection.Rare...)
	}
	if len(rare) == 0 {
		return nil
	}
	find := analysis.NewFinder(analysis.NewChoice(rare, nil))
	first, seen := t.firstWritten(find), map[Shown]bool{}
	for i := range all {
		in, since := all[i].Injection, all[i].Time.Truncate(time.Second) // some clients give no parts of one
		for _, s := range in.Shown {
			if seen[s] {
				continue
			}
			n, held := 0, termsIn(all[i].about(s), find)
			for _, w := range slices.Compact(slices.Sorted(slices.Values(in.Rare))) {
				if at, ok := first[w]; ok && held[w] && !at.Before(since) {
					n++
				}
			}
			seen[s] = n >= leastRare
			if seen[s] {
				used = append(used, s)
			}
		}
	}
	return used
}

// about returns the lines of the event's text that are of an entry: from one that
// has its NAME@VERSION to the next that has another's. Where there is none, all are.
func (e *Event) about(s Shown) string {
	mark := func(s Shown) string { return fmt.Sprintf("%s@%d", s.Name, s.Version) }
	if !strings.Contains(e.Text, mark(s)) {
		return e.Text
	}
	var b strings.Builder
	in := false
	for line := range strings.Lines(e.Text) {
		for _, o := range e.Injection.Shown {
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

// firstWritten returns when the agent first wrote each term that is looked for.
func (t *Turn) firstWritten(find *analysis.Finder) map[string]time.Time {
	first := map[string]time.Time{}
	for i := range t.Events {
		e := &t.Events[i]
		s := ""
		switch {
		case e.Kind == Text:
			s = e.Text
		case e.Kind == Called && e.Call != nil:
			s = strings.Join(append([]string{e.Call.Command, e.Call.Asked}, e.Call.Wrote...), "\n")
		}
		for w := range termsIn(s, find) {
			if at, ok := first[w]; !ok || e.Time.Before(at) {
				first[w] = e.Time
			}
		}
	}
	return first
}

// termsIn returns the terms that are looked for and stand in a text.
func termsIn(s string, find *analysis.Finder) map[string]bool {
	held := map[string]bool{}
	find.Occurrences(context.Background(), s, func(term string, _ int) { held[term] = true })
	return held
}

// redacted returns an injection from whose texts fn took what it takes out. Of the rare
// terms those stay that stand in what is left.
func redacted(e Event, fn func(string) string) Event {
	was := e.Text
	e.Text = fn(e.Text)
	if e.Injection == nil {
		return e
	}
	in := *e.Injection
	in.Shown = slices.Clone(in.Shown)
	for i := range in.Shown {
		in.Shown[i].Name = fn(in.Shown[i].Name)
	}
	if e.Text != was {
		held := termsIn(e.Text, analysis.NewFinder(analysis.NewChoice(in.Rare, nil)))
		in.Rare = slices.DeleteFunc(slices.Clone(in.Rare), func(w string) bool { return !held[w] })
	}
	e.Injection = &in
	return e
}
