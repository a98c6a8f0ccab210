// This file finds the texts from which a new text was made.

package provenance

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// maxOriginLabels is the maximum number of an entry's labels that name the texts from which the entry was made.
const maxOriginLabels = 16

// originFinder finds the texts from which a new text was made.
type originFinder struct {
	ctx    context.Context
	memory *oxbow.Memory
	// texts that the session's model has read (nil if the session is unknown)
	ledger             *lineage.ShownTextLedger
	turnNamesForLabels []string
	isAgentWriter      bool
}

func newOriginFinder(ctx context.Context, m *oxbow.Memory) originFinder {
	o := originFinder{ctx: ctx, memory: m}
	src, _ := oxbow.SourceFrom(ctx)
	o.isAgentWriter = src.Actor == oxbow.Agent
	o.ledger = verb.ContextShownTexts(ctx)
	o.turnNamesForLabels = verb.ContextOriginTurnNames(ctx)
	return o
}

// addTextsShownByHooks adds the texts that hooks showed to the model.
func (o *originFinder) addTextsShownByHooks(shown []session.ShownText) {
	for _, s := range shown {
		x := lineage.ShownText{Name: s.Name, Version: s.Version, Text: s.Text}
		if s.SourceKind == inject.SourceKindSessions {
			x.Version = 0 // a turn of a past session has no version, unlike an entry
		}
		o.ledger.AddTexts(x)
	}
}

// maySetLabel reports whether the caller may set the label l. An agent must not add a label that names an entry's
// origin or that says the entry can be trusted. There are two exceptions. An agent may keep a label that is in
// oldLabels. It may also name one of the conversation turns in o.turnNamesForLabels as the source.
func (o *originFinder) maySetLabel(l oxbow.Label, oldLabels []oxbow.Label) bool {
	if !o.isAgentWriter || !slices.Contains(originLabelKeys, l.Key) {
		return true
	}
	return slices.Contains(oldLabels, l) ||
		(l.Key == lineage.SourceLabel && slices.Contains(o.turnNamesForLabels, l.Value))
}

// originLabelKeys are the keys of labels that name a text's origin or vouch for an entry.
var originLabelKeys = []string{lineage.SourceLabel, oxbow.LabelOrigin, oxbow.LabelVerified, oxbow.LabelApproved}

// originLabels returns labels that say from which texts an agent made an entry's text. The result contains the source
// and origin labels of oldEntry, and a source label for each text from which words were copied. A source label is added
// only if the result has fewer than maxOriginLabels labels. For a source that contains text by others, the result also
// contains the source's taint labels, which say where such text came from. For an imported source, it contains an
// origin label. If the caller is not an agent, the result is nil.
func (o *originFinder) originLabels(name, content string, oldEntry oxbow.Entry) (ls []oxbow.Label) {
	if !o.isAgentWriter {
		return nil
	}
	for _, l := range oldEntry.Labels {
		if l.Key == lineage.SourceLabel || l.Key == oxbow.LabelOrigin {
			ls = append(ls, l)
		}
	}
	for _, s := range o.ledger.FindSources(name, content, oldEntry.Content, o.wordsRareInMemory) {
		if l := (oxbow.Label{Key: lineage.SourceLabel, Value: s.SourceLabelValue()}); len(ls) < maxOriginLabels &&
			l.Check() == nil {
			ls = append(ls, l)
		}
		for _, t := range s.TaintSources {
			ls = append(ls, oxbow.Label{Key: oxbow.LabelTaint, Value: t})
		}
		if s.Trust == oxbow.TrustImported {
			ls = append(ls, oxbow.Label{Key: oxbow.LabelOrigin, Value: string(s.Trust)})
		}
	}
	return ls
}

// minRareWordIDF is the minimum inverse document frequency of a rare word. In a small memory, a word is rare if only
// one entry contains it.
const minRareWordIDF = 4

// wordsRareInMemory returns those of the words that are rare in the memory, in lower case. If the memory cannot be
// searched, it returns nil.
func (o *originFinder) wordsRareInMemory(words []string) map[string]bool {
	if o.memory == nil {
		return nil
	}
	read, err := o.memory.ParseQuery(o.ctx, oxbow.Query{Text: strings.Join(words, " "), Rank: oxbow.RankOxbow})
	if err != nil {
		return nil
	}
	rareWords := map[string]bool{}
	for _, t := range read.Terms {
		isRare := t.DF == 1 || (t.DF > 1 && t.IDF >= minRareWordIDF)
		if isRare && !t.Corrected {
			rareWords[strings.ToLower(t.Word)] = true
		}
	}
	return rareWords
}
