// This file removes secrets from events before they are archived.

package session

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// eventForArchive returns the event in the form in which it is archived. If the function redact is nil, the event is
// only normalized. Otherwise redact is applied to all names and texts of the event, and the blocks that hooks insert
// are removed from the texts. An event of KindInjection, which contains a text that a hook inserted, keeps these
// blocks, because the archive records exactly the text that the model saw.
func eventForArchive(e Event, redact func(string) string) Event {
	if redact == nil {
		return e.normalize()
	}
	e = e.applyToNames(redact) // applyToNames returns a copy of e.Call, so the texts in e.Call can be changed.
	if e.Kind == KindInjection {
		return transformInjectionText(e, redact).normalize()
	}
	texts := []*string{&e.Text}
	if c := e.Call; c != nil {
		texts = append(texts, &c.Command, &c.Output, &c.WebQuery)
	}
	for _, s := range texts {
		*s = redact(StripInsertedBlocks(*s))
	}
	return e.normalize()
}

// applyToNames returns the event after fn was applied to its names and paths. The transcript's path is not changed,
// because it is needed to read the transcript. The result has its own copy of the call.
func (e Event) applyToNames(fn func(string) string) Event {
	for _, s := range []*string{&e.Session, &e.TurnID, &e.ID, &e.Dir, &e.Branch, &e.SubAgent, &e.Model} {
		*s = fn(*s)
	}
	if e.Call == nil {
		return e
	}
	c := *e.Call
	c.Tool = fn(c.Tool)
	c.WrittenFiles = slices.Clone(c.WrittenFiles)
	c.ReadFiles = slices.Clone(c.ReadFiles)
	for _, paths := range [][]string{c.WrittenFiles, c.ReadFiles} {
		for i := range paths {
			paths[i] = fn(paths[i])
		}
	}
	e.Call = &c
	return e
}

// transformInjectionText returns an injection after fn was applied to its text and names. A rare term that the new text
// does not contain is removed.
func transformInjectionText(e Event, fn func(string) string) Event {
	was := e.Text
	e.Text = fn(e.Text)
	if e.Injection == nil {
		return e
	}
	in := *e.Injection
	in.ShownEntries = slices.Clone(in.ShownEntries)
	for i := range in.ShownEntries {
		in.ShownEntries[i].Name = fn(in.ShownEntries[i].Name)
	}
	if e.Text != was {
		held := analysis.NewTermFinder(analysis.NewTermSet(in.RareTerms, nil)).FindTerms(e.Text)
		in.RareTerms = slices.DeleteFunc(slices.Clone(in.RareTerms), func(w string) bool { return !held[w] })
	}
	e.Injection = &in
	return e
}
