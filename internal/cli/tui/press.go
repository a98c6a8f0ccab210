// This file decides what each key does.

package tui

// handleKey does what a key means in the current mode, and returns the effects.
func (m *model) handleKey(k key) []effect {
	switch k {
	case key{keyCtrl, "c"}:
		return []effect{quitEffect{}}
	case key{keyCtrl, "z"}:
		return []effect{suspendEffect{}}
	case key{keyCtrl, "l"}:
		return []effect{redrawEffect{}}
	}
	switch m.mode {
	case modeChoosing:
		return m.handleChoosingKey(k)
	case modeReading:
		return m.handleReadingKey(k)
	case modeConfirmForget:
		return m.handleForgetReply(k)
	}
	return m.handleTypingKey(k)
}

// handleTypingKey handles a key while the query is edited (modeTyping).
func (m *model) handleTypingKey(k key) []effect {
	switch {
	case k.code == keyTab, k.code == keyArrowDown:
		if len(m.list.Hits)+len(m.undoableChanges) > 0 {
			m.mode = modeChoosing
		}
	case k == key{keyCtrl, "n"}:
		m.list.moveChoice(1)
	case k == key{keyCtrl, "p"}, k.code == keyArrowUp:
		m.list.moveChoice(-1)
	default:
		if !m.query.applyKey(k) {
			return m.handleCommonKey(k)
		}
	}
	return nil
}

// handleChoosingKey handles a key while an entry of the list is chosen (modeChoosing).
func (m *model) handleChoosingKey(k key) []effect {
	switch {
	case k.code == keyTab, k == key{keyText, "/"}, k.code == keyBackspace:
		m.mode = modeTyping
	case k.code == keyArrowDown, k == key{keyCtrl, "n"}, k == key{keyText, "j"}:
		m.list.moveChoice(1)
	case k == key{keyCtrl, "p"}, k == key{keyText, "k"}:
		m.list.moveChoice(-1)
	case k.code == keyArrowUp:
		if !m.list.moveChoice(-1) {
			m.mode = modeTyping
		}
	case k.code == keyHome:
		m.list.moveChoice(-len(m.list.Hits))
	case k.code == keyEnd:
		m.list.moveChoice(len(m.list.Hits))
	case k.code == keyText:
		if h, ok := m.list.chosenHit(); ok {
			return m.handleChangeKey(k, &h)
		}
		return m.handleChangeKey(k, nil)
	default:
		return m.handleCommonKey(k)
	}
	return nil
}

// handleCommonKey handles a key that has the same meaning in modeTyping and in modeChoosing.
func (m *model) handleCommonKey(k key) []effect {
	_, page, _ := m.layoutRows()
	h, ok := m.list.chosenHit()
	switch k.code {
	case keyCtrl:
		if ok {
			return m.handleShowOrCopyKey(k, h)
		}
	case keyEscape:
		return []effect{quitEffect{}}
	case keyPageDown:
		m.list.moveChoice(page)
	case keyPageUp:
		m.list.moveChoice(-page)
	case keyEnter:
		if ok {
			return []effect{chooseEffect{h}}
		}
	}
	return nil
}

// handleShowOrCopyKey handles a key that shows the whole entry h or copies its text.
func (m *model) handleShowOrCopyKey(k key, h Hit) []effect {
	switch {
	case k.text == "o":
		return []effect{getEffect{h}}
	case k.text == "y":
		m.message = message{text: "copied " + h.Name + ", if the terminal allows it"}
		return []effect{copyEffect{h}}
	}
	return nil
}

// handleReadingKey handles a key while a whole entry is shown (modeReading).
func (m *model) handleReadingKey(k key) []effect {
	page := max(m.pager.height-1, 1)
	switch {
	case k.code == keyEnter:
		return []effect{chooseEffect{m.pager.hit}}
	case k.code == keyEscape, k == key{keyText, "q"}, k == key{keyCtrl, "o"}:
		m.mode = m.modeBeforeReading
	case k.code == keyArrowDown, k == key{keyCtrl, "n"}, k == key{keyText, "j"}:
		m.pager.scroll(1)
	case k.code == keyArrowUp, k == key{keyCtrl, "p"}, k == key{keyText, "k"}:
		m.pager.scroll(-1)
	case k.code == keyPageDown, k == key{keyText, " "}:
		m.pager.scroll(page)
	case k.code == keyPageUp:
		m.pager.scroll(-page)
	case k.code == keyHome:
		m.pager.scroll(-len(m.pager.rows))
	case k.code == keyEnd:
		m.pager.scroll(len(m.pager.rows))
	case k.code == keyCtrl:
		return m.handleShowOrCopyKey(k, m.pager.hit)
	case k.code == keyText:
		return m.handleChangeKey(k, &m.pager.hit)
	}
	return nil
}

// handleChangeKey handles a key that changes the entry h, or undoes the last change. h is nil if no entry is chosen.
func (m *model) handleChangeKey(k key, h *Hit) []effect {
	switch {
	case m.isBusy:
	case k.text == "u" && len(m.undoableChanges) == 0:
		m.message = message{text: "nothing to undo: nothing was changed in this screen"}
	case k.text == "u":
		m.beginChange()
		return []effect{undoEffect{m.undoableChanges[len(m.undoableChanges)-1]}}
	case k.text != "e" && k.text != "d":
		m.message = message{text: "Tab goes back to the query"}
		if m.mode == modeReading {
			m.text = "Esc goes back"
		}
	case h == nil:
	case h.Fixed != "":
		m.message = message{h.Fixed, true}
	case k.text == "e":
		m.beginChange()
		return []effect{editEffect{*h}}
	default:
		m.entryToForget, m.mode, m.modeBeforeConfirm = *h, modeConfirmForget, m.mode
	}
	return nil
}

// handleForgetReply handles the key with which the person answers whether to forget an entry.
func (m *model) handleForgetReply(k key) []effect {
	m.mode = m.modeBeforeConfirm
	if k != (key{keyText, "y"}) {
		m.message = message{text: "kept"}
		return nil
	}
	if m.mode == modeReading {
		m.mode = m.modeBeforeReading
	}
	m.beginChange()
	return []effect{forgetEffect{m.entryToForget}}
}

// beginChange records that a change is running, and ignores the running search. The query is run again after the
// change.
func (m *model) beginChange() {
	m.isBusy = true
	m.ignoreRunningSearch()
}
