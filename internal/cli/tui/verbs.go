// Package tui implements the screen of "oxbow recall -i". It answers a query while the query is
// being typed, and shows the list of hits and the chosen entry. A model receives keys and
// returns rows. It decides which rows are shown and which verbs are called. The rest of the
// package connects the model to the terminal.
package tui

import "context"

// Verbs are the functions that the screen calls, one at a time. The caller of [Show] turns their
// results into texts.
type Verbs struct {
	// Recall answers a query, which may be "". ctx is cancelled if a newer query replaces this
	// one.
	Recall func(ctx context.Context, query string) QueryResult

	// Get returns an entry with all its details.
	Get func(ctx context.Context, h Hit) EntryDetails

	// Choose stores the entry that the person chose. The screen then ends.
	Choose func(h Hit)

	// Edit lets a person change an entry in an editor. The terminal is restored while the editor
	// runs.
	Edit func(ctx context.Context, h Hit) ChangeResult

	Forget func(ctx context.Context, h Hit) ChangeResult

	// Undo reverts the change with that number.
	Undo func(ctx context.Context, change uint64) ChangeResult
}

// Hit is an entry that the query found.
type Hit struct {
	Name    string
	Version uint64   // number of the change that wrote it
	Meta    string   // kind, date and labels
	Warning string   // why the entry is not reliable, or ""
	Text    string   // the whole content
	Words   []string // query words in name and text; in lower case, sorted
	Fixed   string   // why the entry can be neither edited nor forgotten, or ""
	Facts   []Fact   // facts about the hit, not about the entry
	Final   bool     // forgetting the entry cannot be undone
}

// QueryResult is the answer to a query.
type QueryResult struct {
	Hits         []Hit
	HasMore      bool     // there are more hits
	EmptyReasons []string // why nothing was found (nil if there are hits)
	Notes        []string // other notes for the person

	MissingEnd string // missing end of an incomplete query ("" if the query was answered)
	Failure    string // why the query failed, or ""
}

// EntryDetails is an entry with all its details.
type EntryDetails struct {
	Version uint64
	Facts   []Fact
	Text    string
	Failure string // why it cannot be shown, or ""
}

// Fact is a named part of an entry, such as its labels.
type Fact struct{ Name, Value string }

// ChangeResult is the result of a change.
type ChangeResult struct {
	Text   string // the effect, or the reason for a failure
	Failed bool
	Name   string // name of the entry to choose now, or ""
	Change uint64 // change number for Undo (0 if nothing was changed)
}
