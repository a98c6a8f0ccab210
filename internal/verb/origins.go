// Origins: labels that name what an agent's text was made from, of what its session was
// shown.

package verb

import (
	"context"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/care/lineage"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

type ledgerKey struct{}

// WithLedger returns a context in which it is recorded what the session is shown, of
// which its texts may be made. A server calls it.
func WithLedger(ctx context.Context, s *Seen) context.Context {
	return context.WithValue(ctx, ledgerKey{}, &s.ledger)
}

// ShowTo records that the session of the context is shown entries.
func ShowTo(ctx context.Context, entries ...oxbow.Entry) {
	if p, ok := ctx.Value(printsKey{}).(fingerprint.File); ok {
		for i := range entries {
			keepPrintsOf(p, &entries[i])
		}
	}
	l, _ := ctx.Value(ledgerKey{}).(*lineage.Ledger)
	for i := range entries {
		if l != nil && !entries[i].Withheld(ctx) {
			l.Show(lineage.ShownEntry(&entries[i]))
		}
	}
}

type turnsKey struct{}

// withOrigins returns a context in which a change may have labels that name turns.
func withOrigins(ctx context.Context, turns []string) context.Context {
	if turns == nil {
		return ctx
	}
	return context.WithValue(ctx, turnsKey{}, turns)
}

// maxOrigins bounds the labels of an entry that name what it was made from.
const maxOrigins = 16

// origins finds what texts were made from.
type origins struct {
	ctx    context.Context
	memory *oxbow.Memory
	ledger *lineage.Ledger // nil where no session is known
	turns  []string
	agent  bool
}

func originsOf(ctx context.Context, m *oxbow.Memory) origins {
	o := origins{ctx: ctx, memory: m}
	src, _ := oxbow.SourceFrom(ctx)
	o.agent = src.Actor == oxbow.Agent
	o.ledger, _ = ctx.Value(ledgerKey{}).(*lineage.Ledger)
	o.turns, _ = ctx.Value(turnsKey{}).([]string)
	return o
}

// show adds what hooks put before the model.
func (o *origins) show(shown []session.ShownText) {
	for _, s := range shown {
		x := lineage.Shown{Name: s.Name, Version: s.Version, Text: s.Text}
		if s.In == inject.InSessions {
			x.Version = 0 // a turn
		}
		o.ledger.Show(x)
	}
}

// may reports whether a label may be given: an agent gives none that names an origin.
func (o *origins) may(l oxbow.Label, old []oxbow.Label) bool {
	if (l.Key != lineage.Label && l.Key != oxbow.LabelOrigin && l.Key != oxbow.LabelVerified &&
		l.Key != oxbow.LabelApproved) || !o.agent {
		return true
	}
	return slices.Contains(old, l) || (l.Key == lineage.Label && slices.Contains(o.turns, l.Value))
}

// labels returns the labels that name what a text was made from, the taints of that, and
// its trust when that is lower; those of the old version first.
func (o *origins) labels(name, content string, old oxbow.Entry) (ls []oxbow.Label) {
	if !o.agent {
		return nil
	}
	for _, l := range old.Labels {
		if l.Key == lineage.Label || l.Key == oxbow.LabelOrigin {
			ls = append(ls, l)
		}
	}
	for _, s := range o.ledger.Sources(name, content, old.Content, o.rare) {
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

// leastIDF is the least idf of a rare word. In a small memory it is one that a single
// entry has.
const leastIDF = 4

// rare returns which of some words are rare in the memory.
func (o *origins) rare(words []string) map[string]bool {
	if o.memory == nil {
		return nil
	}
	read, err := o.memory.ParseQuery(o.ctx, oxbow.Query{Text: strings.Join(words, " "), Rank: oxbow.RankOxbow})
	if err != nil {
		return nil
	}
	is := map[string]bool{}
	for _, t := range read.Terms {
		if !t.Corrected && (t.DF == 1 || (t.DF > 1 && t.IDF >= leastIDF)) {
			is[strings.ToLower(t.Word)] = true
		}
	}
	return is
}
