// This file arranges the contents of the screen in rows.

package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// frame is the content of the screen. The rows are safe to show and contain escape sequences for colours. If hasCursor
// is set, the cursor is at cursorColumn and cursorRow.
type frame struct {
	rows                    []string
	hasCursor               bool
	cursorColumn, cursorRow int
}

// maxTextWidth is the maximum width of an entry's text in columns. Longer rows are hard to read.
const maxTextWidth = 120

// maxNameWidth is the maximum width, in columns, of a name that is followed by text in the same row.
const maxNameWidth = 48

// maxListRows is the maximum number of rows for the list of found entries.
const maxListRows = 15

// minPreviewWidth is the minimum screen width, in columns, for which the preview is to the right of the list.
const minPreviewWidth = 120

// divideScreenRows divides the screen's rows. hasStateRow reports whether there is room for a row with the state.
// listRowCount and previewRowCount are the numbers of rows for the list and for the preview. On a wide screen, list and
// preview are side by side in the same rows.
func (m *model) divideScreenRows() (hasStateRow bool, listRowCount, previewRowCount int) {
	rest := m.height - 2
	hasStateRow = rest > 1
	if hasStateRow {
		rest--
	}
	if rest < 5 {
		return hasStateRow, max(rest, 0), 0
	}
	if m.width >= minPreviewWidth {
		return hasStateRow, rest, rest
	}
	rest-- // One row of the screen separates the list of entries from the preview.
	listRowCount = min((rest*2+4)/5, maxListRows)
	return hasStateRow, listRowCount, rest - listRowCount
}

// render returns the frame for the current state.
func (m *model) render() frame {
	var f frame
	if m.isInMode(modeReading) {
		f.rows = m.entryRows()
	} else {
		const prompt = "> "
		query, column := m.query.visiblePart(max(m.width-len(prompt), 1))
		f.hasCursor, f.cursorColumn = m.mode == modeTyping, min(len(prompt)+column, m.width-1)
		f.rows = append([]string{styleText(m.focusStyle(modeTyping), prompt) + query}, m.bodyRows()...)
	}
	for len(f.rows) < m.height-1 {
		f.rows = append(f.rows, "")
	}
	foot := m.footerRows()
	f.rows = append(f.rows[:max(min(len(f.rows), m.height-len(foot)), 0)], foot...)
	f.rows = f.rows[:min(len(f.rows), m.height)]
	return f
}

// focusStyle returns the text style for a screen element that has the focus in focusMode: bold if the screen is in
// this mode, otherwise dim.
func (m *model) focusStyle(focusMode screenMode) string {
	if m.isInMode(focusMode) {
		return termtext.Bold
	}
	return termtext.Dim
}

// isInMode reports whether the screen is in the wanted mode. It is also true while the screen asks a question, if the
// screen was in the wanted mode before the question.
func (m *model) isInMode(wantedMode screenMode) bool {
	return m.mode == wantedMode || (m.mode == modeConfirmingForget && m.modeBeforeConfirm == wantedMode)
}

// bodyRows returns the rows between the query and the footer: the state, the list and the preview.
func (m *model) bodyRows() (rows []string) {
	state, listed, previewed := m.divideScreenRows()
	if state {
		rows = append(rows, styleText(termtext.Dim, termtext.ShortenToColumns(escapeLine(m.stateRowText()), m.width)))
	}
	hits, chosen := m.list.visibleHits(listed)
	if len(hits) == 0 {
		return append(rows, m.noHitReasonRows()...)
	}
	listWidth := m.width
	if m.width >= minPreviewWidth {
		listWidth = m.width * 2 / 5
	}
	list := make([]string, listed)
	for i, h := range hits {
		list[i] = m.hitRow(h, i == chosen, listWidth)
	}
	h, ok := m.list.chosenHit()
	switch {
	case !ok || previewed == 0:
		return append(rows, list...)
	case m.width >= minPreviewWidth:
		return append(rows, joinColumns(list, listWidth, m.sidePreviewRows(h, m.width-listWidth-3, previewed))...)
	}
	title := termtext.ShortenToColumns("── "+escapeLine(h.MetadataText)+" ", m.width)
	title += strings.Repeat("─", max(m.width-termtext.CountColumns(title), 0))
	rows = append(append(rows, list...), styleText(termtext.Dim, title))
	return append(rows, previewRows(h, min(m.width, maxTextWidth), previewed)...)
}

// sidePreviewRows returns rowCount preview rows to the right of the list. The first row identifies the hit.
func (m *model) sidePreviewRows(h Hit, width, rowCount int) []string {
	title := styleText(termtext.Dim, termtext.ShortenToColumns(escapeLine(h.MetadataText), width))
	return append([]string{title}, previewRows(h, min(width, maxTextWidth), rowCount-1)...)
}

// joinColumns puts two columns side by side, with a vertical line between them. The left column gets the given width.
func joinColumns(left []string, width int, right []string) []string {
	rows := make([]string, len(left))
	for i, l := range left {
		rows[i] = termtext.PadToColumns(l, width) + styleText(termtext.Dim, " │ ")
		if i < len(right) {
			rows[i] += right[i]
		}
	}
	return rows
}

// stateRowText returns the text of the state row, such as the hit count.
func (m *model) stateRowText() string {
	count := text.FormatCount(len(m.list.Hits), "entry", "entries")
	switch {
	case len(m.list.Hits) == 0:
		count = "nothing found"
	case m.list.answeredQuery == "" && len(m.list.Hits) > 0:
		count += ", newest first"
	case m.list.HasMore:
		count = fmt.Sprintf("the best %d entries", len(m.list.Hits))
	}
	parts := []string{count}
	switch {
	case m.isSlow(m.now):
		parts[0] = "searching…"
	case m.incompleteQueryReason != "" && !m.list.hasSearchAnswer:
		parts[0] = m.incompleteQueryReason
	case m.incompleteQueryReason != "":
		parts = []string{m.incompleteQueryReason, "as before"}
	case !m.list.hasSearchAnswer:
		return ""
	case len(m.list.Hits) > 0:
		parts = append(parts, m.list.Notes...)
	}
	return strings.Join(parts, " · ")
}

// noHitReasonRows returns rows that explain why nothing was found.
func (m *model) noHitReasonRows() (rows []string) {
	for _, w := range slices.Concat(m.list.NoHitReasons, m.list.Notes) {
		for i, row := range termtext.WrapBreakingWords(escapeLine(w), max(m.width-2, 1)) {
			rows = append(rows, termtext.ShortenToColumns(strings.Repeat(" ", 2*min(i, 1))+row, m.width))
		}
	}
	return rows
}

// hitRow returns a hit's row in the list: the name, and as much of the text as fits beside the name into width
// columns.
func (m *model) hitRow(h Hit, isChosen bool, width int) string {
	pointer, style := " ", ""
	if isChosen {
		pointer, style = "▸", termtext.Bold
	}
	if h.Warning != "" {
		pointer += "!"
	} else {
		pointer += " "
	}
	room := width - 2
	named := room
	if width >= 60 {
		named = min(room*2/5, maxNameWidth)
	}
	name := termtext.ShortenToColumns(escapeLine(h.Name), named)
	row := styleText(m.focusStyle(modeChoosingEntry), pointer) + termtext.HighlightWords(name, h.Words, style)
	if gap := named - termtext.CountColumns(name) + 2; room-named > gap {
		row += strings.Repeat(" ", gap) + styleText(
			termtext.Dim,
			termtext.ShortenToColumns(joinLines(text.Snippet(h.Text, h.Words, room-named)), room-named-2),
		)
	}
	return row
}

// previewRows returns at most maxRows rows with a part of the hit's text. If the text contains query words, the part
// begins near the first query word. If the hit has a warning, the warning is the first of these rows.
func previewRows(h Hit, width, maxRows int) []string {
	part := h.Text
	if most := 4 * maxRows * width; len(part) > most {
		part = text.Excerpt(part, h.Words, most)
	}
	var rows []string
	if h.Warning != "" {
		rows = append(rows, styleText(termtext.Red, termtext.ShortenToColumns(escapeLine(h.Warning), width)))
		maxRows--
	}
	all := termtext.WrapBreakingWords(termtext.EscapeHarmfulRunes(strings.TrimRight(part, "\n")), width)
	first := slices.IndexFunc(all, func(row string) bool { return len(termtext.FindWords(row, h.Words)) > 0 })
	if first < maxRows {
		first = 1
	}
	first = max(min(first-1, len(all)-maxRows), 0)
	for _, row := range all[first:min(first+maxRows, len(all))] {
		rows = append(
			rows,
			termtext.HighlightWords(termtext.ShortenToColumns(row, width), h.Words, ""),
		) // Cut the row, because it may contain one character that is wider than the screen.
	}
	return rows
}

// entryRows returns the rows of the screen that show a whole entry.
func (m *model) entryRows() []string {
	m.pager.layOut(min(m.width, maxTextWidth), max(m.height-3, 1))
	rows, where := m.pager.visibleRows()
	head := []string{
		termtext.HighlightWords(
			termtext.ShortenToColumns(escapeLine(m.pager.hit.Name), m.width),
			m.pager.hit.Words,
			termtext.Bold,
		),
		styleText(termtext.Dim, termtext.ShortenToColumns(where, m.width)),
	}
	return append(head, rows...)
}

// footerRows returns the last rows of the screen. While the person confirms that an entry is to be forgotten, these
// rows show the question. Otherwise they show the result or error of the last key, if there is one, and else a help
// text on keys that fits the screen's width.
func (m *model) footerRows() []string {
	switch {
	case m.mode == modeConfirmingForget:
		return []string{m.forgetQuestionRow()}
	case m.text != "":
		code := termtext.Bold
		if m.isError {
			code = termtext.Red
		}
		var rows []string
		for line := range strings.SplitSeq(m.text, "\n") {
			for _, row := range termtext.WrapBreakingWords(escapeLine(line), m.width) {
				rows = append(rows, styleText(code, row))
			}
		}
		return rows[:min(len(rows), max(m.height-1, 1))]
	}
	foot := keyHelp[m.mode]
	if m.mode == modeTyping && len(m.list.Hits) == 0 {
		foot = []string{"Ctrl-U empties the query · Esc quits", "Esc quits"}
	} else if m.mode == modeChoosingEntry && len(m.list.Hits) == 0 {
		foot = []string{"u undo · Tab back to the query · Esc quits", "u undo · Tab · Esc"}
	}
	i := slices.IndexFunc(foot, func(s string) bool { return termtext.CountColumns(s) <= m.width })
	if i < 0 {
		return []string{styleText(termtext.Dim, termtext.ShortenToColumns(foot[len(foot)-1], m.width))}
	}
	return []string{styleText(termtext.Dim, foot[i])}
}

// keyHelp contains the help on the keys of each mode, in several lengths, the longest first.
var keyHelp = map[screenMode][]string{
	modeTyping: {
		"Tab or ↓ list · Enter prints it · Ctrl-O shows all · Ctrl-Y copies · Esc quits",
		"Tab list · Enter prints · Esc quits", "Tab list · Esc quits"},
	modeChoosingEntry: {
		"e edit · d forget · u undo · Enter prints it · Ctrl-O shows all · Tab · Esc",
		"e edit · d forget · u undo · Tab · Esc", "e d u · Tab · Esc"},
	modeReading: {
		"↑ ↓ PgUp PgDn scroll · e edit · d forget · u undo · Enter prints · Esc goes back",
		"↑↓ · e edit · d forget · u undo · Esc", "↑↓ · e d u · Esc"},
}

// forgetQuestionRow returns the row that asks whether to forget an entry.
func (m *model) forgetQuestionRow() string {
	rest := "? y forgets it, any other key keeps it"
	if m.entryToForget.IsForgetFinal {
		rest = " for good? y forgets it, any other key keeps it"
	}
	if m.width < 60 {
		rest = strings.NewReplacer(" forgets it, any other key keeps it", " yes, else no").Replace(rest)
	}
	head := "Forget "
	name := termtext.ShortenToColumns(escapeLine(m.entryToForget.Name), max(m.width-len(head)-len(rest), 1))
	return styleText(termtext.Bold, termtext.ShortenToColumns(head+name+rest, m.width))
}
