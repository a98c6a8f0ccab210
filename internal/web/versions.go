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

// versionsPage is the number of versions on a page.
const versionsPage = 10

func showVersions(c *call) (reply, error) {
	name := c.name()
	limit := versionsPage
	offset := max(0, c.number("offset", 0))
	out, err := verb.History(c.ctx, c.work, verb.HistoryIn{Name: name, Limit: &limit, Offset: &offset})
	if err != nil {
		return nil, err
	}
	if len(out.Changes) == 0 {
		return screen{
			title:   page.Visible(name),
			navPath: "find",
			body:    []g.Node{page.Empty("There are no older versions.", out.Notes)},
		}, nil
	}
	s := screen{title: "Versions of " + strconv.Quote(page.Visible(out.Name)), navPath: "find",
		lead: h.P(
			h.Class("lead"),
			h.Text("The newest first. You can restore each version. "),
			h.A(h.Href(page.Root+page.EntryPath(out.Name)), h.Text("Current text")),
		)}
	rows := g.Group{}
	for i, ch := range out.Changes {
		rows = append(rows, h.Li(h.Class("row"),
			h.Div(
				h.Class("head"),
				page.Badge("", number(ch.Seq), "number of the change"),
				h.H2(h.Class("small"), h.Text(page.DidWhat(ch))),
			),
			h.Div(h.Class("meta"), h.Span(h.Text(c.viewer().Writer(ch.Source)+
				", "), page.When(c.now, page.Moment(ch.Time))), page.Isolated(ch.Note)),
			c.touchedDiff(ch.Entries[0], ch.Seq),
			g.If(c.mayWrite() && offset+i > 0 && ch.Entries[0].Verb != string(oxbow.VerbRemove) &&
				!ch.Entries[0].Erased,
				page.Button(page.EntryPath(out.Name)+"/restore", "", "Restore this version", "seq", number(ch.Seq)))))
	}
	s.body = []g.Node{c.compareForm(out.Changes), c.comparison(out.Name),
		h.Ol(h.Class("rows"), rows), page.Pager(c.r.URL, offset, out.Next, versionsPage)}
	return s, nil
}

// compareForm selects two of the listed versions for a comparison. It returns nil if there are fewer.
func (c *call) compareForm(changes []verb.Change) g.Node {
	if len(changes) < 2 {
		return nil
	}
	choice := func(name, label string, selected uint64) g.Node {
		return h.Label(h.Class("field"), h.Span(h.Text(label)), h.Select(h.Name(name),
			g.Map(changes, func(ch verb.Change) g.Node {
				at := page.Moment(ch.Time).In(c.now.Location())
				return h.Option(h.Value(number(ch.Seq)), g.If(ch.Seq == selected, h.Selected()),
					h.Text(number(ch.Seq)+", "+at.Format("2 January 2006, 15:04")))
			})))
	}
	from := uint64(c.number("from", int(changes[len(changes)-1].Seq)))
	to := uint64(c.number("to", int(changes[0].Seq)))
	return h.Form(h.Class("ask"), choice("from", "From change", from), choice("to", "To change", to),
		h.Button(h.Text("Compare")))
}

// comparison shows the difference between the two versions that the query selects, or nil if it selects none.
func (c *call) comparison(name string) g.Node {
	from, to := c.number("from", 0), c.number("to", 0)
	if from <= 0 || to <= 0 {
		return nil
	}
	before, _, err := c.stateAt(name, uint64(from))
	after, _, aerr := c.stateAt(name, uint64(to))
	var shown g.Node = h.P(h.Class("dim"), h.Text("One of these versions is no longer stored."))
	if err == nil && aerr == nil {
		text, labels := page.Diff(before.text, after.text), c.labelDiff(before, after)
		shown = g.Group{text, labels}
		if text == nil && labels == nil {
			shown = h.P(h.Class("dim"), h.Text("The two versions are equal."))
		}
	}
	return page.Section("compared", fmt.Sprintf("From change %d to change %d", from, to), shown)
}

func restore(c *call) (reply, error) {
	seq, err := strconv.ParseUint(c.value("seq"), 10, 64)
	if err != nil {
		return nil, &oxbow.InvalidError{Field: "seq", Value: c.value("seq"), Reason: "is not the number of a change"}
	}
	out, err := verb.Restore(c.ctx, c.work, verb.RestoreIn{Name: c.name(), Seq: &seq})
	if err != nil {
		return nil, err
	}
	return redirect{to: page.EntryPath(out.Name), change: out.Seq}, nil
}

// touchedDiff shows how a change altered the text and the labels of an entry.
func (c *call) touchedDiff(t verb.TouchedEntry, seq uint64) g.Node {
	if t.Erased {
		return h.P(h.Class("dim"), h.Text("The text was erased for good."))
	}
	after, gone, err := c.stateAt(t.Name, seq)
	isLost := gone && t.Verb != string(oxbow.VerbRemove)
	if err == nil && isLost {
		err = oxbow.ErrNotFound
	}
	before, _, berr := c.stateAt(t.Name, t.Prev)
	if err != nil || berr != nil {
		return h.P(h.Class("dim"), h.Text("The earlier text is no longer stored."))
	}
	text := page.Diff(before.text, after.text)
	labels := c.labelDiff(before, after)
	if text == nil && labels == nil {
		return h.P(h.Class("dim"), h.Text("The text did not change."))
	}
	return g.Group{text, labels}
}

// state is the content of an entry's version.
type state struct {
	text    string
	aliases []string
	labels  map[string][]string
}

// stateAt returns an entry's content as of a change. gone is true if there was no such entry then.
func (c *call) stateAt(name string, seq uint64) (s state, gone bool, err error) {
	if seq == 0 {
		return s, true, nil
	}
	e, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: name + "@" + number(seq), Bare: true, NoAdvice: true})
	if errors.Is(err, oxbow.ErrNotFound) {
		return s, true, nil
	}
	if err != nil {
		return s, false, err
	}
	return state{*e.Content, e.Aliases, e.Labels}, false, nil
}

// labelDiff lists the labels and aliases that were added or removed.
func (c *call) labelDiff(before, after state) g.Node {
	was, is := before.labelWords(), after.labelWords()
	var out g.Group
	for _, w := range was {
		if !slices.Contains(is, w) {
			out = append(out, h.Li(h.El("del", h.Text("− "), page.Isolated(w))))
		}
	}
	for _, w := range is {
		if !slices.Contains(was, w) {
			out = append(out, h.Li(h.El("ins", h.Text("+ "), page.Isolated(w))))
		}
	}
	if out == nil {
		return nil
	}
	return h.Ul(h.Class("relabelled"), h.Aria("label", "Labels that changed"), out)
}

// labelWords returns the labels and aliases, except the hashes of files.
func (s state) labelWords() (out []string) {
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
