// Package termtext formats text for a terminal with columns, wrapping and colours, and makes
// it safe to print.
package termtext

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// widthOptions sets how the width of characters is measured. Wide East Asian characters and emoji have two columns,
// and escape sequences have none.
var widthOptions = displaywidth.Options{ControlSequences: true}

// CountColumns returns the number of terminal columns that s needs. Tabs are not counted.
func CountColumns(s string) int { return widthOptions.String(s) }

// ShortenToColumns shortens a text without escape sequences to at most n columns. A shortened text ends with an
// ellipsis, so the result has at least one column.
func ShortenToColumns(s string, n int) string {
	if CountColumns(s) <= n {
		return s
	}
	return strings.TrimRight(displaywidth.TruncateString(s, n-1, ""), " ") + "…"
}

// Pad appends spaces to s until it has n columns.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-CountColumns(s))) }

// Wrap breaks a text into lines of at most n columns, at line ends and at spaces. It replaces tabs by spaces. If a
// line is broken, its continuation gets the same indentation. An ASCII word that is longer than a line, such as a
// path, is not broken, so that it can be copied.
func Wrap(s string, n int) (lines []string) {
	for line := range strings.SplitSeq(strings.ReplaceAll(s, "\t", "    "), "\n") {
		if CountColumns(line) <= n {
			lines = append(lines, line)
			continue
		}
		indent := line[:len(line)-len(strings.TrimLeft(line, " "))]
		if len(indent) > n/2 {
			indent = ""
		}
		row, space := indent, ""
		for _, w := range strings.Fields(line) {
			if space != "" && CountColumns(row+space+w) > n {
				lines = append(lines, row)
				row = indent
				space = ""
			}
			for isWide := strings.ContainsFunc(w, func(r rune) bool { return r >= utf8.RuneSelf }); isWide; {
				// TruncateString reads only the beginning of w.
				part := displaywidth.TruncateString(w, n-CountColumns(row), "")
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

// WrapBreakingWords is like Wrap, but also breaks ASCII words that are longer than a line.
func WrapBreakingWords(s string, n int) (rows []string) {
	for _, row := range Wrap(s, n) {
		if CountColumns(row) > n {
			part := displaywidth.TruncateString(row, n, "") // TruncateString reads only the beginning of row.
			for part != "" && part != row {
				rows, row = append(rows, part), row[len(part):]
				part = displaywidth.TruncateString(row, n, "")
			}
		}
		rows = append(rows, row)
	}
	return rows
}
