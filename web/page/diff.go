// How a text became another, line by line.

package page

import (
	"strings"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"

	"github.com/oxbow-memory/oxbow/internal/diff"
)

// diffLines is how many lines a diff has at most: it is read by eye.
const diffLines = 400

// Diff shows the lines of two texts: those that went, those that came, and the others.
func Diff(before, after string) g.Node {
	a, b := linesOf(before), linesOf(after)
	in, m := diff.Interner{}, diff.Mapper{}
	var out []g.Node
	line := func(el func(...g.Node) g.Node, mark, text string) {
		if len(out) < diffLines {
			out = append(out, el(g.Text(mark+" "), Isolated(text)))
		}
	}
	at := 0
	added := func(to int) {
		for ; at < to; at++ {
			line(h.Ins, "+", b[at])
		}
	}
	for i, to := range m.Map(in.Lines(a), in.Lines(b)) {
		if to < 0 {
			line(h.Del, "−", a[i])
			continue
		}
		added(to)
		line(h.Span, " ", a[i])
		at = to + 1
	}
	added(len(b))
	if len(out) == diffLines {
		out = append(out, h.Span(g.Text("…")))
	}
	return h.Div(h.Class("diff"), g.Group(out))
}

func linesOf(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
