// This file implements the model, which receives events and returns effects. The model never waits and never reads a
// clock.

package tui

import "time"

// mode says what a person is doing, which determines the meaning of each key.
type mode int

const (
	modeTyping        mode = iota // the person edits the query
	modeChoosing                  // the person moves in the list
	modeReading                   // the person scrolls a whole entry
	modeConfirmForget             // the person is asked whether an entry is to be forgotten
)

// model is the whole state of the screen.
type model struct {
	size
	now               time.Time // time of the last event
	mode              mode
	modeBeforeReading mode // the mode to return to when the entry is closed
	query             inputLine
	searchState
	list  hitList
	pager pager

	missingEnd         string   // what an incomplete query lacks at its end, or ""
	entryToForget      Hit      // the entry that the person is asked about in modeConfirmForget
	modeBeforeConfirm  mode     // the mode to return to after the question
	isBusy             bool     // a change is running, or the list is not up to date after the change
	messageAfterUpdate *message // the message to show when the list is up to date, or nil
	undoableChanges    []uint64 // numbers of the changes made on this screen that can be undone, oldest first
	message
}

// message tells the person the result of the last key. It disappears with the next key.
type message struct {
	text    string
	isError bool
}

func newModel(query string, s size, debounce time.Duration) *model {
	return &model{size: s, query: newInputLine(query), searchState: searchState{debounce: debounce}}
}

// start starts the first search and returns its effects.
func (m *model) start(now time.Time) []effect {
	m.nextSearchTime = now
	return m.update(tickEvent{}, now)
}

// update handles an event and returns the effects that the loop must perform.
func (m *model) update(e any, now time.Time) []effect {
	m.now = now
	switch e := e.(type) {
	case key:
		m.message = message{}
		return append(m.handleKey(e), m.scheduleSearch(now))
	case size:
		m.size = e
	case tickEvent:
		if m.takeDueSearch(now) {
			return m.runQuery()
		}
	case searchAnswer:
		return m.receiveAnswer(e)
	case loadedEntry:
		m.showEntry(e)
	case changeOutcome:
		return m.endChange(e)
	}
	return nil
}

// runQuery starts a search for the query. It does nothing if the query is incomplete.
func (m *model) runQuery() []effect {
	m.missingEnd = missingEnd(m.query.String())
	if m.missingEnd != "" {
		return nil
	}
	return m.searchState.startSearch(m.query.String(), m.now)
}

// receiveAnswer shows the answer to a search. It ignores the answer if a later search has been started.
func (m *model) receiveAnswer(a searchAnswer) []effect {
	query := m.lastQuery
	if !m.markAnswered(a.searchNumber) {
		return nil
	}
	if m.messageAfterUpdate != nil {
		m.isBusy = false
		m.message = *m.messageAfterUpdate
		m.messageAfterUpdate = nil
	}
	switch f := a.result; {
	case f.MissingEnd != "":
		m.missingEnd = f.MissingEnd
	case f.Failure != "":
		m.message = message{f.Failure, true}
	default:
		m.list.setAnswer(f, m.list.answeredQuery == query)
		m.list.answeredQuery = query
	}
	if m.repeatQuery {
		return m.searchState.startSearch(query, m.now)
	}
	return nil
}

// showEntry shows a whole entry. If the entry could not be loaded, it shows a message with the reason.
func (m *model) showEntry(e loadedEntry) {
	if e.details.Failure != "" {
		m.message = message{e.details.Failure, true}
		return
	}
	if m.mode != modeReading {
		m.modeBeforeReading, m.mode = m.mode, modeReading
		m.pager.firstVisible = 0
	}
	e.hit.Version = e.details.Version
	m.pager.hit = e.hit
	m.pager.details = e.details
	m.pager.rows = nil
}

// endChange handles the result of a change and runs the query again. The message about the change is shown only after
// the list has been updated, because the list is out of date until then.
func (m *model) endChange(o changeOutcome) []effect {
	m.messageAfterUpdate, m.list.wantedName = &message{o.result.Text, o.result.Failed}, o.result.Name
	switch {
	case o.result.Failed:
	case o.isUndo:
		m.undoableChanges = m.undoableChanges[:len(m.undoableChanges)-1]
	case o.result.Change != 0:
		m.undoableChanges = append(m.undoableChanges, o.result.Change)
	}
	effects := m.searchState.startSearch(m.lastQuery, m.now)
	if m.mode == modeReading {
		effects = append(effects, getEffect{m.pager.hit})
	}
	return effects
}
