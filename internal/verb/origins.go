// This file labels an agent's text with the entries and turns that it was made from. They are found
// among the texts that the session was shown.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

type ledgerKey struct{}

// WithLedger returns a context for the calls of a session. Entries that are shown to the session
// are recorded in s, because the session's texts may be made from them. Servers call WithLedger.
func WithLedger(ctx context.Context, s *SeenEntries) context.Context {
	return context.WithValue(ctx, ledgerKey{}, &s.ledger)
}

// ContextLedger returns the record of the texts that the context's session was shown. It returns nil if the
// context has no record.
func ContextLedger(ctx context.Context) *lineage.Ledger {
	l, _ := ctx.Value(ledgerKey{}).(*lineage.Ledger)
	return l
}

// ShowTo records that the session of the context is shown entries.
func ShowTo(ctx context.Context, entries ...oxbow.Entry) {
	if p, ok := ctx.Value(printsKey{}).(fingerprint.File); ok {
		for i := range entries {
			KeepPrints(p, &entries[i])
		}
	}
	l := ContextLedger(ctx)
	for i := range entries {
		if l != nil && entries[i].MayShow(oxbow.OnRequest(ctx)) {
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

// ContextTurns returns the turns that a change under the context may name in labels (see withOrigins).
func ContextTurns(ctx context.Context) []string {
	turns, _ := ctx.Value(turnsKey{}).([]string)
	return turns
}
