// Package termtext formats text for a terminal with columns, wrapping and colours, and makes
// it safe to print.
package termtext

import (
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// widthOptions measures the width of grapheme clusters. East Asian wide characters and emoji have two
// columns, and escape sequences have none.
var widthOptions = displaywidth.Options{ControlSequences: true}

// CountColumns returns the number of columns of s. Tabs are not counted.
func CountColumns(s string) int { return widthOptions.String(s) }

// ShortenToColumns shortens a text without colours to at most n columns. A shortened text ends with an ellipsis,
// so that the result has at least one column.
func ShortenToColumns(s string, n int) string {
	if CountColumns(s) <= n {
		return s
	}
	return strings.TrimRight(displaywidth.TruncateString(s, n-1, ""), " ") + "…"
}

// Pad appends spaces to s until it has n columns.
func Pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-CountColumns(s))) }

// Wrap breaks a text at line ends and spaces into lines of at most n columns. It replaces tabs by
// spaces. The continuation of a line has the same indentation. A longer ASCII word, such as a path,
// is not broken, so that it can be copied.
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
				part := displaywidth.TruncateString(w, n-CountColumns(row), "") // reads only the start of w
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

// WrapBreakingWords is like Wrap, but also breaks longer ASCII words.
func WrapBreakingWords(s string, n int) (rows []string) {
	for _, row := range Wrap(s, n) {
		if CountColumns(row) > n {
			part := displaywidth.TruncateString(row, n, "") // reads only the start of row
			for part != "" && part != row {
				rows, row = append(rows, part), row[len(part):]
				part = displaywidth.TruncateString(row, n, "")
			}
		}
		rows = append(rows, row)
	}
	return rows
}
