// Package ranking parses a query and ranks entries or other items by it. It offers two rankings, which are based on
// [github.com/oxbow-memory/oxbow/internal/search/index]. It also ranks turns of dialogues and explains scores. If a
// full index does not exist, it can answer a query with a small index that contains only the terms of this query.
package ranking

import (
	"sync/atomic"
	"time"
	"unique"

	"github.com/oxbow-memory/oxbow/internal/search/analysis"
)

// Item is an entry or another text that can be ranked. Either the index keeps the item in memory with all its data, or
// it reads the item each time the item is needed.
type Item interface {
	// FillText sets t to the texts of the item. It reuses the memory of the slices in t.
	FillText(t *ItemText)

	// Keywords returns the terms that [KeywordTerm] makes for the item's properties, sorted.
	Keywords() []string

	// TextCache returns the [ItemTextCache] that is embedded in the item and caches results for its text.
	TextCache() *ItemTextCache
}

// ItemTextCache caches results that were computed from the text of an item. Each type that implements [Item] must embed
// an ItemTextCache.
type ItemTextCache struct {
	cachedTurn atomic.Pointer[dialogueTurn]
	// words of the fields that contain what people said (nil until needed)
	cachedTokens atomic.Pointer[[]*analysis.Tokens]
	// The index does not keep the item in memory. It reads the item when the item is needed.
	IsReadOnDemand bool
}

// TextCache returns m. Through this method, a type that embeds an ItemTextCache has the method TextCache of [Item].
func (m *ItemTextCache) TextCache() *ItemTextCache { return m }

// ItemTextCacheBytes returns the approximate memory, in bytes, that is needed by an [ItemTextCache] with all cached
// results of an item with this content.
func ItemTextCacheBytes(content string) int {
	if kind := analysis.ClassifyDialogue(content); kind == analysis.DialogueBetweenPeople ||
		kind == analysis.DialogueWithProgram {
		return 3 * len(content) / 4 // estimate of the memory for the content's words
	}
	return 0
}

// ItemText contains the texts of an item, such as an entry, by which a search can find the item.
type ItemText struct {
	ID               uint64
	Name             string
	Aliases          []string
	LabelValues      []string // values of labels
	Content          string
	Session          string // ID of the session to which a turn belongs (only set for turns, may be empty)
	Created, Updated time.Time
}

// dialogueTurn contains the properties of an item that matter in a dialogue.
type dialogueTurn struct {
	// kind of the item; the fields below are set only for a turn in a talk between people
	dialogueKind       analysis.DialogueKind
	isQuestion         bool                  // the turn ends in a question
	createdNanoseconds int64                 // in nanoseconds since 1970
	session, speaker   unique.Handle[string] // handles, because they are often compared
	timeMentionState   atomic.Int32
}

// These are the values of dialogueTurn.timeMentionState, which tells whether the turn mentions a time. It is computed
// only on demand, because this is slow and few queries ask for a time.
const (
	timeUnknown = iota
	timeMentioned
	timeNotMentioned
)

// For items that are not turns of a talk between people, only the kind matters. Therefore all items of a kind share one
// element in sharedTurnByKind.
var sharedTurnByKind = [...]*dialogueTurn{
	analysis.NotDialogue:           {},
	analysis.ProgramTurn:           {dialogueKind: analysis.ProgramTurn},
	analysis.DialogueBetweenPeople: {dialogueKind: analysis.DialogueBetweenPeople},
	analysis.DialogueWithProgram:   {dialogueKind: analysis.DialogueWithProgram},
}

// nonDialogueTurn is the value that all items share that do not belong to a dialogue.
var nonDialogueTurn = sharedTurnByKind[analysis.NotDialogue]

// maxNeighbourInterval is the maximum time between the creation of neighbouring turns.
const maxNeighbourInterval = time.Hour

// isInSameDialogueAs reports whether t belongs to the same talk as the turn in the parameter other. Both turns must
// have the same session, and t must have been created at most maxNeighbourInterval before or after the turn "other".
// The caller must check that their IDs are close.
func (t *dialogueTurn) isInSameDialogueAs(other *dialogueTurn) bool {
	return t.dialogueKind == analysis.PersonTurn && t.session == other.session &&
		t.isCreatedNearTime(other.createdNanoseconds)
}

// isCreatedNearTime reports whether the turn was created at most maxNeighbourInterval before or after the given time.
func (t *dialogueTurn) isCreatedNearTime(createdNanoseconds int64) bool {
	a, b := min(t.createdNanoseconds, createdNanoseconds), max(t.createdNanoseconds, createdNanoseconds)
	return uint64(b)-uint64(a) <= uint64(maxNeighbourInterval)
}
