// This file finds the texts that a new text was made from.

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

// maxOrigins is the maximum number of an entry's origin labels.
const maxOrigins = 16

// origins finds the texts that a new text was made from.
type origins struct {
	ctx    context.Context
	memory *oxbow.Memory
	ledger *lineage.Ledger // nil if the session is unknown
	turns  []string
	agent  bool
}

func collectOrigins(ctx context.Context, m *oxbow.Memory) origins {
	o := origins{ctx: ctx, memory: m}
	src, _ := oxbow.SourceFrom(ctx)
	o.agent = src.Actor == oxbow.Agent
	o.ledger = verb.ContextLedger(ctx)
	o.turns = verb.ContextTurns(ctx)
	return o
}

// addShown adds the texts that hooks put before the model.
func (o *origins) addShown(shown []session.ShownText) {
	for _, s := range shown {
		x := lineage.ShownText{Name: s.Name, Version: s.Version, Text: s.Text}
		if s.In == inject.InSessions {
			x.Version = 0 // a turn does not have a version
		}
		o.ledger.Show(x)
	}
}

// maySetLabel reports whether the caller may set the label l. An agent may not add a label that names an
// origin or that vouches for the entry, except the turns that a program passed in the context.
func (o *origins) maySetLabel(l oxbow.Label, old []oxbow.Label) bool {
	if !o.agent || !slices.Contains(originKeys, l.Key) {
		return true
	}
	return slices.Contains(old, l) || (l.Key == lineage.Label && slices.Contains(o.turns, l.Value))
}

// originKeys are the keys of labels that name an origin of a text or vouch for an entry.
var originKeys = []string{lineage.Label, oxbow.LabelOrigin, oxbow.LabelVerified, oxbow.LabelApproved}

// originLabels returns labels for the origins of an agent's text. These are the old version's
// origin labels, labels for new origins and their taints, and a label if an origin was
// imported. It returns nil if the caller is not an agent.
func (o *origins) originLabels(name, content string, old oxbow.Entry) (ls []oxbow.Label) {
	if !o.agent {
		return nil
	}
	for _, l := range old.Labels {
		if l.Key == lineage.Label || l.Key == oxbow.LabelOrigin {
			ls = append(ls, l)
		}
	}
	for _, s := range o.ledger.Sources(name, content, old.Content, o.rareWords) {
		if l := (oxbow.Label{Key: lineage.Label, Value: s.Source()}); len(ls) < maxOrigins && l.Check() == nil {
			ls = append(ls, l)
		}
		for _, t := range s.Taints {
			ls = append(ls, oxbow.Label{Key: oxbow.LabelTaint, Value: t})
		}
		if s.Trust == oxbow.TrustImported {
			ls = append(ls, oxbow.Label{Key: oxbow.LabelOrigin, Value: string(s.Trust)})
		}
	}
	return ls
}

// leastIDF is the minimum idf of a rare word. In a small memory a word is rare if only a single
// entry has it.
const leastIDF = 4

// rareWords returns the words that are rare in the memory.
func (o *origins) rareWords(words []string) map[string]bool {
	if o.memory == nil {
		return nil
	}
	read, err := o.memory.ParseQuery(o.ctx, oxbow.Query{Text: strings.Join(words, " "), Rank: oxbow.RankOxbow})
	if err != nil {
		return nil
	}
	rareWords := map[string]bool{}
	for _, t := range read.Terms {
		isRare := t.DF == 1 || (t.DF > 1 && t.IDF >= leastIDF)
		if isRare && !t.Corrected {
			rareWords[strings.ToLower(t.Word)] = true
		}
	}
	return rareWords
}
