// This file defines the events that the model receives and the effects that it returns.

package tui

import "time"

// A model event is a key, or a value that has one of these types.
type (
	screenSize struct{ width, height int }
	timerEvent struct{} // the time for which the model waited has come

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
	modelEffect any

	searchEffect struct {
		number int
		query  string
	}
	timerEffect       struct{ wakeTime time.Time } // send a timerEvent at this time
	loadEntryEffect   struct{ hit Hit }
	editEntryEffect   struct{ hit Hit }
	forgetEntryEffect struct{ hit Hit }
	undoChangeEffect  struct{ change uint64 }
	chooseEntryEffect struct{ hit Hit } // end the screen, with this entry as the result
	copyTextEffect    struct{ hit Hit } // copy the entry's text to the clipboard
	suspendEffect     struct{}
	redrawEffect      struct{}
	quitEffect        struct{}
)
