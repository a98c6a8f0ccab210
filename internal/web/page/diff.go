// This file shows the difference of two texts, line by line.

package page

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	diffAround = 2   // unchanged lines shown around a change
	maxDiff    = 200 // maximum number of lines shown
	maxLine    = 400 // maximum bytes shown of a line
)

// diffLine is a line of a difference. The mark is ' ' if both texts have the line, '-' if
// only the old text has it, and '+' if only the new text has it.
type diffLine struct {
	mark byte
	text string
}

// Diff shows the difference of two texts. It returns nil if they are equal.
func Diff(before, after string) g.Node {
	if before == after {
		return nil
	}
	lines := diffLines(before, after)
	var out g.Group
	shown, left := 0, false // left reports whether the previous line was left out
	for i, l := range lines {
		if !near(lines, i) {
			if !left {
				out = append(out, h.El("span", h.Text("  …")))
			}
			left = true
			continue
		}
		left = false
		if shown == maxDiff {
			out = append(out, h.El("span", h.Text("  … and more")))
			break
		}
		shown++
		shape, mark := "span", "  "
		switch l.mark {
		case '-':
			shape, mark = "del", "− "
		case '+':
			shape, mark = "ins", "+ "
		}
		out = append(out, h.El(shape, h.Text(mark), Isolated(text.Clip(l.text, maxLine))))
	}
	return h.El("div", h.Attr("class", "diff"), h.Attr("role", "group"), h.Attr("aria-label", "What changed"), out)
}

// near reports whether line i has changed or is within diffAround lines of a change.
func near(lines []diffLine, i int) bool {
	for j := max(0, i-diffAround); j <= min(len(lines)-1, i+diffAround); j++ {
		if lines[j].mark != ' ' {
			return true
		}
	}
	return false
}

// diffLines returns the lines of both texts, merged in order.
func diffLines(before, after string) (out []diffLine) {
	for mark, line := range diff.Changes(before, after) {
		out = append(out, diffLine{mark, line})
	}
	return out
}
