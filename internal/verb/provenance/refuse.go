// This file refuses to write foreign text into files, because files have no labels.

package provenance

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// RefuseRepeats returns an error matching [oxbow.ErrInvalid] if the texts repeat foreign text, or
// if it is unknown which texts the caller's turn has read. Verbs that write files call it,
// because files have no labels. A person at a terminal or a page may write any text. what names
// the written thing in the error.
func RefuseRepeats(ctx context.Context, w *verb.Workspace, what string, texts ...string) error {
	if w.Knowledge == nil {
		return nil
	}
	k := w.Knowledge()
	src, _ := oxbow.SourceFrom(ctx)
	text := strings.Join(texts, "\n")
	if k.Vouches(src) || strings.TrimSpace(text) == "" {
		return nil
	}
	var s stamper
	if src.Actor != oxbow.Person {
		s.origins.agent = src.Actor == oxbow.Agent
		s.expose(ctx, k)
	}
	c := comparer{
		names:  []string{""},
		texts:  []string{text},
		before: []string{""},
		found:  []repeats{{foreign: s.taints}},
	}
	c.addSessionTexts(k)
	if w.Open != nil && !c.found[0].any() {
		if ctx, m, err := w.Memory(ctx, verb.Own); err == nil { // without a memory, the texts cannot repeat entries
			c.addEntries(ctx, m.Store(), verb.Knowledge{Memory: m})
		}
	}
	found := &c.found[0]
	if !found.any() {
		return nil
	}
	read := append(slices.Concat(found.foreign, found.unvouched), "an imported entry")[0]
	return verb.Advise(verb.InvalidValue(what, text, "repeats what others wrote, or comes after it: "+read),
		"say it in your own words, or ask the person, who can write it at a terminal")
}
