// Package tui implements the screen of "oxbow recall -i". While a person types a query, the screen shows the list of
// hits and the chosen entry. The model is the state of the screen. It receives the keys and decides which rows are
// shown and which operations of oxbow are called. The rest of the package connects the model to the terminal.
package tui

import "context"

// Callbacks are the functions that the screen calls, one at a time. The caller of [ShowScreen] implements them and
// converts verbs' results to texts.
type Callbacks struct {
	// Recall answers a query, which may be "". ctx is cancelled when a newer query replaces this query.
	Recall func(ctx context.Context, query string) QueryResult

	// Get returns an entry with all its details.
	Get func(ctx context.Context, h Hit) EntryDetails

	// ChooseEntry records the entry that the person chose. The screen then ends.
	ChooseEntry func(h Hit)

	// Edit lets a person change an entry in an editor. While the editor runs, the screen is hidden and the terminal is
	// restored.
	Edit func(ctx context.Context, h Hit) ChangeResult

	Forget func(ctx context.Context, h Hit) ChangeResult

	// Undo undoes the change with the given number.
	Undo func(ctx context.Context, change uint64) ChangeResult
}

// Hit is an entry that the query found.
type Hit struct {
	Name           string
	Version        uint64          // number of the change that wrote the entry
	MetadataText   string          // kind, date and labels of the entry
	Warning        string          // reason why the entry is not reliable, or ""
	Text           string          // whole content of the entry
	Words          []string        // the query's words that occur in the name or the text, in lower case and sorted
	ReadOnlyReason string          // reason why the entry can be neither edited nor forgotten, or ""
	Facts          []NamedProperty // facts about this hit, such as its score, but not about the entry
	IsForgetFinal  bool            // the entry cannot be restored after it was forgotten
}

// QueryResult is the answer to a query.
type QueryResult struct {
	Hits         []Hit
	HasMore      bool     // more entries match than Hits contains
	NoHitReasons []string // reasons why nothing was found (nil if there are hits)
	Notes        []string // notes about the search for the person, such as a warning

	// reason why the query cannot be answered yet, such as an incomplete date at the end ("" if it was answered)
	IncompleteQueryReason string
	Failure               string // reason why the query failed, or ""
}

// EntryDetails is an entry with all its details.
type EntryDetails struct {
	Version         uint64
	EntryProperties []NamedProperty
	Text            string
	Failure         string // reason why the entry cannot be shown, or ""
}

// NamedProperty is a named property of an entry, such as its labels.
type NamedProperty struct{ Name, Value string }

// ChangeResult is the result of a change.
type ChangeResult struct {
	Text         string // effect of the change, or the reason why it failed
	Failed       bool
	Name         string // name of the entry that is to be selected in the list of found entries after the change, or ""
	ChangeNumber uint64 // number of the change, for Undo (0 if nothing was changed)
}
