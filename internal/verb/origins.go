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

// RecordShown records that the session of the context is shown entries.
func RecordShown(ctx context.Context, entries ...oxbow.Entry) {
	if p, ok := ctx.Value(fingerprintsKey{}).(fingerprint.File); ok {
		RecordFingerprints(p, entries...)
	}
	l := ContextLedger(ctx)
	for i := range entries {
		if l != nil && entries[i].MayShow(oxbow.OnRequest(ctx)) {
			l.AddTexts(lineage.NewShownText(&entries[i]))
		}
	}
}

type turnsKey struct{}

// withOriginTurns returns a context in which a change may have labels that name turns.
func withOriginTurns(ctx context.Context, turns []string) context.Context {
	if turns == nil {
		return ctx
	}
	return context.WithValue(ctx, turnsKey{}, turns)
}

// ContextOriginTurns returns the turns that a change under the context may name in labels (see withOriginTurns).
func ContextOriginTurns(ctx context.Context) []string {
	turns, _ := ctx.Value(turnsKey{}).([]string)
	return turns
}
