// This file defines the events that the model receives and the effects that it returns.

package tui

import "time"

// An event of the model is a key or a value of one of these types.
type (
	size      struct{ width, height int }
	tickEvent struct{} // the time for which the model waited has come

	searchAnswer struct { // the result of the search with this number
		searchNumber int
		result       QueryResult
	}
	loadedEntry struct { // an entry that was loaded to be shown
		hit     Hit
		details EntryDetails
	}
	changeOutcome struct { // the result of a change to the memory
		result ChangeResult
		isUndo bool // the change undid an earlier change
	}
)

// An effect is an action that the model asks for. Its type is one of these.
type (
	effect any

	searchEffect struct {
		number int
		query  string
	}
	wakeEffect    struct{ wakeTime time.Time } // send a tickEvent at this time
	getEffect     struct{ hit Hit }
	editEffect    struct{ hit Hit }
	forgetEffect  struct{ hit Hit }
	undoEffect    struct{ change uint64 }
	chooseEffect  struct{ hit Hit } // end the screen, with this entry as the result
	copyEffect    struct{ hit Hit } // copy the entry's text to the clipboard
	suspendEffect struct{}
	redrawEffect  struct{}
	quitEffect    struct{}
)
