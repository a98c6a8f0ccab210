// What comes to the model, and what it has done.

package tui

import "time"

// An event is a key or one of these.
type (
	size struct{ width, height int }
	tick struct{} // a moment came that was waited for

	answer struct { // to search n
		n     int
		found Found
	}
	entry struct { // that is to be shown
		hit   Hit
		whole Whole
	}
	outcome struct { // of a change
		done   Done
		undoes bool // it took the last change back
	}
)

// An effect is one of these.
type (
	effect any

	search struct {
		n     int
		query string
	}
	wake    struct{ at time.Time } // for a tick
	get     struct{ hit Hit }
	edit    struct{ hit Hit }
	forget  struct{ hit Hit }
	undo    struct{ change uint64 }
	suspend struct{}
	redraw  struct{}
	quit    struct{}
)
