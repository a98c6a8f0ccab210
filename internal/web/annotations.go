// This file shows the annotations of the working tree: the recorded reasons for lines in its files.

package web

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// maxAnnotations is the maximum number of annotations that are counted for the list of all files. maxFileLines is the
// maximum number of lines that a file's page shows.
const maxAnnotations, maxFileLines = 1000, 2000

func annotationsPage(c *pageRequest) (pageReply, error) {
	s := pageWithNavigation{
		title:           "Annotations",
		navPath:         "annotations",
		descriptionLine: h.P(h.Class("lead"), h.Text("Your code with the reasons for its changes beside it.")),
	}
	if c.workspace.Annotations == nil {
		s.bodyNodes = []g.Node{noWorkingTreeNotice()}
		return s, nil
	}
	if file := c.formValue("file"); file != "" {
		return c.annotatedFilePage(s, file)
	}
	query := c.formValue("q")
	s.bodyNodes = []g.Node{
		page.QueryForm(
			"annotations",
			"Find",
			h.Div(h.Class("field grow"), page.InputField("q", "Words", query, h.Type("search"))),
		),
	}
	if query != "" {
		return c.annotationHitsPage(s, query)
	}
	limit := maxAnnotations
	out, err := annotations.GetAnnotations(
		c.ctx,
		c.workspace,
		annotations.GetAnnotationsIn{Filter: "-archived:true", Limit: &limit},
	)
	if err != nil {
		return nil, err
	}
	counts := map[string]int{}
	for _, a := range out.Annotations {
		counts[a.File]++
	}
	files := slices.SortedFunc(func(yield func(string) bool) {
		for f := range counts {
			if !yield(f) {
				return
			}
		}
	}, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	if len(files) == 0 {
		s.bodyNodes = []g.Node{
			page.EmptyNotice(
				"No line has an annotation yet.",
				nil,
				h.P(
					h.Class("dim"),
					h.Text(
						"oxbow records an annotation when an agent edits a file in a client with hooks. You can "+
							"write one with ",
					),
					h.Code(h.Text("oxbow annotate FILE:LINE WHY")),
					h.Text("."),
				),
			),
		}
		return s, nil
	}
	s.bodyNodes = append(
		s.bodyNodes,
		h.Ul(h.Class("rows"), h.Attr("data-keys", ""), g.Map(files, func(f string) g.Node {
			return h.Li(
				h.Class("row"),
				h.Div(
					h.Class("head"),
					h.H2(fileLink(f, page.IsolatedText(f))),
					h.Span(h.Class("meta"), h.Text(page.CountWithNoun(counts[f], "why"))),
				),
			)
		})),
	)
	return s, nil
}

// noWorkingTreeNotice returns the content of the page if the server lacks a working tree.
func noWorkingTreeNotice() g.Node {
	return page.EmptyNotice(
		"These pages were not started in a repository.",
		nil,
		h.P(
			h.Class("dim"),
			h.Text("Start "),
			h.Code(h.Text("oxbow ui")),
			h.Text(
				" in a repository to see its annotated files here. A browser that is "+
					"limited to another project or to a kind sees none.",
			),
		),
	)
}

func fileLink(file string, text ...g.Node) g.Node {
	return h.A(h.Href(page.RootPath+"annotations?"+url.Values{"file": {file}}.Encode()), g.Group(text))
}

// annotatedFilePage returns the page of a file. Each annotation is shown next to its first line.
func (c *pageRequest) annotatedFilePage(s pageWithNavigation, file string) (pageReply, error) {
	out, err := annotations.Blame(c.ctx, c.workspace, annotations.BlameIn{File: file})
	if err != nil {
		return nil, err
	}
	whys, seen := map[string]annotations.Annotation{}, map[string]bool{}
	for _, a := range out.Annotations {
		whys[a.ID] = a
	}
	s.title, s.descriptionLine = page.VisibleText(
		out.File,
	), h.P(
		h.Class("lead"),
		h.Text(page.CountWithNoun(len(out.Annotations), "why")+
			" in the margin. "),
		h.A(h.Href(page.RootPath+"annotations"), h.Text("All files")),
	)
	var rows []g.Node
	for _, l := range out.Lines[:min(maxFileLines, len(out.Lines))] {
		var begin []g.Node
		for _, id := range l.AnnotationIDs {
			if a, ok := whys[id]; ok && !seen[id] {
				seen[id] = true
				begin = append(begin, c.annotationNote(a, nil))
			}
		}
		rows = append(
			rows,
			h.Tr(
				g.If(len(l.AnnotationIDs) > 0, h.Class("has")),
				h.Td(h.Class("number"), h.Textf("%d", l.Line)),
				h.Td(h.Class("code"), page.IsolatedText(l.Text)),
				h.Td(h.Class("margin"), g.Group(begin)),
			),
		)
	}
	s.bodyNodes = []g.Node{
		page.NoteList(out.Notes),
		h.Div(
			h.Class("wide"),
			h.TabIndex("0"),
			h.Role("region"),
			h.Aria("label", "The file"),
			h.Table(h.Class("source"),
				h.THead(h.Tr(h.Th(h.Text("Line")), h.Th(h.Text("Text")), h.Th(h.Text("Why")))), h.TBody(rows...)),
		),
		g.If(
			len(out.Lines) > maxFileLines,
			h.P(h.Class("dim"), h.Textf("%d more lines follow.", len(out.Lines)-maxFileLines)),
		),
	}
	return s, nil
}

// annotationHitsPage returns a page with the annotations that match a query.
func (c *pageRequest) annotationHitsPage(s pageWithNavigation, query string) (pageReply, error) {
	limit := 50
	out, err := annotations.GetAnnotations(
		c.ctx,
		c.workspace,
		annotations.GetAnnotationsIn{Query: query, Limit: &limit},
	)
	if err != nil {
		return nil, err
	}
	s.bodyNodes = append(
		s.bodyNodes,
		page.NoteList(out.Notes),
		g.If(len(out.Annotations) == 0, page.EmptyNotice("No annotation contains these words.", nil)),
		h.Ul(h.Class("rows"), g.Map(out.Annotations, func(a annotations.Annotation) g.Node {
			return h.Li(h.Class("row"), c.annotationNote(a, annotationPlace(a)))
		})),
	)
	return s, nil
}

// annotationPlace returns the file and the line of an annotation.
func annotationPlace(a annotations.Annotation) g.Node {
	return h.P(fileLink(a.File, page.IsolatedText(a.File)), h.Textf(", line %d", a.StartLine))
}

// annotationNote returns the HTML of an annotation: its reason, the rejected alternatives, the lines, the author and
// the time. The node in the argument locationNode describes where the annotation is. It is shown first. On the page of
// a file, this node is nil.
func (c *pageRequest) annotationNote(a annotations.Annotation, locationNode g.Node) g.Node {
	by := a.ActorKind
	if a.Agent != "" {
		by = a.Agent
	}
	return h.Div(h.Class("why"),
		locationNode,
		h.P(page.IsolatedText(a.Reason)),
		g.Map(a.RejectedAlternatives, func(r string) g.Node {
			return h.P(h.Class("hint"), h.Text("Rejected: "), page.IsolatedText(r))
		}),
		h.P(
			h.Class("meta"),
			g.If(a.StartLine != a.EndLine, h.Span(h.Textf("lines %d to %d", a.StartLine, a.EndLine))),
			h.Span(page.IsolatedText(by)),
			page.RelativeTime(c.now, page.ParseTime(a.Time)),
			g.If(
				a.ReviewState != "",
				page.Badge(
					"warn",
					a.ReviewState,
					"It was not written on this machine, and it is not on the reviewed branch.",
				),
			),
			g.If(
				a.HaveLinesChanged(),
				page.Badge("warn", "edited since", "The lines have changed since this was written."),
			),
		))
}
