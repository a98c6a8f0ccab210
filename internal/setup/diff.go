// This file shows a change as a unified diff.

package setup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// around is the number of unchanged lines shown around a change.
const around = 3

// Diff returns the change as a unified diff, or "" if nothing changes.
func (c *Change) Diff() string {
	if c.Same() {
		return ""
	}
	a, b := slices.Collect(strings.Lines(string(c.Before))), slices.Collect(strings.Lines(string(c.After)))
	in := diff.Interner{}
	var m diff.Mapper
	to := m.MapLines(in.LineIDs(a), in.LineIDs(b))
	var out strings.Builder
	name := func(there bool) string { return either(there, c.Path, "/dev/null") }
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name(c.Before != nil), name(c.After != nil))
	rows := rowsOf(a, b, to)
	for i := 0; i < len(rows); {
		if rows[i].sign == ' ' {
			i++
			continue
		}
		from, end := max(0, i-around), i
		for j, same := i, 0; j < len(rows) && same <= 2*around; j++ {
			same++
			if rows[j].sign != ' ' {
				same, end = 0, j+1
			}
		}
		end = min(len(rows), end+around)
		i = end
		hunk(&out, rows[from:end])
	}
	return out.String()
}

// row is a line of a diff, and the number of lines before it in each text.
type row struct {
	sign byte
	line string
	a, b int
}

func rowsOf(a, b []string, to []int) (rows []row) {
	j := 0
	for i, line := range a {
		if to[i] < 0 {
			rows = append(rows, row{'-', line, i, j})
			continue
		}
		for ; j < to[i]; j++ {
			rows = append(rows, row{'+', b[j], i, j})
		}
		rows = append(rows, row{' ', line, i, j})
		j++
	}
	for ; j < len(b); j++ {
		rows = append(rows, row{'+', b[j], len(a), j})
	}
	return rows
}

func hunk(out *strings.Builder, rows []row) {
	na, nb := 0, 0
	for _, r := range rows {
		na += either(r.sign != '+', 1, 0)
		nb += either(r.sign != '-', 1, 0)
	}
	fmt.Fprintf(out, "@@ -%d,%d +%d,%d @@\n", rows[0].a+either(na > 0, 1, 0), na, rows[0].b+either(nb > 0, 1, 0), nb)
	for _, r := range rows {
		line, whole := strings.CutSuffix(r.line, "\n")
		fmt.Fprintf(out, "%c%s\n", r.sign, strings.TrimSuffix(line, "\r"))
		if !whole {
			out.WriteString("\\ No newline at end of file\n")
		}
	}
}
