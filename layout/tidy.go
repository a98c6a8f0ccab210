// The seam of homes that can shorten the memory in a context.

package layout

import (
	"context"
	"time"
)

// Tidier is a [Home] that can make its always-present memory smaller by rule, and
// take that back.
type Tidier interface {
	Home

	// Consolidate takes out what another fact says. With dry, it only says
	// what it would do.
	Consolidate(ctx context.Context, dry bool) (Tidied, error)
	// Compress makes the memory fit a budget of tokens, at least 1. What it
	// takes out is kept elsewhere in the home. A budget that cannot be kept is
	// an error matching oxbow.ErrInvalid, and nothing is changed.
	Compress(ctx context.Context, budget int, dry bool) (Tidied, error)
	// Revert undoes the change of that number or, for 0, the last one, if
	// nothing was changed since. Errors match oxbow.ErrNotFound where there is
	// nothing to take back, and oxbow.ErrConflict where later changes are in
	// the way.
	Revert(ctx context.Context, number int, dry bool) (Tidied, error)
}

// Tidied is what was done, or would be.
type Tidied struct {
	Number int       `json:"number,omitempty"` // by which it can be taken back; 0 when nothing was changed
	What   string    `json:"what"`             // "consolidate", "compress" or "overwrite"
	Time   time.Time `json:"time"`
	Before int       `json:"tokens_before"` // of what stands before the model, an estimate
	After  int       `json:"tokens_after"`
	Steps  []Step    `json:"steps"`
	Notes  []string  `json:"notes,omitempty"` // what a person should know
}

// Step is what became of one fact.
type Step struct {
	Did  string `json:"did"`            // "drop", "move", "shorten" or "put back"
	Text string `json:"text"`           // the fact
	Kept string `json:"kept,omitempty"` // what stays for it
	Why  string `json:"why"`
}
