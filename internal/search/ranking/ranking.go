// Package ranking ranks texts by a query: two rankings over
// [github.com/oxbow-memory/oxbow/internal/search/index], that of turns of a dialogue
// among them, accounts of their scores, and an index of a query's terms alone.
package ranking

import (
	"sync/atomic"
	"time"
	"unique"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Item is what a caller ranks: the Data of a document, or what is read in its place.
type Item interface {
	// Text sets t, whose slices are used again.
	Text(t *Text)

	// Keywords returns terms made by [Keyword], sorted.
	Keywords() []string

	// Kept is that of an embedded [Memo].
	Kept() *Memo
}

// Memo is embedded in an [Item]: what ranking found out about its text.
type Memo struct {
	turn   atomic.Pointer[turn]
	tokens atomic.Pointer[[]*analysis.Tokens] // of what is spoken in it; nil until they are needed
	Late   bool                               // the item is read when it is needed, and no Data of a document
}

// Kept returns the memo.
func (m *Memo) Kept() *Memo { return m }

// MemoBytes returns about how many bytes the memo of an item of that content takes, once
// all of it was needed.
func MemoBytes(content string) int {
	if kind := analysis.SpeechOf(content); kind == analysis.WholeTalk || kind == analysis.WholeChat {
		return 3 * len(content) / 4 // the tokens
	}
	return 0
}

// Text is what an item is found by.
type Text struct {
	ID               uint64
	Name             string
	Aliases          []string
	Labels           []string // values
	Content          string
	Session          string // of the dialogue that it is a turn of, "" for none
	Created, Updated time.Time
}

// turn is what ranking needs of an item.
type turn struct {
	kind             analysis.Speech       // of all but turns of talks, nothing else is set
	asks             bool                  // it ends in a question
	created          int64                 // nanoseconds since 1970
	session, speaker unique.Handle[string] // of "" for none; they are compared often
	when             atomic.Int32
}

// Whether a turn tells a time. It takes longest to find out, and few questions
// are for a time.
const (
	whenUnknown = iota
	whenSaid
	whenNot
)

// noTurns are what ranking needs of all that is no turn of a talk, by kind.
var noTurns = [...]*turn{
	analysis.NoSpeech:   {},
	analysis.TurnOfChat: {kind: analysis.TurnOfChat},
	analysis.WholeTalk:  {kind: analysis.WholeTalk},
	analysis.WholeChat:  {kind: analysis.WholeChat},
}

// noTurn is what ranking needs of all that is no speech.
var noTurn = noTurns[analysis.NoSpeech]

// neighbourTime is the time within which neighbours in a dialogue are created.
const neighbourTime = time.Hour

// next reports whether another turn is one of the same talk, at most
// neighbourTime away, if their IDs say that they may be.
func (t *turn) next(of *turn) bool {
	return t.kind == analysis.TurnOfTalk && t.session == of.session && t.near(of.created)
}

// near reports whether the turn was created within neighbourTime of another.
func (t *turn) near(created int64) bool {
	a, b := min(t.created, created), max(t.created, created)
	return uint64(b)-uint64(a) <= uint64(neighbourTime)
}
