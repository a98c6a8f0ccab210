// This file shows the difference between two texts line by line, and marks the changed words in a line.

package page

import (
	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

const (
	diffContextLines = 2   // number of unchanged lines that are shown around a change
	maxDiffLines     = 200 // maximum number of lines that are shown
	maxLineBytes     = 400 // maximum number of bytes that are shown from a line
)

// diffLine is a line of a difference. mark is '-' for a line that is only in the old text, '+' for a line that is only
// in the new text, and ' ' for a line in both.
type diffLine struct {
	mark byte
	text string
	// the line's text, divided into changed and unchanged words (nil if the compared text has no similar line)
	parts []diff.WordRun
}

// TextDiff shows the difference between two texts. It returns nil if the texts are equal.
func TextDiff(before, after string) g.Node {
	if before == after {
		return nil
	}
	lines := compareLines(before, after)
	var out g.Group
	shown, left := 0, false // left is true if the previous line is not shown
	for i, l := range lines {
		if !isNearChange(lines, i) {
			if !left {
				out = append(out, h.El("span", h.Text("  …")))
			}
			left = true
			continue
		}
		left = false
		if shown == maxDiffLines {
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
		out = append(out, h.El(shape, h.Text(mark), l.renderContent()))
	}
	return h.El("div", h.Attr("class", "diff"), h.Attr("role", "group"), h.Attr("aria-label", "What changed"), out)
}

// isNearChange reports whether line i has changed or is within diffContextLines lines of a change.
func isNearChange(lines []diffLine, i int) bool {
	for j := max(0, i-diffContextLines); j <= min(len(lines)-1, i+diffContextLines); j++ {
		if lines[j].mark != ' ' {
			return true
		}
	}
	return false
}

// renderContent shows the text of the line, with the changed words marked.
func (l diffLine) renderContent() g.Node {
	if l.parts == nil {
		return IsolatedText(text.TruncateWithEllipsis(l.text, maxLineBytes))
	}
	var out g.Group
	for _, p := range l.parts {
		if p.IsChanged {
			out = append(out, h.El("b", h.Text(VisibleText(p.Text))))
			continue
		}
		out = append(out, h.Text(VisibleText(p.Text)))
	}
	return h.El("bdi", out)
}

// compareLines returns the lines of both texts in order. The mark of a line is '-' if the line was removed, '+' if it
// was added, and ' ' if it is in both texts. If added lines follow removed lines, compareLines pairs them and compares
// each pair word by word. It stores the results in the field parts, unless a line is longer than maxLineBytes.
func compareLines(before, after string) (out []diffLine) {
	for mark, line := range diff.DiffLines(before, after) {
		out = append(out, diffLine{mark: mark, text: line})
	}
	for i := 0; i < len(out); {
		removed := countLines(out[i:], '-')
		added := countLines(out[i+removed:], '+')
		for j := range min(removed, added) {
			a, b := &out[i+j], &out[i+removed+j]
			if len(a.text) <= maxLineBytes && len(b.text) <= maxLineBytes {
				a.parts, b.parts = diff.CompareLinesByWord(a.text, b.text)
			}
		}
		i += max(1, removed+added)
	}
	return out
}

// countLines returns how many lines at the beginning have this mark.
func countLines(lines []diffLine, mark byte) (n int) {
	for n < len(lines) && lines[n].mark == mark {
		n++
	}
	return n
}
