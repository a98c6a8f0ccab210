// This file refuses to write foreign text into files, because files cannot have labels.

package provenance

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// CheckForeignRepeats returns an error matching [oxbow.ErrInvalid] if the texts repeat foreign text, or if the texts
// that the caller's turn has read are unknown. Verbs that write files call it, because files cannot have labels. A
// person at a terminal or a page may write any text. textName describes the texts in the error.
func CheckForeignRepeats(ctx context.Context, w *verb.Workspace, textName string, texts ...string) error {
	if w.Knowledge == nil {
		return nil
	}
	k := w.Knowledge()
	src, _ := oxbow.SourceFrom(ctx)
	text := strings.Join(texts, "\n")
	if k.CanVouch(src) || strings.TrimSpace(text) == "" {
		return nil
	}
	var s originStamper
	if src.Actor != oxbow.Person {
		s.originFinder.isAgent = src.Actor == oxbow.Agent
		s.addSessionReads(ctx, k)
	}
	c := repeatFinder{
		entryNames:    []string{""},
		newTexts:      []string{text},
		oldTexts:      []string{""},
		repeatsByText: []foreignRepeats{{foreignSources: s.unknownCalls}},
	}
	c.findInSessionTexts(k)
	if w.Open != nil && !c.repeatsByText[0].hasRepeats() {
		// Without a memory, the texts cannot repeat entries.
		if ctx, m, err := w.OpenMemory(ctx, verb.ReadOwn); err == nil {
			c.findInEntries(ctx, m.Store(), verb.ProvenanceData{Memory: m})
		}
	}
	found := &c.repeatsByText[0]
	if !found.hasRepeats() {
		return nil
	}
	read := append(slices.Concat(found.foreignSources, found.unvouchedSources), "an imported entry")[0]
	return verb.Advise(verb.InvalidValue(textName, text, "repeats what others wrote, or comes after it: "+read),
		"say it in your own words, or ask the person, who can write it at a terminal")
}
