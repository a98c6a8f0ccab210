// This file implements the pager, which shows a whole entry in rows that scroll.

package tui

import (
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// pager shows one entry.
type pager struct {
	hit          Hit
	details      EntryDetails
	rows         []string // laid out for width; rows of the text are not painted
	firstTextRow int      // index of the text's first row
	width        int
	firstVisible int // index of the first row that is shown
	height       int // number of rows that are shown
}

// layOut lays the entry out for a screen of the given size.
func (p *pager) layOut(width, height int) {
	p.height = height
	if p.width != width || p.rows == nil {
		p.width, p.rows = width, nil
		if p.hit.Warning != "" {
			for _, row := range termtext.WrapBreakingWords(cleanLine(p.hit.Warning), width) {
				p.rows = append(p.rows, paint(termtext.Red, row))
			}
		}
		for _, f := range p.details.Facts {
			named := min(factWidth, width/3)
			head := termtext.Pad(termtext.ShortenToColumns(f.Name, max(named, 1)), named) + " "
			for _, row := range termtext.WrapBreakingWords(cleanLine(f.Value), max(width-named-1, 1)) {
				p.rows = append(p.rows, paint(termtext.Dim, head)+row)
				head = strings.Repeat(" ", named+1)
			}
		}
		p.rows = append(p.rows, "")
		p.firstTextRow = len(p.rows)
		p.rows = append(
			p.rows,
			termtext.WrapBreakingWords(termtext.ReplaceHarmful(strings.TrimRight(p.details.Text, "\n")), width)...)
	}
	p.scroll(0)
}

// factWidth is the width of the longest fact name.
const factWidth = 8

// scroll moves the view down by the given number of rows, or up if it is negative.
func (p *pager) scroll(rowCount int) {
	p.firstVisible = max(min(p.firstVisible+rowCount, len(p.rows)-p.height), 0)
}

// visibleRows returns the rows that are shown and, unless all rows are shown, a text with their numbers.
func (p *pager) visibleRows() (rows []string, where string) {
	end := min(p.firstVisible+p.height, len(p.rows))
	for i := p.firstVisible; i < end; i++ {
		row := p.rows[i]
		if i >= p.firstTextRow {
			row = termtext.HighlightWords(row, p.hit.Words, "")
		}
		rows = append(rows, row)
	}
	if len(rows) == len(p.rows) {
		return rows, ""
	}
	return rows, fmt.Sprintf("rows %d to %d of %d", p.firstVisible+1, end, len(p.rows))
}
