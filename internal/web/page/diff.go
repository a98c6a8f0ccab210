// The difference of two texts, by line.

package page

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	diffAround = 2   // equal lines that are shown around changed ones
	maxDiff    = 200 // lines that a difference shows
	maxLine    = 400 // bytes of a line that it shows
)

// diffLine is a line of a difference: ' ' for one that both texts have, '-' for one of
// the old alone, '+' for one of the new alone.
type diffLine struct {
	mark byte
	text string
}

// Diff shows what became of a text. Of equal texts it is nil.
func Diff(before, after string) g.Node {
	if before == after {
		return nil
	}
	lines := diffLines(before, after)
	var out g.Group
	shown, left := 0, false // whether lines were left out just before
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

// near reports whether a line is a changed one or stands next to one.
func near(lines []diffLine, i int) bool {
	for j := max(0, i-diffAround); j <= min(len(lines)-1, i+diffAround); j++ {
		if lines[j].mark != ' ' {
			return true
		}
	}
	return false
}

// diffLines returns the lines of both texts in one order.
func diffLines(before, after string) (out []diffLine) {
	for mark, line := range diff.Changes(before, after) {
		out = append(out, diffLine{mark, line})
	}
	return out
}
