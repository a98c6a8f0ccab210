// Pictures of numbers, each with the same numbers as a table.

package page

import (
	"fmt"
	"strconv"

	g "maragu.dev/gomponents"
	h "maragu.dev/gomponents/html"
)

// Bar is a number with its name.
type Bar struct {
	Name  string
	Value int
}

// The size of a picture of bars, in its own units.
const chartWide, chartHigh = 600, 120

// Bars is a picture of numbers next to each other, such as those of days.
func Bars(title, unit string, bars []Bar) g.Node {
	most := 0
	for _, b := range bars {
		most = max(most, b.Value)
	}
	if most == 0 {
		return h.P(h.Class("dim"), g.Text("Nothing in these days."))
	}
	step := float64(chartWide) / float64(len(bars))
	out := []g.Node{g.El("line", g.Attr("x1", "0"), g.Attr("x2", strconv.Itoa(chartWide)), g.Attr("y1", strconv.Itoa(chartHigh)), g.Attr("y2", strconv.Itoa(chartHigh)))}
	for i, b := range bars {
		high := float64(b.Value) / float64(most) * (chartHigh - 4)
		out = append(out, g.El("rect", g.Attr("x", fmt.Sprintf("%.1f", float64(i)*step+1)), g.Attr("y", fmt.Sprintf("%.1f", chartHigh-high)), g.Attr("width", fmt.Sprintf("%.1f", step-2)), g.Attr("height", fmt.Sprintf("%.1f", high)),
			g.El("title", g.Textf("%s: %d", Visible(b.Name), b.Value))))
	}
	return h.Figure(h.Class("figure"),
		g.El("svg", h.Class("chart"), g.Attr("viewBox", fmt.Sprintf("0 0 %d %d", chartWide, chartHigh)), g.Attr("role", "img"), h.Aria("label", fmt.Sprintf("%s: at most %d %s", title, most, unit)), g.Group(out)),
		h.FigCaption(h.Span(g.Text(Visible(bars[0].Name))), h.Span(g.Textf("at most %d %s", most, unit)), h.Span(g.Text(Visible(bars[len(bars)-1].Name)))),
		figures(unit, bars))
}

// Shares is a picture of numbers below each other, such as those of projects.
func Shares(title, unit string, bars []Bar) g.Node {
	most := 1
	for _, b := range bars {
		most = max(most, b.Value)
	}
	const row = 26
	var out []g.Node
	for i, b := range bars {
		y := i * row
		out = append(out, g.El("rect", g.Attr("x", "180"), g.Attr("y", strconv.Itoa(y+4)), g.Attr("width", fmt.Sprintf("%.1f", 360*float64(b.Value)/float64(most))), g.Attr("height", "16")),
			g.El("text", g.Attr("x", "172"), g.Attr("y", strconv.Itoa(y+17)), g.Attr("text-anchor", "end"), g.Text(short(Visible(b.Name)))),
			g.El("text", g.Attr("x", fmt.Sprintf("%.1f", 186+360*float64(b.Value)/float64(most))), g.Attr("y", strconv.Itoa(y+17)), g.Text(strconv.Itoa(b.Value))))
	}
	return h.Figure(h.Class("figure"),
		g.El("svg", h.Class("chart"), g.Attr("viewBox", fmt.Sprintf("0 0 %d %d", chartWide, len(bars)*row)), g.Attr("role", "img"), h.Aria("label", title), g.Group(out)),
		figures(unit, bars))
}

// figures are the numbers of a picture.
func figures(unit string, bars []Bar) g.Node {
	return h.Details(h.Summary(g.Text("The same in numbers")), Table([]string{"", Sentence(unit)}, g.Map(bars, func(b Bar) g.Node {
		return h.Tr(h.Td(Isolated(b.Name)), h.Td(h.Class("number"), g.Text(strconv.Itoa(b.Value))))
	})))
}
