// Package ranking parses a query and ranks entries or other items by it. It has two rankings based on
// [github.com/oxbow-memory/oxbow/internal/search/index]. It also ranks turns of dialogues,
// explains scores, and can answer a query from an index with only the terms of that query.
package ranking

import (
	"sync/atomic"
	"time"
	"unique"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// An Item is something to rank. It is the Data of a document or is read when needed.
type Item interface {
	// FillText sets t to the texts of the item. It reuses the slices of t.
	FillText(t *Text)

	// Keywords returns terms made by [Keyword], sorted.
	Keywords() []string

	// ItemMemo returns the item's embedded [Memo].
	ItemMemo() *Memo
}

// Memo caches results about an item's text. Each type that implements [Item] must embed a Memo.
type Memo struct {
	turn   atomic.Pointer[turn]
	tokens atomic.Pointer[[]*analysis.Tokens] // tokens of the spoken fields (nil until needed)
	Late   bool                               // the item is read when it is needed, and is not the Data of a document
}

// ItemMemo returns the memo.
func (m *Memo) ItemMemo() *Memo { return m }

// MemoBytes returns the approximate size in bytes of the complete memo for an item with
// this content.
func MemoBytes(content string) int {
	if kind := analysis.ClassifySpeech(content); kind == analysis.WholeTalk || kind == analysis.WholeChat {
		return 3 * len(content) / 4 // size of the content's tokens
	}
	return 0
}

// Text has the texts by which an item can be found.
type Text struct {
	ID               uint64
	Name             string
	Aliases          []string
	Labels           []string // values of labels
	Content          string
	Session          string // ID of the dialogue's session (may be empty, and is only set for turns)
	Created, Updated time.Time
}

// turn has the properties of an item that matter in a dialogue.
type turn struct {
	kind             analysis.SpeechKind   // if the item is not a turn in a talk, no other field is set
	isQuestion       bool                  // the turn ends in a question
	created          int64                 // in nanoseconds since 1970
	session, speaker unique.Handle[string] // handles, because they are often compared
	timeMention      atomic.Int32
}

// Values of turn.when, which tells whether a turn mentions a time. turn.when is computed only when
// needed, because this is slow and few queries ask for a time.
const (
	timeUnknown = iota
	timeMentioned
	timeNotMentioned
)

// noTurns has a shared turn for each kind of item that is not a turn in a talk.
var noTurns = [...]*turn{
	analysis.NoSpeech:   {},
	analysis.TurnOfChat: {kind: analysis.TurnOfChat},
	analysis.WholeTalk:  {kind: analysis.WholeTalk},
	analysis.WholeChat:  {kind: analysis.WholeChat},
}

// noTurn is the turn of items that are not in a dialogue.
var noTurn = noTurns[analysis.NoSpeech]

// maxNeighbourTime is the maximum time between the creation of neighbouring turns.
const maxNeighbourTime = time.Hour

// isNextTo reports whether t is a turn of the same talk as other, created within maxNeighbourTime.
// The caller must check that their IDs are close.
func (t *turn) isNextTo(other *turn) bool {
	return t.kind == analysis.TurnOfTalk && t.session == other.session && t.isCreatedNear(other.created)
}

// isCreatedNear reports whether the turn was created within maxNeighbourTime of this time.
func (t *turn) isCreatedNear(created int64) bool {
	a, b := min(t.created, created), max(t.created, created)
	return uint64(b)-uint64(a) <= uint64(maxNeighbourTime)
}
