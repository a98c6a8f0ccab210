// This file shows a change as a unified diff.

package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// contextLinesPerChange is the number of unchanged lines that are shown before and after a change.
const contextLinesPerChange = 3

// Diff returns the change as a unified diff, or "" if the change leaves the file as it is.
func (c *Change) Diff() string {
	if c.IsUnchanged() {
		return ""
	}
	a, b := slices.Collect(strings.Lines(string(c.Before))), slices.Collect(strings.Lines(string(c.After)))
	in := diff.LineNumberer{}
	var m diff.LineMapper
	to := m.MapEqualLines(in.LineIDs(a), in.LineIDs(b))
	var out strings.Builder
	name := func(there bool) string { return choose(there, c.Path, "/dev/null") }
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name(c.Before != nil), name(c.After != nil))
	rows := makeDiffRows(a, b, to)
	for i := 0; i < len(rows); {
		if rows[i].sign == ' ' {
			i++
			continue
		}
		from, end := max(0, i-contextLinesPerChange), i
		for j, same := i, 0; j < len(rows) && same <= 2*contextLinesPerChange; j++ {
			same++
			if rows[j].sign != ' ' {
				same, end = 0, j+1
			}
		}
		end = min(len(rows), end+contextLinesPerChange)
		i = end
		writeDiffHunk(&out, rows[from:end])
	}
	return out.String()
}

// diffRow is one line of a diff. Its sign is '-' for a removed line, '+' for an added line, and ' ' for an unchanged
// line.
type diffRow struct {
	sign                 byte
	lineText             string
	oldOffset, newOffset int // numbers of lines before this line in the old text and in the new text
}

func makeDiffRows(oldLines, newLines []string, newLineIndexes []int) (rows []diffRow) {
	j := 0
	for i, line := range oldLines {
		if newLineIndexes[i] < 0 {
			rows = append(rows, diffRow{'-', line, i, j})
			continue
		}
		for ; j < newLineIndexes[i]; j++ {
			rows = append(rows, diffRow{'+', newLines[j], i, j})
		}
		rows = append(rows, diffRow{' ', line, i, j})
		j++
	}
	for ; j < len(newLines); j++ {
		rows = append(rows, diffRow{'+', newLines[j], len(oldLines), j})
	}
	return rows
}

func writeDiffHunk(out *strings.Builder, rows []diffRow) {
	na, nb := 0, 0
	for _, r := range rows {
		na += choose(r.sign != '+', 1, 0)
		nb += choose(r.sign != '-', 1, 0)
	}
	fmt.Fprintf(
		out,
		"@@ -%d,%d +%d,%d @@\n",
		rows[0].oldOffset+choose(na > 0, 1, 0),
		na,
		rows[0].newOffset+choose(nb > 0, 1, 0),
		nb,
	)
	for _, r := range rows {
		line, whole := strings.CutSuffix(r.lineText, "\n")
		fmt.Fprintf(out, "%c%s\n", r.sign, strings.TrimSuffix(line, "\r"))
		if !whole {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}
