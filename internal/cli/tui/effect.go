// This file defines the events and the effects of the model.

package tui

import "time"

// An event is a key or one of these types.
type (
	size struct{ width, height int }
	tick struct{} // a time for which the model waited has come

	answer struct { // result of search n
		n     int
		found QueryResult
	}
	entry struct { // entry to show
		hit   Hit
		whole EntryDetails
	}
	outcome struct { // result of a change
		done   ChangeResult
		undoes bool // the change was an undo
	}
)

// An effect is one of these types.
type (
	effect any

	search struct {
		n     int
		query string
	}
	wake    struct{ at time.Time } // send a tick at this time
	get     struct{ hit Hit }
	edit    struct{ hit Hit }
	forget  struct{ hit Hit }
	undo    struct{ change uint64 }
	choice  struct{ hit Hit } // end, with this entry as the result
	clip    struct{ hit Hit } // copy the text of the entry
	suspend struct{}
	redraw  struct{}
	quit    struct{}
)
