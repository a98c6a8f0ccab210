// This file renders the report of an answer on a page.

package page

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// Report shows the report of an answer. A page has room for the whole report, so it also shows the parts that shorter
// forms of the report omit.
func Report(now time.Time, r report.Report) g.Node {
	p := reportPage{now}
	return g.Group{p.renderSections(r.Sections), p.renderNotices("warn", r.Warnings), p.renderNotices("note", r.Notes)}
}

// reportPage renders the parts of a report.
type reportPage struct {
	now time.Time // in the time zone in which times are shown
}

// renderSections renders sections. Neighbouring findings form a list.
func (p reportPage) renderSections(all []report.Section) g.Node {
	var nodes g.Group
	var findings []g.Node
	flush := func() {
		if findings != nil {
			nodes = append(nodes, h.Ul(h.Class("rows"), g.Group(findings)))
			findings = nil
		}
	}
	for _, s := range all {
		if f, isFinding := s.(report.Finding); isFinding {
			findings = append(findings, p.finding(f))
			continue
		}
		flush()
		nodes = append(nodes, p.section(s))
	}
	flush()
	return nodes
}

func (p reportPage) section(s report.Section) g.Node {
	switch s := s.(type) {
	case report.Line:
		return h.P(g.If(s.Indent > 0 || s.Faint, h.Class("hint")), p.sentence(s.Sentence))
	case report.Record:
		return h.Div(h.Class("row"), p.record(s))
	case report.Fields:
		return p.renderFields(s.Cells)
	case report.Table:
		return p.table(s)
	case report.List:
		item := func(s report.Section) g.Node {
			if r, isRecord := s.(report.Record); isRecord {
				return h.Li(h.Class("row"), p.record(r))
			}
			return h.Li(h.Class("row"), p.section(s))
		}
		if s.Numbered {
			return h.Ol(h.Class("rows"), g.Map(s.Items, item))
		}
		return h.Ul(h.Class("rows"), g.Map(s.Items, item))
	case report.Finding:
		return h.Ul(h.Class("rows"), p.finding(s))
	case report.Reasons:
		near := g.Group{}
		if len(s.Near) > 0 {
			near = append(near, h.P(h.Class("dim"), h.Text("Similar names: "), p.value(s.Near)))
		}
		return h.Div(h.Class("empty"), g.Map(s.Why, func(w report.Sentence) g.Node { return h.P(p.sentence(w)) }), near)
	case report.Document:
		return h.Pre(h.Text(Visible(string(s))))
	}
	panic(fmt.Sprintf("page: a report contains a %T", s))
}

// levels maps a finding's level to the kind of its badge.
var levels = map[report.Level]string{"ok": "good", "warning": "warn", "problem": "error"}

func (p reportPage) finding(f report.Finding) g.Node {
	return h.Li(
		h.Class("row"),
		h.Div(
			h.Class("head"),
			Badge(levels[f.Level], string(f.Level), ""),
			h.Span(h.Class("dim"), h.Text(Visible(string(f.About)))),
			h.Span(p.renderFound(f.What)),
		),
		g.If(f.Remedy != "", h.P(h.Class("hint"), h.Text(Visible(string(f.Remedy))))),
	)
}

// renderFound shows the text or value of a finding. A text is shown as a sentence.
func (p reportPage) renderFound(what any) g.Node {
	if text, isText := what.(string); isText {
		return Isolated(Sentence(text))
	}
	return p.value(what)
}

// record shows a record. It begins with the record's title, or with a sentence about the call's effect on the named
// item, followed by the cells.
func (p reportPage) record(r report.Record) g.Node {
	title := r.Key
	if r.Title != nil {
		title = r.Title
	}
	head := h.Span(p.value(title))
	if !r.Did.IsEmpty() {
		head = h.Span(p.sentence(r.Did))
	}
	var meta []g.Node
	for _, c := range r.Cells {
		if hasValue(c.Value) {
			meta = append(meta, h.Span(g.If(c.Name != "", h.Text(c.Name+" ")), p.value(c.Value)))
		}
	}
	return g.Group{
		h.Div(h.Class("head"), head),
		g.If(meta != nil, h.Div(h.Class("meta"), g.Group(meta))),
		g.If(len(r.Lines) > 0, p.renderFields(r.Lines)),
	}
}

func (p reportPage) renderFields(cells []report.Cell) g.Node {
	var nodes []g.Node
	for _, c := range cells {
		if hasValue(c.Value) {
			nodes = append(nodes, h.Dt(h.Text(capital(c.Name))), h.Dd(p.value(c.Value)))
		}
	}
	return h.Dl(h.Class("facts"), g.Group(nodes))
}

func (p reportPage) table(t report.Table) g.Node {
	rows := make([]g.Node, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = h.Tr(g.Map(row, func(v any) g.Node {
			switch v.(type) {
			case int, int64, uint64, float64:
				return h.Td(h.Class("number"), p.value(v))
			}
			return h.Td(p.value(v))
		}))
	}
	return Table(t.Columns, rows...)
}

func (p reportPage) renderNotices(kind string, sentences []report.Sentence) g.Node {
	return g.Map(sentences, func(s report.Sentence) g.Node {
		return h.Div(h.Class("notice "+kind), h.P(p.fullSentence(s)))
	})
}

// place is the placeholder, in the text of a sentence, for a value that others may have written.
const place = "\x00"

// sentence renders a sentence with a capital letter at its beginning. The case is not changed if the sentence begins
// with a command, or with a value that others may have written.
func (p reportPage) sentence(s report.Sentence) g.Node {
	text, values := p.split(s)
	if !strings.HasPrefix(text, "oxbow ") {
		text = capital(text)
	}
	return join(text, values)
}

// fullSentence is like sentence, but also adds a full stop, unless the sentence ends with a list of separate lines.
func (p reportPage) fullSentence(s report.Sentence) g.Node {
	text, values := p.split(s)
	if s.EndsWithLines() {
		return join(capital(text), values)
	}
	return join(Sentence(text), values)
}

// split returns the text of a sentence, in which the placeholder place replaces each value that others may have
// written. It also returns these values, rendered and in order.
func (p reportPage) split(s report.Sentence) (text string, values []g.Node) {
	var write func(v any) string
	write = func(v any) string {
		switch v := v.(type) {
		case report.Words:
			return string(v)
		case report.Sentence:
			return v.In(write)
		case verb.Note:
			return v.In(ReferenceWords)
		}
		values = append(values, p.value(v))
		return place
	}
	return s.In(write), values
}

// join replaces each placeholder in the text by the next value.
func join(text string, values []g.Node) g.Node {
	var nodes g.Group
	for i, part := range strings.Split(text, place) {
		if i > 0 {
			nodes = append(nodes, values[i-1])
		}
		nodes = append(nodes, h.Text(Visible(part)))
	}
	return nodes
}

// value renders a value. It is the only function that makes the values of a report safe to show on a page.
func (p reportPage) value(v any) g.Node {
	switch v := v.(type) {
	case nil:
		return nil
	case int, int64, uint64, float64:
		return h.Text(fmt.Sprint(v))
	case report.Words:
		return h.Text(Visible(string(v)))
	case report.Sentence:
		return join(p.split(v))
	case report.Name:
		return Isolated(string(v))
	case report.Names:
		return joinTexts(v, h.Text(", "))
	case report.Labels:
		return joinTexts(v, h.Text(" "))
	case report.Lines:
		return g.Group{h.Br(), joinTexts(v, h.Br())}
	case report.Text:
		return Isolated(strings.TrimSpace(string(v)))
	case report.Quote:
		return h.BlockQuote(Isolated(strings.TrimSpace(string(v))))
	case report.Change:
		return h.Text(fmt.Sprintf("(change %d)", v))
	case time.Time:
		return When(p.now, v)
	case verb.Note:
		return h.Text(Visible(v.In(ReferenceWords)))
	case verb.Reference:
		return h.Text(Visible(ReferenceWords(v)))
	}
	return Isolated(fmt.Sprint(v))
}

// joinTexts shows untrusted texts with a separator between them.
func joinTexts(texts []string, separator g.Node) g.Node {
	var nodes g.Group
	for i, s := range texts {
		if i > 0 {
			nodes = append(nodes, separator)
		}
		nodes = append(nodes, Isolated(s))
	}
	return nodes
}

// hasValue reports whether the value of a cell is not empty, so that the cell is shown.
func hasValue(v any) bool { return v != nil && fmt.Sprint(v) != "" }

// capital returns a text with a capital letter at its beginning.
func capital(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}
