// This file lists the versions of an entry with their differences, and restores a version.

package web

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// versionsPageSize is the number of versions on a page.
const versionsPageSize = 10

func versionListPage(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	limit := versionsPageSize
	offset := max(0, c.formNumber("offset", 0))
	out, err := verb.ListHistory(c.ctx, c.workspace, verb.HistoryIn{Name: name, Limit: &limit, Offset: &offset})
	if err != nil {
		return nil, err
	}
	if len(out.Changes) == 0 {
		return pageWithNavigation{
			title:     page.VisibleText(name),
			navPath:   "find",
			bodyNodes: []g.Node{page.EmptyNotice("There are no older versions.", out.Notes)},
		}, nil
	}
	s := pageWithNavigation{title: "Versions of " + strconv.Quote(page.VisibleText(out.Name)), navPath: "find",
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("The newest first. You can restore each version. "),
			h.A(h.Href(page.RootPath+page.EntryPath(out.Name)), h.Text("Current text")),
		)}
	rows := g.Group{}
	for i, ch := range out.Changes {
		rows = append(rows, h.Li(h.Class("row"),
			h.Div(
				h.Class("head"),
				page.Badge("", formatNumber(ch.Seq), "number of the change"),
				h.H2(h.Class("small"), h.Text(page.DescribeChange(ch))),
			),
			h.Div(h.Class("meta"), h.Span(h.Text(c.pageViewer().WriterName(ch.Source)+
				", "), page.RelativeTime(c.now, page.ParseTime(ch.Time))), page.IsolatedText(ch.Note)),
			c.changeDiff(ch.Entries[0], ch.Seq),
			g.If(
				c.mayWrite() && offset+i > 0 && ch.Entries[0].Verb != string(oxbow.VerbRemove) &&
					!ch.Entries[0].IsTextErased,
				page.PostButton(
					page.EntryPath(out.Name)+"/restore",
					"",
					"Restore this version",
					"seq",
					formatNumber(ch.Seq),
				),
			)))
	}
	s.bodyNodes = []g.Node{c.compareForm(out.Changes), c.versionDiffSection(out.Name),
		h.Ol(h.Class("rows"), rows), page.Pager(c.r.URL, offset, out.NextOffset, versionsPageSize)}
	return s, nil
}

// compareForm returns a form that selects two of the listed versions and compares them. It returns nil if there are
// fewer than two.
func (c *pageRequest) compareForm(changes []verb.Change) g.Node {
	if len(changes) < 2 {
		return nil
	}
	choice := func(name, label string, selected uint64) g.Node {
		return h.Label(h.Class("field"), h.Span(h.Text(label)), h.Select(h.Name(name),
			g.Map(changes, func(ch verb.Change) g.Node {
				at := page.ParseTime(ch.Time).In(c.now.Location())
				return h.Option(h.Value(formatNumber(ch.Seq)), g.If(ch.Seq == selected, h.Selected()),
					h.Text(formatNumber(ch.Seq)+", "+at.Format("2 January 2006, 15:04")))
			})))
	}
	from := uint64(c.formNumber("from", int(changes[len(changes)-1].Seq)))
	to := uint64(c.formNumber("to", int(changes[0].Seq)))
	return h.Form(h.Class("ask"), choice("from", "From change", from), choice("to", "To change", to),
		h.Button(h.Text("Compare")))
}

// versionDiffSection shows the difference between the two versions of an entry whose numbers are in the URL's query. It
// returns nil if the query does not contain two numbers.
func (c *pageRequest) versionDiffSection(name string) g.Node {
	from, to := c.formNumber("from", 0), c.formNumber("to", 0)
	if from <= 0 || to <= 0 {
		return nil
	}
	before, _, err := c.entryContentAt(name, uint64(from))
	after, _, aerr := c.entryContentAt(name, uint64(to))
	var shown g.Node = h.P(h.Class("dim"), h.Text("One of these versions is no longer stored."))
	if err == nil && aerr == nil {
		text, labels := page.TextDiff(before.text, after.text), c.labelDiff(before, after)
		shown = g.Group{text, labels}
		if text == nil && labels == nil {
			shown = h.P(h.Class("dim"), h.Text("The two versions are equal."))
		}
	}
	return page.Section("compared", fmt.Sprintf("From change %d to change %d", from, to), shown)
}

func restoreVersion(c *pageRequest) (pageReply, error) {
	seq, err := strconv.ParseUint(c.formValue("seq"), 10, 64)
	if err != nil {
		return nil, &oxbow.InvalidError{
			Field:  "seq",
			Value:  c.formValue("seq"),
			Reason: "is not the number of a change",
		}
	}
	out, err := verb.RestoreVersion(c.ctx, c.workspace, verb.RestoreIn{Name: c.entryNameFromPath(), Seq: &seq})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: page.EntryPath(out.Name), changeNumber: out.Seq}, nil
}

// changeDiff shows how a change altered the text and the labels of an entry.
func (c *pageRequest) changeDiff(t verb.TouchedEntry, seq uint64) g.Node {
	if t.IsTextErased {
		return h.P(h.Class("dim"), h.Text("The text was erased for good."))
	}
	after, gone, err := c.entryContentAt(t.Name, seq)
	isLost := gone && t.Verb != string(oxbow.VerbRemove)
	if err == nil && isLost {
		err = oxbow.ErrNotFound
	}
	before, _, berr := c.entryContentAt(t.Name, t.PrevSeq)
	if err != nil || berr != nil {
		return h.P(h.Class("dim"), h.Text("The earlier text is no longer stored."))
	}
	text := page.TextDiff(before.text, after.text)
	labels := c.labelDiff(before, after)
	if text == nil && labels == nil {
		return h.P(h.Class("dim"), h.Text("The text did not change."))
	}
	return g.Group{text, labels}
}

// entryVersionContent is the content of an entry version.
type entryVersionContent struct {
	text    string
	aliases []string
	labels  map[string][]string
}

// entryContentAt returns the content that an entry had after the change seq. isMissing is true if the entry did not
// exist then, or if seq is 0.
func (c *pageRequest) entryContentAt(name string, seq uint64) (s entryVersionContent, isMissing bool, err error) {
	if seq == 0 {
		return s, true, nil
	}
	e, err := verb.Get(
		c.ctx,
		c.workspace,
		verb.GetIn{Name: name + "@" + formatNumber(seq), ContentOnly: true, WithoutSimilarNames: true},
	)
	if errors.Is(err, oxbow.ErrNotFound) {
		return s, true, nil
	}
	if err != nil {
		return s, false, err
	}
	return entryVersionContent{*e.Content, e.Aliases, e.Labels}, false, nil
}

// labelDiff lists the labels and aliases that were added or removed.
func (c *pageRequest) labelDiff(before, after entryVersionContent) g.Node {
	was, is := before.labelTexts(), after.labelTexts()
	var out g.Group
	for _, w := range was {
		if !slices.Contains(is, w) {
			out = append(out, h.Li(h.El("del", h.Text("− "), page.IsolatedText(w))))
		}
	}
	for _, w := range is {
		if !slices.Contains(was, w) {
			out = append(out, h.Li(h.El("ins", h.Text("+ "), page.IsolatedText(w))))
		}
	}
	if out == nil {
		return nil
	}
	return h.Ul(h.Class("relabelled"), h.Aria("label", "Labels that changed"), out)
}

// labelTexts returns the labels and aliases of a version as text, for a comparison of two versions. It leaves out the
// labels with hashes of files, which mean nothing to a person.
func (s entryVersionContent) labelTexts() (out []string) {
	for k, vs := range s.labels {
		for _, v := range vs {
			if k != oxbow.LabelFileBlob {
				out = append(out, k+":"+v)
			}
		}
	}
	for _, a := range s.aliases {
		out = append(out, fmt.Sprintf("alias %q", a))
	}
	slices.Sort(out)
	return out
}
