// This file records which entries and turns a session was shown. An agent's new text is compared with the shown texts,
// and gets labels that name the entries and turns from which it was made.

package verb

import (
	"context"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/lineage"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

type shownTextsContextKey struct{}

// WithShownTexts returns a context for the calls of a session. Entries that are shown in these calls are
// recorded in s, because the session may make new texts from them. Servers use it.
func WithShownTexts(ctx context.Context, s *SeenEntries) context.Context {
	return context.WithValue(ctx, shownTextsContextKey{}, &s.textsReadBySession)
}

// ContextShownTexts returns the record of the texts that a session was shown, or nil if the context contains none.
func ContextShownTexts(ctx context.Context) *lineage.ShownTextLedger {
	l, _ := ctx.Value(shownTextsContextKey{}).(*lineage.ShownTextLedger)
	return l
}

// RecordShownEntries records that entries are shown to the session of the context.
func RecordShownEntries(ctx context.Context, entries ...oxbow.Entry) {
	if p, ok := ctx.Value(fingerprintsContextKey{}).(fingerprint.Store); ok {
		RecordFingerprints(p, entries...)
	}
	l := ContextShownTexts(ctx)
	for i := range entries {
		if l != nil && entries[i].MayShow(oxbow.OnRequest(ctx)) {
			l.AddTexts(lineage.NewShownText(&entries[i]))
		}
	}
}

type originTurnNamesContextKey struct{}

// withOriginTurnNames returns a context with the turns of a conversation that a text may come from. Changes with this
// context are allowed to have labels that name these turns.
func withOriginTurnNames(ctx context.Context, turnNames []string) context.Context {
	if turnNames == nil {
		return ctx
	}
	return context.WithValue(ctx, originTurnNamesContextKey{}, turnNames)
}

// ContextOriginTurnNames returns the names of the turns in ctx. A turn is a part of a conversation, and a written text
// may come from these turns. The function withOriginTurnNames has stored the names in ctx. A change that is made with
// ctx may have labels with these names. The result is nil if ctx contains no names.
func ContextOriginTurnNames(ctx context.Context) []string {
	turns, _ := ctx.Value(originTurnNamesContextKey{}).([]string)
	return turns
}
