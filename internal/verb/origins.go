// This file records which entries and turns a session was shown. An agent's new text is compared with the shown texts,
// and gets labels that name the entries and turns from which it was made.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

type readTextsContextKey struct{}

// WithShownEntriesRecord returns a context for the calls of a session. Entries that are shown in these calls are
// recorded in s, because the session may make new texts from them. Servers use it.
func WithShownEntriesRecord(ctx context.Context, s *SeenEntries) context.Context {
	return context.WithValue(ctx, readTextsContextKey{}, &s.textsReadBySession)
}

// ContextLedger returns the record of the texts that a session was shown, or nil if the context contains none.
func ContextLedger(ctx context.Context) *lineage.Ledger {
	l, _ := ctx.Value(readTextsContextKey{}).(*lineage.Ledger)
	return l
}

// RecordShown records that entries are shown to the session of the context.
func RecordShown(ctx context.Context, entries ...oxbow.Entry) {
	if p, ok := ctx.Value(fingerprintsContextKey{}).(fingerprint.File); ok {
		RecordFingerprints(p, entries...)
	}
	l := ContextLedger(ctx)
	for i := range entries {
		if l != nil && entries[i].MayShow(oxbow.OnRequest(ctx)) {
			l.AddTexts(lineage.NewShownText(&entries[i]))
		}
	}
}

type originTurnsContextKey struct{}

// withOriginTurns returns a context with the turns of a conversation that a text may come from. Changes with this
// context are allowed to have labels that name these turns.
func withOriginTurns(ctx context.Context, turns []string) context.Context {
	if turns == nil {
		return ctx
	}
	return context.WithValue(ctx, originTurnsContextKey{}, turns)
}

// ContextOriginTurns returns the turns of a conversation from which a written text may come. withOriginTurns has stored
// the turns in ctx. A change with this context may have labels that contain the names of these turns. The result is nil
// if ctx contains no turns.
func ContextOriginTurns(ctx context.Context) []string {
	turns, _ := ctx.Value(originTurnsContextKey{}).([]string)
	return turns
}
