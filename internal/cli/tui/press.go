// This file handles keys.

package tui

// press handles a key.
func (m *model) press(k key) []effect {
	switch k {
	case key{ctrl, "c"}:
		return []effect{quit{}}
	case key{ctrl, "z"}:
		return []effect{suspend{}}
	case key{ctrl, "l"}:
		return []effect{redraw{}}
	}
	switch m.mode {
	case choosing:
		return m.pressChoosing(k)
	case reading:
		return m.pressReading(k)
	case doubting:
		return m.decide(k)
	}
	return m.pressTyping(k)
}

// pressTyping handles a key in mode typing.
func (m *model) pressTyping(k key) []effect {
	switch {
	case k.code == tab, k.code == down:
		if len(m.list.Hits)+len(m.changes) > 0 {
			m.mode = choosing
		}
	case k == key{ctrl, "n"}:
		m.list.move(1)
	case k == key{ctrl, "p"}, k.code == up:
		m.list.move(-1)
	default:
		if !m.query.press(k) {
			return m.either(k)
		}
	}
	return nil
}

// pressChoosing handles a key in mode choosing.
func (m *model) pressChoosing(k key) []effect {
	switch {
	case k.code == tab, k == key{typed, "/"}, k.code == backspace:
		m.mode = typing
	case k.code == down, k == key{ctrl, "n"}, k == key{typed, "j"}:
		m.list.move(1)
	case k == key{ctrl, "p"}, k == key{typed, "k"}:
		m.list.move(-1)
	case k.code == up:
		if !m.list.move(-1) {
			m.mode = typing
		}
	case k.code == home:
		m.list.move(-len(m.list.Hits))
	case k.code == end:
		m.list.move(len(m.list.Hits))
	case k.code == typed:
		if h, ok := m.list.hit(); ok {
			return m.act(k, &h)
		}
		return m.act(k, nil)
	default:
		return m.either(k)
	}
	return nil
}

// either handles a key that has the same meaning in the query and in the list.
func (m *model) either(k key) []effect {
	_, page, _ := m.layout()
	h, ok := m.list.hit()
	switch k.code {
	case ctrl:
		if ok {
			return m.pressShowOrCopy(k, h)
		}
	case escape:
		return []effect{quit{}}
	case pageDown:
		m.list.move(page)
	case pageUp:
		m.list.move(-page)
	case enter:
		if ok {
			return []effect{choice{h}}
		}
	}
	return nil
}

// pressShowOrCopy handles a key that shows or copies an entry.
func (m *model) pressShowOrCopy(k key, h Hit) []effect {
	switch {
	case k.text == "o":
		return []effect{get{h}}
	case k.text == "y":
		m.message = message{text: "copied " + h.Name + ", if the terminal allows it"}
		return []effect{clip{h}}
	}
	return nil
}

// pressReading handles a key in mode reading.
func (m *model) pressReading(k key) []effect {
	page := max(m.pager.height-1, 1)
	switch {
	case k.code == enter:
		return []effect{choice{m.pager.hit}}
	case k.code == escape, k == key{typed, "q"}, k == key{ctrl, "o"}:
		m.mode = m.was
	case k.code == down, k == key{ctrl, "n"}, k == key{typed, "j"}:
		m.pager.scroll(1)
	case k.code == up, k == key{ctrl, "p"}, k == key{typed, "k"}:
		m.pager.scroll(-1)
	case k.code == pageDown, k == key{typed, " "}:
		m.pager.scroll(page)
	case k.code == pageUp:
		m.pager.scroll(-page)
	case k.code == home:
		m.pager.scroll(-len(m.pager.rows))
	case k.code == end:
		m.pager.scroll(len(m.pager.rows))
	case k.code == ctrl:
		return m.pressShowOrCopy(k, m.pager.hit)
	case k.code == typed:
		return m.act(k, &m.pager.hit)
	}
	return nil
}

// act handles a key that changes an entry or undoes a change. The hit is nil if there is no entry.
func (m *model) act(k key, h *Hit) []effect {
	switch {
	case m.busy:
	case k.text == "u" && len(m.changes) == 0:
		m.message = message{text: "nothing to undo: nothing was changed in this screen"}
	case k.text == "u":
		m.beginChange()
		return []effect{undo{m.changes[len(m.changes)-1]}}
	case k.text != "e" && k.text != "d":
		m.message = message{text: "Tab goes back to the query"}
		if m.mode == reading {
			m.text = "Esc goes back"
		}
	case h == nil:
	case h.Fixed != "":
		m.message = message{h.Fixed, true}
	case k.text == "e":
		m.beginChange()
		return []effect{edit{*h}}
	default:
		m.victim, m.mode, m.doubts = *h, doubting, m.mode
	}
	return nil
}

// decide handles the answer to the question whether to forget an entry.
func (m *model) decide(k key) []effect {
	m.mode = m.doubts
	if k != (key{typed, "y"}) {
		m.message = message{text: "kept"}
		return nil
	}
	if m.mode == reading {
		m.mode = m.was
	}
	m.beginChange()
	return []effect{forget{m.victim}}
}

// beginChange marks a change as running and drops the running search. The query is run again after the
// change.
func (m *model) beginChange() {
	m.busy = true
	m.ignoreRunning()
}
