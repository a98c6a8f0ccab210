// This file declares the interface of homes that can shorten the memory that is always in the
// context.

package layout

import (
	"context"
	"time"
)

// A Tidier is a [Home] that can shorten, by fixed rules, the memory that is always in the context,
// and can undo the change.
type Tidier interface {
	Home

	// Consolidate removes facts that repeat other facts. With dry, it changes nothing, and returns
	// the changes that a call without dry would make.
	Consolidate(ctx context.Context, dry bool) (Tidied, error)
	// Compress shortens the memory to at most budget tokens. The budget is at least 1. Removed text
	// is moved to another file of the home. If that is impossible, nothing changes and the error
	// matches oxbow.ErrInvalid.
	Compress(ctx context.Context, budget int, dry bool) (Tidied, error)
	// Revert undoes the change with the given number, or the last change if number is 0. The error
	// matches oxbow.ErrNotFound if the change does not exist, and oxbow.ErrConflict if the memory
	// was changed since.
	Revert(ctx context.Context, number int, dry bool) (Tidied, error)
}

// Tidied describes a change by a [Tidier], made or planned.
type Tidied struct {
	Number int       `json:"number,omitempty"` // number to pass to Revert (0 if nothing was changed)
	What   string    `json:"what"`             // "consolidate", "compress" or "overwrite"
	Time   time.Time `json:"time"`
	// estimated tokens, before the change, of the memory that is always in the context
	Before int      `json:"tokens_before"`
	After  int      `json:"tokens_after"`
	Steps  []Step   `json:"steps"`
	Notes  []string `json:"notes,omitempty"` // remarks for the user
}

// Step describes the change to a fact.
type Step struct {
	Did  string `json:"did"`            // "drop", "move", "shorten" or "put back"
	Text string `json:"text"`           // the fact
	Kept string `json:"kept,omitempty"` // text that remains instead of the fact
	Why  string `json:"why"`
}
