// This file defines the events (such as a key press) that the screen's model receives, and the effects (such as a
// search) that the model requests in return.

package tui

import "time"

// An event for the screen's state is a pressed key, or a value with a type from this group.
type (
	screenSize struct{ width, height int }
	timerEvent struct{} // the time has come for which the screen's state (the model) requested a timer event

	searchAnswer struct { // the result of the search that was started with the number lastSearchNumber
		searchNumber int
		result       QueryResult
	}
	loadedEntry struct { // an entry whose details were loaded, because the person wants to read the whole entry
		hit     Hit
		details EntryDetails
	}
	changeOutcome struct { // the result of a change to the memory
		result ChangeResult
		isUndo bool // the change undid an earlier change
	}
)

// An effect is an action, such as a search, that the event loop must perform because a key was pressed or another event
// occurred. Its type is one of the types in this group.
type (
	modelEffect any

	searchEffect struct {
		searchNumber int
		query        string
	}
	timerEffect          struct{ wakeTime time.Time } // request to send a timerEvent to the model at this time
	loadEntryEffect      struct{ hit Hit }
	editEntryEffect      struct{ hit Hit }
	forgetEntryEffect    struct{ hit Hit }
	undoChangeEffect     struct{ changeNumber uint64 }
	chooseEntryEffect    struct{ hit Hit } // close the interactive screen, and return this entry as the person's choice
	copyTextEffect       struct{ hit Hit } // copy the entry's text to the clipboard
	suspendProcessEffect struct{}
	redrawEffect         struct{}
	quitEffect           struct{}
)
