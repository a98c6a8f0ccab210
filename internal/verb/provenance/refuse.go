// This file refuses to write text by others into files. A file cannot have a label that warns of such text.

package provenance

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// CheckRepeatedForeignTexts returns an error matching [oxbow.ErrInvalid] if the texts repeat a foreign text, such as a
// web page, that the caller may have read. It also returns this error if it is unknown which texts the caller has read.
// Verbs that write files call CheckRepeatedForeignTexts, because a file, unlike an entry, cannot have a label that
// warns of foreign text. The texts of a person who uses a terminal or a server page are not checked. textName describes
// the texts in the error.
func CheckRepeatedForeignTexts(ctx context.Context, w *verb.Workspace, textName string, texts ...string) error {
	if w.Knowledge == nil {
		return nil
	}
	k := w.Knowledge()
	src, _ := oxbow.SourceFrom(ctx)
	text := strings.Join(texts, "\n")
	if k.IsCertainlyPerson(src) || strings.TrimSpace(text) == "" {
		return nil
	}
	var s originLabeller
	if src.Actor != oxbow.Person {
		s.originFinder.isAgentWriter = src.Actor == oxbow.Agent
		s.addSessionReads(ctx, k)
	}
	c := foreignRepeatFinder{
		entryNames:           []string{""},
		newTexts:             []string{text},
		replacedTexts:        []string{""},
		foreignRepeatsByText: []repeatedForeignTexts{{foreignTextSources: s.callsWithUnknownText}},
	}
	c.findRepeatsOfSessionTexts(k)
	if w.Open != nil && !c.foreignRepeatsByText[0].hasRepeats() {
		// Without a memory, there are no entries to compare with. Therefore ignore the error if the memory cannot be
		// opened.
		if ctx, m, err := w.OpenMemory(ctx, verb.ReadWithoutTeamFiles); err == nil {
			c.findInEntries(ctx, m.Store(), verb.ProvenanceData{Memory: m})
		}
	}
	found := &c.foreignRepeatsByText[0]
	if !found.hasRepeats() {
		return nil
	}
	read := append(slices.Concat(found.foreignTextSources, found.unvouchedSources), "an imported entry")[0]
	return verb.Advise(verb.InvalidValue(textName, text, "repeats what others wrote, or comes after it: "+read),
		"say it in your own words, or ask the person, who can write it at a terminal")
}
