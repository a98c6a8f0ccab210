// Package termtext formats text for a terminal with columns, wrapping and colours, and makes
// it safe to print.
package termtext

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// widthOptions sets how the width of characters is measured. Wide East Asian characters and emoji have two columns,
// and escape sequences have zero.
var widthOptions = displaywidth.Options{ControlSequences: true}

// CountColumns returns the number of terminal columns that s needs. Tabs are not counted.
func CountColumns(s string) int { return widthOptions.String(s) }

// ShortenToColumns shortens a text without escape sequences to at most maxColumns columns. maxColumns must be at least
// 1. A shortened text ends with an ellipsis, which takes one column.
func ShortenToColumns(s string, maxColumns int) string {
	if CountColumns(s) <= maxColumns {
		return s
	}
	return strings.TrimRight(displaywidth.TruncateString(s, maxColumns-1, ""), " ") + "…"
}

// PadToColumns appends spaces to s until it has columnCount columns.
func PadToColumns(s string, columnCount int) string {
	return s + strings.Repeat(" ", max(0, columnCount-CountColumns(s)))
}

// WrapAtWords breaks a text into lines of at most maxColumns columns, at line ends and at spaces. It replaces tabs by
// spaces. If a line is broken, its continuation gets the same indentation. An ASCII word that is longer than a
// line, such as a path, is not broken, so that it can be copied.
func WrapAtWords(s string, maxColumns int) (lines []string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\t", "    "), "\n") {
		if CountColumns(line) <= maxColumns {
			lines = append(lines, line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if len(indent) > maxColumns/2 {
			indent = ""
		}
		row, space := indent, ""
		for _, w := range strings.Fields(line) {
			if space != "" && CountColumns(row+space+w) > maxColumns {
				lines = append(lines, row)
				row = indent
				space = ""
			}
			for isWide := strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }); isWide; {
				// TruncateString reads only as much of w as fits into a row, so it is also fast if w is very long.
				part := displaywidth.TruncateString(w, maxColumns-CountColumns(row), "")
				if part == "" || part == w {
					break
				}
				lines = append(lines, row+part)
				row = indent
				w = w[len(part):]
			}
			row, space = row+space+w, " "
		}
		lines = append(lines, row)
	}
	return lines
}

// WrapBreakingWords is like [WrapAtWords], but also breaks ASCII words that are longer than a line.
func WrapBreakingWords(s string, maxColumns int) (rows []string) {
	for _, row := range WrapAtWords(s, maxColumns) {
		if CountColumns(row) > maxColumns {
			part := displaywidth.TruncateString(row, maxColumns, "") // TruncateString reads only the beginning of row.
			for part != "" && part != row {
				rows, row = append(rows, part), row[len(part):]
				part = displaywidth.TruncateString(row, maxColumns, "")
			}
		}
		rows = append(rows, row)
	}
	return rows
}
