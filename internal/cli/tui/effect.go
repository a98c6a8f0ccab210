// This file defines the events and the effects of the model.

package tui

import "time"

// An event is a key or one of these types.
type (
	size      struct{ width, height int }
	tickEvent struct{} // a time for which the model waited has come

	searchAnswer struct { // result of search n
		searchNumber int
		result       QueryResult
	}
	loadedEntry struct { // entry to show
		hit     Hit
		details EntryDetails
	}
	changeOutcome struct { // result of a change
		result ChangeResult
		isUndo bool // the change was an undo
	}
)

// An effect is one of these types.
type (
	effect any

	searchEffect struct {
		number int
		query  string
	}
	wakeEffect    struct{ wakeTime time.Time } // send a tick at this time
	getEffect     struct{ hit Hit }
	editEffect    struct{ hit Hit }
	forgetEffect  struct{ hit Hit }
	undoEffect    struct{ change uint64 }
	chooseEffect  struct{ hit Hit } // end, with this entry as the result
	copyEffect    struct{ hit Hit } // copy the text of the entry
	suspendEffect struct{}
	redrawEffect  struct{}
	quitEffect    struct{}
)
