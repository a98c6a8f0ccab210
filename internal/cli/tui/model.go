// This file implements the model, which is the state of the interactive search screen. The model changes with each
// event, such as a key, and returns the actions that are to be performed. It never waits and never reads a clock.

package tui

import "time"

// screenMode is the person's present activity, which determines the meaning of each key.
type screenMode int

const (
	modeTyping           screenMode = iota // the person edits the query
	modeChoosingEntry                      // the person moves in the list
	modeReading                            // the person scrolls a whole entry
	modeConfirmingForget                   // the person is asked whether an entry is to be forgotten
)

// model is the whole state of the screen.
type model struct {
	screenSize
	now               time.Time // time of the last event that the model has received, such as a key
	mode              screenMode
	modeBeforeReading screenMode // the mode to return to when the entry is closed
	query             inputLine
	searchState
	list  hitList
	pager entryPager

	// text that would complete the query if it is incomplete, such as a closing quotation mark, or ""
	incompleteQueryReason string
	entryToForget         Hit        // the entry that the person is asked about in modeConfirmingForget
	modeBeforeConfirm     screenMode // the mode to return to after the question
	// a change of an entry is running, or the list of found entries is not up to date after such a change
	isChangeRunning    bool
	messageAfterUpdate *statusMessage // the message to show as soon as the list of found entries is up to date, or nil
	undoableChanges    []uint64       // numbers of the changes made on this screen that can be undone, oldest first
	statusMessage
}

// statusMessage tells the person the result of the last key. It disappears with the next key.
type statusMessage struct {
	text    string
	isError bool
}

func newModel(query string, s screenSize, debounce time.Duration) *model {
	return &model{screenSize: s, query: newInputLine(query), searchState: searchState{debounce: debounce}}
}

// startFirstSearch starts the first search and returns its effects.
func (m *model) startFirstSearch(now time.Time) []modelEffect {
	m.nextSearchTime = now
	return m.update(timerEvent{}, now)
}

// update handles an event and returns the effects that the loop must perform.
func (m *model) update(event any, now time.Time) []modelEffect {
	m.now = now
	switch e := event.(type) {
	case keyPress:
		m.statusMessage = statusMessage{}
		return append(m.handleKey(e), m.scheduleSearch(now))
	case screenSize:
		m.screenSize = e
	case timerEvent:
		if m.unscheduleIfDue(now) {
			return m.runQuery()
		}
	case searchAnswer:
		return m.receiveAnswer(e)
	case loadedEntry:
		m.showEntry(e)
	case changeOutcome:
		return m.handleChangeOutcome(e)
	}
	return nil
}

// runQuery starts a search for the query. It does nothing if the query is incomplete.
func (m *model) runQuery() []modelEffect {
	m.incompleteQueryReason = incompleteQueryReason(m.query.String())
	if m.incompleteQueryReason != "" {
		return nil
	}
	return m.searchState.startSearch(m.query.String(), m.now)
}

// receiveAnswer shows the answer to a search. It ignores the answer if a later search has been started.
func (m *model) receiveAnswer(a searchAnswer) []modelEffect {
	query := m.lastQuery
	if !m.markSearchAnswered(a.searchNumber) {
		return nil
	}
	if m.messageAfterUpdate != nil {
		m.isChangeRunning = false
		m.statusMessage = *m.messageAfterUpdate
		m.messageAfterUpdate = nil
	}
	switch f := a.result; {
	case f.IncompleteQueryReason != "":
		m.incompleteQueryReason = f.IncompleteQueryReason
	case f.Failure != "":
		m.statusMessage = statusMessage{f.Failure, true}
	default:
		m.list.setAnswer(f, m.list.answeredQuery == query)
		m.list.answeredQuery = query
	}
	if m.shouldRepeatQuery {
		return m.searchState.startSearch(query, m.now)
	}
	return nil
}

// showEntry shows a whole entry. If the entry could not be loaded, it shows a message with the reason.
func (m *model) showEntry(e loadedEntry) {
	if e.details.Failure != "" {
		m.statusMessage = statusMessage{e.details.Failure, true}
		return
	}
	if m.mode != modeReading {
		m.modeBeforeReading, m.mode = m.mode, modeReading
		m.pager.firstVisibleRow = 0
	}
	e.hit.Version = e.details.Version
	m.pager.hit = e.hit
	m.pager.details = e.details
	m.pager.textRows = nil
}

// handleChangeOutcome handles the result of a change and runs the query again. The message about the change is shown
// only after the list has been updated, because the list is out of date until then.
func (m *model) handleChangeOutcome(o changeOutcome) []modelEffect {
	m.messageAfterUpdate, m.list.restoredName = &statusMessage{o.result.Text, o.result.Failed}, o.result.Name
	switch {
	case o.result.Failed:
	case o.isUndo:
		m.undoableChanges = m.undoableChanges[:len(m.undoableChanges)-1]
	case o.result.ChangeNumber != 0:
		m.undoableChanges = append(m.undoableChanges, o.result.ChangeNumber)
	}
	effects := m.searchState.startSearch(m.lastQuery, m.now)
	if m.mode == modeReading {
		effects = append(effects, loadEntryEffect{m.pager.hit})
	}
	return effects
}
