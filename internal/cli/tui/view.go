// This file lays out the rows of the screen.

package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// frame is the screen content: rows (safe text with package screen's colours) and, if visible,
// the cursor.
type frame struct {
	rows        []string
	cursor      bool
	column, row int
}

// widest is the maximum width of a text in columns, because longer rows are hard to read.
const widest = 120

// mostNamed is the maximum width in columns of a name with text beside it.
const mostNamed = 48

// mostListed is the list's maximum number of rows.
const mostListed = 15

// wide is the minimum screen width, in columns, for a preview to the right of the list.
const wide = 120

// layout returns whether there is room for the state row, and the numbers of rows for the list
// and for the preview. On a wide screen these are the same rows.
func (m *model) layout() (state bool, listed, previewed int) {
	rest := m.height - 2
	state = rest > 1
	if state {
		rest--
	}
	if rest < 5 {
		return state, max(rest, 0), 0
	}
	if m.width >= wide {
		return state, rest, rest
	}
	rest-- // separator between list and preview
	listed = min((rest*2+4)/5, mostListed)
	return state, listed, rest - listed
}

// view returns the current frame.
func (m *model) view() frame {
	var f frame
	if m.isIn(reading) {
		f.rows = m.readRows()
	} else {
		const prompt = "> "
		query, column := m.query.show(max(m.width-len(prompt), 1))
		f.cursor, f.column = m.mode == typing, min(len(prompt)+column, m.width-1)
		f.rows = append([]string{paint(m.style(typing), prompt) + query}, m.foundRows()...)
	}
	for len(f.rows) < m.height-1 {
		f.rows = append(f.rows, "")
	}
	foot := m.footRows()
	f.rows = append(f.rows[:max(min(len(f.rows), m.height-len(foot)), 0)], foot...)
	f.rows = f.rows[:min(len(f.rows), m.height)]
	return f
}

// style returns the style of an element that has the focus in the given mode.
func (m *model) style(has mode) string {
	if m.isIn(has) {
		return termtext.Bold
	}
	return termtext.Dim
}

// isIn reports whether the screen is in a mode, or asks a question that interrupted this mode.
func (m *model) isIn(wanted mode) bool {
	return m.mode == wanted || (m.mode == doubting && m.doubts == wanted)
}

// foundRows returns the rows between the query and the footer.
func (m *model) foundRows() (rows []string) {
	state, listed, previewed := m.layout()
	if state {
		rows = append(rows, paint(termtext.Dim, termtext.Fit(safe(m.state()), m.width)))
	}
	hits, chosen := m.list.visibleHits(listed)
	if len(hits) == 0 {
		return append(rows, m.reasonRows()...)
	}
	listWidth := m.width
	if m.width >= wide {
		listWidth = m.width * 2 / 5
	}
	list := make([]string, listed)
	for i, h := range hits {
		list[i] = m.hitRow(h, i == chosen, listWidth)
	}
	h, ok := m.list.hit()
	switch {
	case !ok || previewed == 0:
		return append(rows, list...)
	case m.width >= wide:
		return append(rows, joinColumns(list, listWidth, m.previewAtRight(h, m.width-listWidth-3, previewed))...)
	}
	title := termtext.Fit("── "+safe(h.Meta)+" ", m.width)
	title += strings.Repeat("─", max(m.width-termtext.CountColumns(title), 0))
	rows = append(append(rows, list...), paint(termtext.Dim, title))
	return append(rows, preview(h, min(m.width, widest), previewed)...)
}

// previewAtRight returns the rows of a preview beside the list. The first row identifies the
// hit.
func (m *model) previewAtRight(h Hit, width, n int) []string {
	title := paint(termtext.Dim, termtext.Fit(safe(h.Meta), width))
	return append([]string{title}, preview(h, min(width, widest), n-1)...)
}

// joinColumns returns rows with a column of some width, a line, and another column.
func joinColumns(left []string, width int, right []string) []string {
	rows := make([]string, len(left))
	for i, l := range left {
		rows[i] = termtext.Pad(l, width) + paint(termtext.Dim, " │ ")
		if i < len(right) {
			rows[i] += right[i]
		}
	}
	return rows
}

// state returns the state row's text, such as the number of hits.
func (m *model) state() string {
	count := text.Count(len(m.list.Hits), "entry", "entries")
	switch {
	case len(m.list.Hits) == 0:
		count = "nothing found"
	case m.list.of == "" && len(m.list.Hits) > 0:
		count += ", newest first"
	case m.list.More:
		count = fmt.Sprintf("the best %d entries", len(m.list.Hits))
	}
	parts := []string{count}
	switch {
	case m.slow(m.now):
		parts[0] = "searching…"
	case m.lacks != "" && !m.list.is:
		parts[0] = m.lacks
	case m.lacks != "":
		parts = []string{m.lacks, "as before"}
	case !m.list.is:
		return ""
	case len(m.list.Hits) > 0:
		parts = append(parts, m.list.Notes...)
	}
	return strings.Join(parts, " · ")
}

// reasonRows returns rows that explain why nothing was found.
func (m *model) reasonRows() (rows []string) {
	for _, w := range slices.Concat(m.list.Why, m.list.Notes) {
		for i, row := range termtext.Break(safe(w), max(m.width-2, 1)) {
			rows = append(rows, termtext.Fit(strings.Repeat(" ", 2*min(i, 1))+row, m.width))
		}
	}
	return rows
}

// hitRow returns a hit's row for a number of columns: the name, and as much text as fits beside
// the name.
func (m *model) hitRow(h Hit, chosen bool, width int) string {
	pointer, style := " ", ""
	if chosen {
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
		named = min(room*2/5, mostNamed)
	}
	name := termtext.Fit(safe(h.Name), named)
	row := paint(m.style(choosing), pointer) + termtext.Mark(name, h.Words, style)
	if gap := named - termtext.CountColumns(name) + 2; room-named > gap {
		row += strings.Repeat(" ", gap) + paint(
			termtext.Dim,
			termtext.Fit(oneLine(text.Snippet(h.Text, h.Words, room-named)), room-named-2),
		)
	}
	return row
}

// preview returns the part of a hit's text that contains the query words, in at most n rows.
func preview(h Hit, width, n int) []string {
	part := h.Text
	if most := 4 * n * width; len(part) > most {
		part = text.Excerpt(part, h.Words, most)
	}
	var rows []string
	if h.Warning != "" {
		rows = append(rows, paint(termtext.Red, termtext.Fit(safe(h.Warning), width)))
		n--
	}
	all := termtext.Break(termtext.Clean(strings.TrimRight(part, "\n")), width)
	first := slices.IndexFunc(all, func(row string) bool { return len(termtext.FindWords(row, h.Words)) > 0 })
	if first < n {
		first = 1
	}
	first = max(min(first-1, len(all)-n), 0)
	for _, row := range all[first:min(first+n, len(all))] {
		rows = append(rows, termtext.Mark(termtext.Fit(row, width), h.Words, "")) // cut a row with one wide character
	}
	return rows
}

// readRows returns the rows of a whole entry.
func (m *model) readRows() []string {
	m.pager.wrap(min(m.width, widest), max(m.height-3, 1))
	rows, where := m.pager.view()
	head := []string{
		termtext.Mark(termtext.Fit(safe(m.pager.hit.Name), m.width), m.pager.hit.Words, termtext.Bold),
		paint(termtext.Dim, termtext.Fit(where, m.width)),
	}
	return append(head, rows...)
}

// footRows returns the footer: the result of the last key if there is one, and otherwise the help
// on keys.
func (m *model) footRows() []string {
	switch {
	case m.mode == doubting:
		return []string{m.forgetQuestion()}
	case m.text != "":
		code := termtext.Bold
		if m.bad {
			code = termtext.Red
		}
		var rows []string
		for line := range strings.SplitSeq(m.text, "\n") {
			for _, row := range termtext.Break(safe(line), m.width) {
				rows = append(rows, paint(code, row))
			}
		}
		return rows[:min(len(rows), max(m.height-1, 1))]
	}
	foot := feet[m.mode]
	if m.mode == typing && len(m.list.Hits) == 0 {
		foot = []string{"Ctrl-U empties the query · Esc quits", "Esc quits"}
	} else if m.mode == choosing && len(m.list.Hits) == 0 {
		foot = []string{"u undo · Tab back to the query · Esc quits", "u undo · Tab · Esc"}
	}
	i := slices.IndexFunc(foot, func(s string) bool { return termtext.CountColumns(s) <= m.width })
	if i < 0 {
		return []string{paint(termtext.Dim, termtext.Fit(foot[len(foot)-1], m.width))}
	}
	return []string{paint(termtext.Dim, foot[i])}
}

// feet contains the help on keys for each mode, longest version first.
var feet = map[mode][]string{
	typing: {
		"Tab or ↓ list · Enter prints it · Ctrl-O shows all · Ctrl-Y copies · Esc quits",
		"Tab list · Enter prints · Esc quits", "Tab list · Esc quits"},
	choosing: {
		"e edit · d forget · u undo · Enter prints it · Ctrl-O shows all · Tab · Esc",
		"e edit · d forget · u undo · Tab · Esc", "e d u · Tab · Esc"},
	reading: {
		"↑ ↓ PgUp PgDn scroll · e edit · d forget · u undo · Enter prints · Esc goes back",
		"↑↓ · e edit · d forget · u undo · Esc", "↑↓ · e d u · Esc"},
}

// forgetQuestion returns the row that asks whether to forget an entry.
func (m *model) forgetQuestion() string {
	rest := "? y forgets it, any other key keeps it"
	if m.victim.Final {
		rest = " for good? y forgets it, any other key keeps it"
	}
	if m.width < 60 {
		rest = strings.NewReplacer(" forgets it, any other key keeps it", " yes, else no").Replace(rest)
	}
	head := "Forget "
	name := termtext.Fit(safe(m.victim.Name), max(m.width-len(head)-len(rest), 1))
	return paint(termtext.Bold, termtext.Fit(head+name+rest, m.width))
}
