// This file implements the pager, which shows a whole entry in rows that scroll.

package tui

import (
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// pager shows one entry.
type pager struct {
	hit    Hit
	whole  EntryDetails
	rows   []string // laid out for width; rows of the text are not painted
	textAt int      // index of the text's first row
	width  int
	top    int // index of the first row that is shown
	height int // number of rows that are shown
}

// wrap lays the entry out for a screen of the given size.
func (p *pager) wrap(width, height int) {
	p.height = height
	if p.width != width || p.rows == nil {
		p.width, p.rows = width, nil
		if p.hit.Warning != "" {
			for _, row := range termtext.Break(safe(p.hit.Warning), width) {
				p.rows = append(p.rows, paint(termtext.Red, row))
			}
		}
		for _, f := range p.whole.Facts {
			named := min(factWidth, width/3)
			head := termtext.Pad(termtext.Fit(f.Name, max(named, 1)), named) + " "
			for _, row := range termtext.Break(safe(f.Value), max(width-named-1, 1)) {
				p.rows = append(p.rows, paint(termtext.Dim, head)+row)
				head = strings.Repeat(" ", named+1)
			}
		}
		p.rows = append(p.rows, "")
		p.textAt = len(p.rows)
		p.rows = append(p.rows, termtext.Break(termtext.Clean(strings.TrimRight(p.whole.Text, "\n")), width)...)
	}
	p.scroll(0)
}

// factWidth is the width of the longest fact name.
const factWidth = 8

// scroll moves the view down by the given number of rows, or up if it is negative.
func (p *pager) scroll(rowCount int) {
	p.top = max(min(p.top+rowCount, len(p.rows)-p.height), 0)
}

// view returns the rows that are shown and, unless all rows are shown, a text with their numbers.
func (p *pager) view() (rows []string, where string) {
	end := min(p.top+p.height, len(p.rows))
	for i := p.top; i < end; i++ {
		row := p.rows[i]
		if i >= p.textAt {
			row = termtext.Mark(row, p.hit.Words, "")
		}
		rows = append(rows, row)
	}
	if len(rows) == len(p.rows) {
		return rows, ""
	}
	return rows, fmt.Sprintf("rows %d to %d of %d", p.top+1, end, len(p.rows))
}
