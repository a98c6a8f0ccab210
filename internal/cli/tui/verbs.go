// Package tui is the screen of "oxbow recall -i": a query that is answered while it
// is typed, its hits, and the chosen one of them. What it shows and which verbs it
// calls is a model, of keys in and rows out; the terminal is around it.
package tui

import "context"

// Verbs are what the screen calls. One is called at a time. The words of what they
// return are the door's.
type Verbs struct {
	// Recall answers a query, "" too. Of an older query it is ended by ctx.
	Recall func(ctx context.Context, query string) Found

	// Get returns what is known of a hit.
	Get func(ctx context.Context, h Hit) Whole

	// Edit has a person change an entry in an editor, on the terminal as it was
	// before the screen.
	Edit func(ctx context.Context, h Hit) Done

	Forget func(ctx context.Context, h Hit) Done

	// Undo takes the change of that number back.
	Undo func(ctx context.Context, change uint64) Done
}

// Hit is an entry that was found.
type Hit struct {
	Name    string
	Version uint64   // number of the change that wrote it
	Meta    string   // its kind, date and labels
	Warning string   // why it is not believed, or ""
	Text    string   // the whole content
	Words   []string // that the query found in name and text, in lower case, sorted
	Fixed   string   // why it can be neither edited nor forgotten, or ""
	Facts   []Fact   // that are of the hit, not of the entry
	Final   bool     // what is forgotten cannot be brought back
}

// Found is the answer to a query.
type Found struct {
	Hits  []Hit
	More  bool     // there are more hits
	Why   []string // why nothing was found
	Notes []string // what else is to be known

	Unfinished string // what the query lacks, as one that is being typed does; "" for an answer
	Failed     string // why there is no answer, or ""
}

// Whole is an entry with all that is known of it.
type Whole struct {
	Version uint64
	Facts   []Fact
	Text    string
	Failed  string // why it is not shown, or ""
}

// Fact is a named part of an entry, such as its labels.
type Fact struct{ Name, Value string }

// Done is what came of a change.
type Done struct {
	Text   string // what was done, or why not
	Failed bool
	Name   string // of the entry that is to be chosen now, or ""
	Change uint64 // its number, by which it is undone; 0 for none
}
