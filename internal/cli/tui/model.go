// The model: keys and answers in, effects out. It neither waits nor reads a clock.

package tui

import "time"

// mode is what keys are for.
type mode int

const (
	typing   mode = iota // the query
	choosing             // an entry of the list
	reading              // a whole entry
	doubting             // whether an entry is forgotten
)

// model is all that the screen shows.
type model struct {
	size
	now   time.Time // of the last event
	mode  mode
	was   mode // before reading
	query line
	searching
	list  list
	pager pager

	lacks   string   // what the query lacks to be asked
	victim  Hit      // what is to be forgotten
	doubts  mode     // the mode before doubting
	busy    bool     // a change is being made, or its answer awaited
	after   *message // to be shown with that answer; nil for none
	changes []uint64 // made in this screen and not undone, the last one last
	message
}

// message is what came of the last key, until the next one.
type message struct {
	text string
	bad  bool
}

func newModel(query string, s size, debounce time.Duration) *model {
	return &model{size: s, query: newLine(query), searching: searching{debounce: debounce}}
}

// start returns the effects before the first event.
func (m *model) start(now time.Time) []effect {
	m.due = now
	return m.update(tick{}, now)
}

// update takes an event, and returns what is to be done.
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
		return m.take(e)
	case entry:
		m.open(e)
	case outcome:
		return m.finish(e)
	}
	return nil
}

// ask searches for the query, unless it lacks something.
func (m *model) ask() []effect {
	m.lacks = unfinished(m.query.String())
	if m.lacks != "" {
		return nil
	}
	return m.searching.ask(m.query.String(), m.now)
}

// take takes an answer, unless a later search was made.
func (m *model) take(a answer) []effect {
	query := m.asked
	if !m.answered(a.n) {
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
		m.list.set(f, m.list.of == query)
		m.list.of = query
	}
	if m.again {
		return m.searching.ask(query, m.now)
	}
	return nil
}

// open shows a whole entry.
func (m *model) open(e entry) {
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

// finish takes what came of a change. It is said once the list shows it: what is
// listed until then is not what there is.
func (m *model) finish(o outcome) []effect {
	m.after, m.list.wanted = &message{o.done.Text, o.done.Failed}, o.done.Name
	switch {
	case o.done.Failed:
	case o.undoes:
		m.changes = m.changes[:len(m.changes)-1]
	case o.done.Change != 0:
		m.changes = append(m.changes, o.done.Change)
	}
	effects := m.searching.ask(m.asked, m.now)
	if m.mode == reading {
		effects = append(effects, get{m.pager.hit})
	}
	return effects
}
