// This file implements the model, which receives events and returns effects. It neither waits nor
// reads a clock.

package tui

import "time"

// mode determines the meaning of keys.
type mode int

const (
	modeTyping        mode = iota // editing the query
	modeChoosing                  // moving in the list
	modeReading                   // scrolling a whole entry
	modeConfirmForget             // confirming that an entry is forgotten
)

// model is the state of the screen.
type model struct {
	size
	now               time.Time // time of the last event
	mode              mode
	modeBeforeReading mode // mode before modeReading
	query             inputLine
	searchState
	list  hitList
	pager pager

	missingEnd         string   // the missing end of an incomplete query, or ""
	entryToForget      Hit      // entry that is about to be forgotten
	modeBeforeConfirm  mode     // mode before modeConfirmForget
	isBusy             bool     // a change is running, or the list is being updated after it
	messageAfterUpdate *message // message to show after that update, or nil
	undoableChanges    []uint64 // numbers of changes that were made here and not undone, oldest first
	message
}

// message is the result of the last key. It disappears with the next key.
type message struct {
	text    string
	isError bool
}

func newModel(query string, s size, debounce time.Duration) *model {
	return &model{size: s, query: newInputLine(query), searchState: searchState{debounce: debounce}}
}

// start returns the effects before the first event.
func (m *model) start(now time.Time) []effect {
	m.nextSearchTime = now
	return m.update(tickEvent{}, now)
}

// update handles an event and returns the effects to carry out.
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

// runQuery runs the query, unless the query is incomplete.
func (m *model) runQuery() []effect {
	m.missingEnd = missingEnd(m.query.String())
	if m.missingEnd != "" {
		return nil
	}
	return m.searchState.startSearch(m.query.String(), m.now)
}

// receiveAnswer handles the answer to a search. It ignores the answer if a later search was started.
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

// showEntry shows a whole entry or, if the entry was not loaded, a message that says why.
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

// endChange handles the result of a change. The message is shown only after the list has been
// updated, because until then the list is out of date.
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
