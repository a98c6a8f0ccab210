// This file draws numbers as charts. Each chart contains its numbers as a table, too.

package page

import (
	"fmt"
	"strconv"

	g "maragu.dev/gomponents"

	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// ChartBar is a bar of a chart: a number and its name.
type ChartBar struct {
	Name  string
	Value int
}

// Size of a bar chart, in SVG units.
const chartWidth, chartHeight = 600, 120

// BarChart draws vertical bars, for example one for each day.
func BarChart(title, unit string, bars []ChartBar) g.Node {
	most := 0
	for _, b := range bars {
		most = max(most, b.Value)
	}
	if most == 0 {
		return h.P(h.Class("dim"), h.Text("No data for these days."))
	}
	step := float64(chartWidth) / float64(len(bars))
	out := []g.Node{
		h.El(
			"line",
			h.Attr("x1", "0"),
			h.Attr("x2", strconv.Itoa(chartWidth)),
			h.Attr("y1", strconv.Itoa(chartHeight)),
			h.Attr("y2", strconv.Itoa(chartHeight)),
		),
	}
	for i, b := range bars {
		high := float64(b.Value) / float64(most) * (chartHeight - 4)
		out = append(
			out,
			h.El(
				"rect",
				h.Attr("x", fmt.Sprintf("%.1f", float64(i)*step+1)),
				h.Attr("y", fmt.Sprintf("%.1f", chartHeight-high)),
				h.Attr("width", fmt.Sprintf("%.1f", step-2)),
				h.Attr("height", fmt.Sprintf("%.1f", high)),
				h.El("title", h.Textf("%s: %d", VisibleText(b.Name), b.Value)),
			),
		)
	}
	return h.Figure(h.Class("figure"),
		h.El(
			"svg",
			h.Class("chart"),
			h.Attr("viewBox", fmt.Sprintf("0 0 %d %d", chartWidth, chartHeight)),
			h.Attr("role", "img"),
			h.Aria("label", fmt.Sprintf("%s: at most %d %s", title, most, unit)),
			g.Group(out),
		),
		h.FigCaption(
			h.Span(h.Text(VisibleText(bars[0].Name))),
			h.Span(h.Textf("at most %d %s", most, unit)),
			h.Span(h.Text(VisibleText(bars[len(bars)-1].Name))),
		),
		chartTable(unit, bars))
}

// HorizontalBarChart draws horizontal bars, for example one for each project.
func HorizontalBarChart(title, unit string, bars []ChartBar) g.Node {
	most := 1
	for _, b := range bars {
		most = max(most, b.Value)
	}
	const row = 26
	var out []g.Node
	for i, b := range bars {
		y := i * row
		out = append(
			out,
			h.El(
				"rect",
				h.Attr("x", "180"),
				h.Attr("y", strconv.Itoa(y+4)),
				h.Attr("width", fmt.Sprintf("%.1f", 360*float64(b.Value)/float64(most))),
				h.Attr("height", "16"),
			),
			h.El(
				"text",
				h.Attr("x", "172"),
				h.Attr("y", strconv.Itoa(y+17)),
				h.Attr("text-anchor", "end"),
				h.Text(shortenLabel(VisibleText(b.Name))),
			),
			h.El(
				"text",
				h.Attr("x", fmt.Sprintf("%.1f", 186+360*float64(b.Value)/float64(most))),
				h.Attr("y", strconv.Itoa(y+17)),
				h.Text(strconv.Itoa(b.Value)),
			),
		)
	}
	return h.Figure(h.Class("figure"),
		h.El(
			"svg",
			h.Class("chart"),
			h.Attr("viewBox", fmt.Sprintf("0 0 %d %d", chartWidth, len(bars)*row)),
			h.Attr("role", "img"),
			h.Aria("label", title),
			g.Group(out),
		),
		chartTable(unit, bars))
}

// chartTable returns the numbers of a chart as a table.
func chartTable(unit string, bars []ChartBar) g.Node {
	return h.Details(
		h.Summary(h.Text("Show as a table")),
		Table([]string{"", MakeSentence(unit)}, g.Map(bars, func(b ChartBar) g.Node {
			return h.Tr(h.Td(IsolatedText(b.Name)), h.Td(h.Class("number"), h.Text(strconv.Itoa(b.Value))))
		})),
	)
}
