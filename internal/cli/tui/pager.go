// This file implements the pager, which shows a whole entry in rows that scroll.

package tui

import (
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// entryPager shows the entry that a person reads.
type entryPager struct {
	hit      Hit
	details  EntryDetails
	textRows []string // all rows of the screen's text, divided to fit width, with the entry's text uncoloured
	// index of the first row that contains the entry's text (the rows before it show facts such as the name)
	firstTextRow    int
	width           int
	firstVisibleRow int // index of the first row on the screen
	height          int // number of rows on the screen
}

// layOut divides the entry into rows for a screen of the given size.
func (p *entryPager) layOut(width, height int) {
	p.height = height
	if p.width != width || p.textRows == nil {
		p.width, p.textRows = width, nil
		if p.hit.Warning != "" {
			for _, row := range termtext.WrapBreakingWords(escapeLine(p.hit.Warning), width) {
				p.textRows = append(p.textRows, styleText(termtext.Red, row))
			}
		}
		for _, f := range p.details.EntryProperties {
			named := min(factNameWidth, width/3)
			head := termtext.PadToColumns(termtext.ShortenToColumns(f.Name, max(named, 1)), named) + " "
			for _, row := range termtext.WrapBreakingWords(escapeLine(f.Value), max(width-named-1, 1)) {
				p.textRows = append(p.textRows, styleText(termtext.Dim, head)+row)
				head = strings.Repeat(" ", named+1)
			}
		}
		p.textRows = append(p.textRows, "")
		p.firstTextRow = len(p.textRows)
		p.textRows = append(
			p.textRows,
			termtext.WrapBreakingWords(termtext.EscapeHarmfulRunes(strings.TrimRight(p.details.Text, "\n")), width)...)
	}
	p.scroll(0)
}

// factNameWidth is the width, in columns, of the longest name of an entry property, which is shown in front of the
// property's value.
const factNameWidth = 8

// scroll moves the view down by the given number of rows, or up if it is negative.
func (p *entryPager) scroll(rowCount int) {
	p.firstVisibleRow = max(min(p.firstVisibleRow+rowCount, len(p.textRows)-p.height), 0)
}

// visibleRows returns the rows that are on the screen. If some rows are not on the screen, positionText says which
// rows are.
func (p *entryPager) visibleRows() (rows []string, positionText string) {
	end := min(p.firstVisibleRow+p.height, len(p.textRows))
	for i := p.firstVisibleRow; i < end; i++ {
		row := p.textRows[i]
		if i >= p.firstTextRow {
			row = termtext.HighlightWords(row, p.hit.Words, "")
		}
		rows = append(rows, row)
	}
	if len(rows) == len(p.textRows) {
		return rows, ""
	}
	return rows, fmt.Sprintf("rows %d to %d of %d", p.firstVisibleRow+1, end, len(p.textRows))
}
