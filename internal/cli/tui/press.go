// This file determines what happens when a person presses a key.

package tui

// handleKey executes the action that a key has in the current mode, and returns the effects.
func (m *model) handleKey(k keyPress) []modelEffect {
	switch k {
	case keyPress{keyCtrl, "c"}:
		return []modelEffect{quitEffect{}}
	case keyPress{keyCtrl, "z"}:
		return []modelEffect{suspendProcessEffect{}}
	case keyPress{keyCtrl, "l"}:
		return []modelEffect{redrawEffect{}}
	}
	switch m.mode {
	case modeChoosingEntry:
		return m.handleListKey(k)
	case modeReading:
		return m.handleReadingKey(k)
	case modeConfirmingForget:
		return m.handleForgetReply(k)
	}
	return m.handleTypingKey(k)
}

// handleTypingKey handles a key while the query is edited (modeTyping).
func (m *model) handleTypingKey(k keyPress) []modelEffect {
	switch {
	case k.code == keyTab, k.code == keyArrowDown:
		if len(m.list.Hits)+len(m.undoableChanges) > 0 {
			m.mode = modeChoosingEntry
		}
	case k == keyPress{keyCtrl, "n"}:
		m.list.moveSelection(1)
	case k == keyPress{keyCtrl, "p"}, k.code == keyArrowUp:
		m.list.moveSelection(-1)
	default:
		if !m.query.applyKey(k) {
			return m.handleCommonKey(k)
		}
	}
	return nil
}

// handleListKey handles a key while an entry of the list is chosen (modeChoosingEntry).
func (m *model) handleListKey(k keyPress) []modelEffect {
	switch {
	case k.code == keyTab, k == keyPress{keyText, "/"}, k.code == keyBackspace:
		m.mode = modeTyping
	case k.code == keyArrowDown, k == keyPress{keyCtrl, "n"}, k == keyPress{keyText, "j"}:
		m.list.moveSelection(1)
	case k == keyPress{keyCtrl, "p"}, k == keyPress{keyText, "k"}:
		m.list.moveSelection(-1)
	case k.code == keyArrowUp:
		if !m.list.moveSelection(-1) {
			m.mode = modeTyping
		}
	case k.code == keyHome:
		m.list.moveSelection(-len(m.list.Hits))
	case k.code == keyEnd:
		m.list.moveSelection(len(m.list.Hits))
	case k.code == keyText:
		if h, ok := m.list.chosenHit(); ok {
			return m.handleEntryChangeKey(k, &h)
		}
		return m.handleEntryChangeKey(k, nil)
	default:
		return m.handleCommonKey(k)
	}
	return nil
}

// handleCommonKey handles a key that has the same meaning in modeTyping and in modeChoosingEntry.
func (m *model) handleCommonKey(k keyPress) []modelEffect {
	_, page, _ := m.divideScreenRows()
	h, ok := m.list.chosenHit()
	switch k.code {
	case keyCtrl:
		if ok {
			return m.handleShowOrCopyKey(k, h)
		}
	case keyEscape:
		return []modelEffect{quitEffect{}}
	case keyPageDown:
		m.list.moveSelection(page)
	case keyPageUp:
		m.list.moveSelection(-page)
	case keyEnter:
		if ok {
			return []modelEffect{chooseEntryEffect{h}}
		}
	}
	return nil
}

// handleShowOrCopyKey handles a key that shows the whole entry h or copies its text.
func (m *model) handleShowOrCopyKey(k keyPress, h Hit) []modelEffect {
	switch {
	case k.text == "o":
		return []modelEffect{loadEntryEffect{h}}
	case k.text == "y":
		m.statusMessage = statusMessage{text: "copied " + h.Name + ", if the terminal allows it"}
		return []modelEffect{copyTextEffect{h}}
	}
	return nil
}

// handleReadingKey handles a key while a whole entry is shown (modeReading).
func (m *model) handleReadingKey(k keyPress) []modelEffect {
	page := max(m.pager.height-1, 1)
	switch {
	case k.code == keyEnter:
		return []modelEffect{chooseEntryEffect{m.pager.hit}}
	case k.code == keyEscape, k == keyPress{keyText, "q"}, k == keyPress{keyCtrl, "o"}:
		m.mode = m.modeBeforeReading
	case k.code == keyArrowDown, k == keyPress{keyCtrl, "n"}, k == keyPress{keyText, "j"}:
		m.pager.scroll(1)
	case k.code == keyArrowUp, k == keyPress{keyCtrl, "p"}, k == keyPress{keyText, "k"}:
		m.pager.scroll(-1)
	case k.code == keyPageDown, k == keyPress{keyText, " "}:
		m.pager.scroll(page)
	case k.code == keyPageUp:
		m.pager.scroll(-page)
	case k.code == keyHome:
		m.pager.scroll(-len(m.pager.textRows))
	case k.code == keyEnd:
		m.pager.scroll(len(m.pager.textRows))
	case k.code == keyCtrl:
		return m.handleShowOrCopyKey(k, m.pager.hit)
	case k.code == keyText:
		return m.handleEntryChangeKey(k, &m.pager.hit)
	}
	return nil
}

// handleEntryChangeKey handles a key that changes the entry h, or undoes the last change. h is nil if no entry is
// chosen.
func (m *model) handleEntryChangeKey(k keyPress, h *Hit) []modelEffect {
	switch {
	case m.isChangeRunning:
	case k.text == "u" && len(m.undoableChanges) == 0:
		m.statusMessage = statusMessage{text: "nothing to undo: nothing was changed in this screen"}
	case k.text == "u":
		m.markChangeRunning()
		return []modelEffect{undoChangeEffect{m.undoableChanges[len(m.undoableChanges)-1]}}
	case k.text != "e" && k.text != "d":
		m.statusMessage = statusMessage{text: "Tab goes back to the query"}
		if m.mode == modeReading {
			m.text = "Esc goes back"
		}
	case h == nil:
	case h.ReadOnlyReason != "":
		m.statusMessage = statusMessage{h.ReadOnlyReason, true}
	case k.text == "e":
		m.markChangeRunning()
		return []modelEffect{editEntryEffect{*h}}
	default:
		m.entryToForget, m.mode, m.modeBeforeConfirm = *h, modeConfirmingForget, m.mode
	}
	return nil
}

// handleForgetReply handles the key with which the person answers whether to forget an entry.
func (m *model) handleForgetReply(k keyPress) []modelEffect {
	m.mode = m.modeBeforeConfirm
	if k != (keyPress{keyText, "y"}) {
		m.statusMessage = statusMessage{text: "kept"}
		return nil
	}
	if m.mode == modeReading {
		m.mode = m.modeBeforeReading
	}
	m.markChangeRunning()
	return []modelEffect{forgetEntryEffect{m.entryToForget}}
}

// markChangeRunning records that a change is running, and ignores the running search. The query is run again after the
// change.
func (m *model) markChangeRunning() {
	m.isChangeRunning = true
	m.ignoreRunningSearch()
}
