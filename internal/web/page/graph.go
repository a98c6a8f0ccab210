// This file draws graphs. The computed layout is the same each time.

package page

import (
	"fmt"
	"math"

	g "maragu.dev/gomponents"

	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// Graph is a graph to draw. Each edge is a pair of indexes in Nodes.
type Graph struct {
	Nodes []GraphNode
	Edges [][2]int
}

// GraphNode is a node of a graph. It is a link to a page.
type GraphNode struct {
	Kind, Text string
	Path       string // path of the page, relative to [RootPath]
	Weight     int    // number of entries behind the node, such as those with a tag (hidden if it is 0)
	IsCenter   bool   // This is the node whose neighbours the graph shows.

	x, y float64
}

// Limits for drawing a graph: its size in SVG units, the preferred length of an edge, and the number of steps in which
// the nodes are moved to good positions.
const (
	graphWidth, graphHeight = 1000.0, 640.0
	preferredEdgeLength     = 95.0
	layoutSimulationSteps   = 220
)

// placeNodes computes the positions of the nodes. Nodes repel each other, and edges pull their ends together
// (Fruchterman and Reingold, "Graph Drawing by Force-directed Placement", 1991). The nodes start on a spiral, so that
// the result is the same each time.
func (gr *Graph) placeNodes() {
	for i := range gr.Nodes {
		angle, radius := float64(i)*2.399963, 22*math.Sqrt(float64(i)+0.5)
		gr.Nodes[i].x, gr.Nodes[i].y = radius*math.Cos(angle), radius*math.Sin(angle)
	}
	dx, dy := make([]float64, len(gr.Nodes)), make([]float64, len(gr.Nodes))
	push := func(a, b int, force func(d float64) float64) {
		x, y := gr.Nodes[a].x-gr.Nodes[b].x, gr.Nodes[a].y-gr.Nodes[b].y
		d := math.Max(math.Hypot(x, y), 0.1)
		f := force(d) / d
		dx[a], dy[a], dx[b], dy[b] = dx[a]+x*f, dy[a]+y*f, dx[b]-x*f, dy[b]-y*f
	}
	for step := range layoutSimulationSteps {
		clear(dx)
		clear(dy)
		for a := range gr.Nodes {
			for b := range a {
				push(a, b, func(d float64) float64 { return preferredEdgeLength * preferredEdgeLength / d })
			}
		}
		for _, e := range gr.Edges {
			push(e[0], e[1], func(d float64) float64 { return -d * d / preferredEdgeLength })
		}
		heat := 40 * (1 - float64(step)/layoutSimulationSteps)
		for i := range gr.Nodes {
			n := &gr.Nodes[i]
			// Pull each node toward the center, more strongly in the vertical direction.
			x, y := dx[i]-n.x*0.9, dy[i]-n.y*1.6
			move := math.Min(math.Hypot(x, y), heat) / math.Max(math.Hypot(x, y), 0.1)
			n.x, n.y = n.x+x*move, n.y+y*move
		}
	}
	gr.scaleToPicture()
}

// scaleToPicture scales the positions of the graph's nodes to the picture's size.
func (gr *Graph) scaleToPicture() {
	left := math.Inf(1)
	right := math.Inf(-1)
	top := math.Inf(1)
	bottom := math.Inf(-1)
	for _, n := range gr.Nodes {
		left = math.Min(left, n.x)
		right = math.Max(right, n.x)
		top = math.Min(top, n.y)
		bottom = math.Max(bottom, n.y)
	}
	const side, edge = 110, 36
	scale := math.Min(
		1.6,
		math.Min((graphWidth-2*side)/math.Max(right-left, 1), (graphHeight-2*edge)/math.Max(bottom-top, 1)),
	)
	for i := range gr.Nodes {
		n := &gr.Nodes[i]
		n.x, n.y = graphWidth/2+(n.x-(left+right)/2)*scale, graphHeight/2+(n.y-(top+bottom)/2)*scale
	}
}

// DrawGraph draws the graph gr. Each node is a link, and the links are in the order of gr.Nodes. If the page also
// contains a list of the nodes, the list should have the same order.
func DrawGraph(gr Graph, title string) g.Node {
	gr.placeNodes()
	num := func(f float64) string { return fmt.Sprintf("%.0f", f) }
	var out []g.Node
	for _, e := range gr.Edges {
		a, b := gr.Nodes[e[0]], gr.Nodes[e[1]]
		out = append(
			out,
			h.El(
				"line",
				h.Attr("x1", num(a.x)),
				h.Attr("y1", num(a.y)),
				h.Attr("x2", num(b.x)),
				h.Attr("y2", num(b.y)),
			),
		)
	}
	few := len(gr.Nodes) <= 60
	for _, n := range gr.Nodes {
		class, r := "node "+n.Kind, 6+2*math.Sqrt(float64(n.Weight))
		if n.IsCenter {
			class, r = class+" middle", 11
		}
		text := g.Node(nil)
		if few || n.Kind != "entry" {
			text = h.El(
				"text",
				h.Attr("x", num(n.x)),
				h.Attr("y", num(n.y-r-4)),
				h.Attr("text-anchor", "middle"),
				h.Text(shortenLabel(VisibleText(n.Text))),
			)
		}
		out = append(out, h.A(h.Class(class), h.Href(RootPath+n.Path),
			h.El("title", h.Text(n.Kind+": "+
				VisibleText(
					n.Text,
				))), h.El("circle", h.Attr("cx", num(n.x)), h.Attr("cy", num(n.y)), h.Attr("r", num(r))),
			text))
	}
	return h.Div(h.Class("wide map"), h.TabIndex("0"), h.Role("region"), h.Aria("label", title),
		h.El(
			"svg",
			h.Attr("viewBox", fmt.Sprintf("0 0 %.0f %.0f", graphWidth, graphHeight)),
			h.Attr("role", "group"),
			h.Aria("label", title),
			g.Group(out),
		))
}

// shortenLabel shortens a text to at most 24 characters.
func shortenLabel(s string) string {
	if r := []rune(s); len(r) > 24 {
		return string(r[:23]) + "…"
	}
	return s
}
