// This file implements the model, which receives events and returns effects. It neither waits nor
// reads a clock.

package tui

import "time"

// mode determines the meaning of keys.
type mode int

const (
	typing   mode = iota // editing the query
	choosing             // moving in the list
	reading              // scrolling a whole entry
	doubting             // confirming that an entry is forgotten
)

// model is the state of the screen.
type model struct {
	size
	now   time.Time // time of the last event
	mode  mode
	was   mode // mode before reading
	query line
	searchNumbers
	list  list
	pager pager

	lacks   string   // the missing end of an incomplete query, or ""
	victim  Hit      // entry that is about to be forgotten
	doubts  mode     // mode before doubting
	busy    bool     // a change is running, or the list is being updated after it
	after   *message // message to show after that update, or nil
	changes []uint64 // numbers of changes that were made here and not undone, oldest first
	message
}

// message is the result of the last key. It disappears with the next key.
type message struct {
	text string
	bad  bool
}

func newModel(query string, s size, debounce time.Duration) *model {
	return &model{size: s, query: newLine(query), searchNumbers: searchNumbers{debounce: debounce}}
}

// start returns the effects before the first event.
func (m *model) start(now time.Time) []effect {
	m.due = now
	return m.update(tick{}, now)
}

// update handles an event and returns the effects to carry out.
func (m *model) update(e any, now time.Time) []effect {
	m.now = now
	switch e := e.(type) {
	case key:
		m.message = message{}
		return append(m.press(e), m.later(now))
	case size:
		m.size = e
	case tick:
		if m.isDue(now) {
			return m.ask()
		}
	case answer:
		return m.receiveAnswer(e)
	case entry:
		m.showEntry(e)
	case outcome:
		return m.endChange(e)
	}
	return nil
}

// ask runs the query, unless the query is incomplete.
func (m *model) ask() []effect {
	m.lacks = missingEnd(m.query.String())
	if m.lacks != "" {
		return nil
	}
	return m.searchNumbers.ask(m.query.String(), m.now)
}

// receiveAnswer handles the answer to a search. It ignores the answer if a later search was started.
func (m *model) receiveAnswer(a answer) []effect {
	query := m.asked
	if !m.markAnswered(a.n) {
		return nil
	}
	if m.after != nil {
		m.busy = false
		m.message = *m.after
		m.after = nil
	}
	switch f := a.found; {
	case f.Unfinished != "":
		m.lacks = f.Unfinished
	case f.Failed != "":
		m.message = message{f.Failed, true}
	default:
		m.list.setAnswer(f, m.list.of == query)
		m.list.of = query
	}
	if m.again {
		return m.searchNumbers.ask(query, m.now)
	}
	return nil
}

// showEntry shows a whole entry.
func (m *model) showEntry(e entry) {
	if e.whole.Failed != "" {
		m.message = message{e.whole.Failed, true}
		return
	}
	if m.mode != reading {
		m.was, m.mode = m.mode, reading
		m.pager.top = 0
	}
	e.hit.Version = e.whole.Version
	m.pager.hit = e.hit
	m.pager.whole = e.whole
	m.pager.rows = nil
}

// endChange handles the result of a change. The message is shown only after the list has been
// updated, because until then the list is out of date.
func (m *model) endChange(o outcome) []effect {
	m.after, m.list.wanted = &message{o.done.Text, o.done.Failed}, o.done.Name
	switch {
	case o.done.Failed:
	case o.undoes:
		m.changes = m.changes[:len(m.changes)-1]
	case o.done.Change != 0:
		m.changes = append(m.changes, o.done.Change)
	}
	effects := m.searchNumbers.ask(m.asked, m.now)
	if m.mode == reading {
		effects = append(effects, get{m.pager.hit})
	}
	return effects
}
