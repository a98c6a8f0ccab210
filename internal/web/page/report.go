// This file renders the report of a verb on a page.

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

// RenderReport shows a report. It also shows the parts that shorter forms of the report omit, because a page has
// enough room.
func RenderReport(now time.Time, r report.Report) g.Node {
	p := reportRenderer{now}
	return g.Group{p.renderSections(r.Sections), p.renderNotices("warn", r.Warnings), p.renderNotices("note", r.Notes)}
}

// reportRenderer renders the parts of a report.
type reportRenderer struct {
	now time.Time // present time, in the time zone in which times are shown
}

// renderSections renders the sections of a report. If several findings of checks follow each other, they become one
// list.
func (p reportRenderer) renderSections(sections []report.Section) g.Node {
	var nodes g.Group
	var findings []g.Node
	flush := func() {
		if findings != nil {
			nodes = append(nodes, h.Ul(h.Class("rows"), g.Group(findings)))
			findings = nil
		}
	}
	for _, s := range sections {
		if f, isFinding := s.(report.Finding); isFinding {
			findings = append(findings, p.renderFinding(f))
			continue
		}
		flush()
		nodes = append(nodes, p.renderSection(s))
	}
	flush()
	return nodes
}

func (p reportRenderer) renderSection(s report.Section) g.Node {
	switch s := s.(type) {
	case report.Line:
		return h.P(g.If(s.Indent > 0 || s.IsFaint, h.Class("hint")), p.renderSentence(s.Sentence))
	case report.Record:
		return h.Div(h.Class("row"), p.renderRecord(s))
	case report.Fields:
		return p.renderFields(s.Cells)
	case report.Table:
		return p.renderTable(s)
	case report.List:
		item := func(s report.Section) g.Node {
			if r, isRecord := s.(report.Record); isRecord {
				return h.Li(h.Class("row"), p.renderRecord(r))
			}
			return h.Li(h.Class("row"), p.renderSection(s))
		}
		if s.IsNumbered {
			return h.Ol(h.Class("rows"), g.Map(s.Items, item))
		}
		return h.Ul(h.Class("rows"), g.Map(s.Items, item))
	case report.Finding:
		return h.Ul(h.Class("rows"), p.renderFinding(s))
	case report.EmptyResultReasons:
		near := g.Group{}
		if len(s.SimilarNames) > 0 {
			near = append(near, h.P(h.Class("dim"), h.Text("Similar names: "), p.renderValue(s.SimilarNames)))
		}
		return h.Div(h.Class("empty"), g.Map(s.Sentences,
			func(w report.Sentence) g.Node { return h.P(p.renderSentence(w)) }), near)
	case report.TextForModel:
		return h.Pre(h.Text(VisibleText(string(s))))
	}
	panic(fmt.Sprintf("page: a report contains a %T", s))
}

// badgeKinds maps the level of a check's finding to the kind of badge that is shown beside the finding.
var badgeKinds = map[report.FindingLevel]string{"ok": "good", "warning": "warn", "problem": "error"}

func (p reportRenderer) renderFinding(f report.Finding) g.Node {
	return h.Li(
		h.Class("row"),
		h.Div(
			h.Class("head"),
			Badge(badgeKinds[f.Level], string(f.Level), ""),
			h.Span(h.Class("dim"), h.Text(VisibleText(string(f.Topic)))),
			h.Span(p.renderFindingText(f.TopicState)),
		),
		g.If(f.Remedy != "", h.P(h.Class("hint"), h.Text(VisibleText(string(f.Remedy))))),
	)
}

// renderFindingText shows the text or the value of a finding. A text is shown as a sentence.
func (p reportRenderer) renderFindingText(textOrValue any) g.Node {
	if text, isText := textOrValue.(string); isText {
		return IsolatedText(MakeSentence(text))
	}
	return p.renderValue(textOrValue)
}

// renderRecord shows a record, which describes one thing such as an entry. It begins with the record's title, or with
// its key if it has no title. If the record describes the effect of a call, it begins with a sentence about the effect
// instead. The record's other values follow.
func (p reportRenderer) renderRecord(r report.Record) g.Node {
	title := r.Key
	if r.Title != nil {
		title = r.Title
	}
	head := h.Span(p.renderValue(title))
	if !r.Effect.IsEmpty() {
		head = h.Span(p.renderSentence(r.Effect))
	}
	var meta []g.Node
	for _, c := range r.Cells {
		if hasValue(c.Value) {
			meta = append(meta, h.Span(g.If(c.Name != "", h.Text(c.Name+" ")), p.renderValue(c.Value)))
		}
	}
	return g.Group{
		h.Div(h.Class("head"), head),
		g.If(meta != nil, h.Div(h.Class("meta"), g.Group(meta))),
		g.If(len(r.TextCellsBelow) > 0, p.renderFields(r.TextCellsBelow)),
	}
}

func (p reportRenderer) renderFields(cells []report.Cell) g.Node {
	var nodes []g.Node
	for _, c := range cells {
		if hasValue(c.Value) {
			nodes = append(nodes, h.Dt(h.Text(capitalize(c.Name))), h.Dd(p.renderValue(c.Value)))
		}
	}
	return h.Dl(h.Class("facts"), g.Group(nodes))
}

func (p reportRenderer) renderTable(t report.Table) g.Node {
	rows := make([]g.Node, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = h.Tr(g.Map(row, func(v any) g.Node {
			switch v.(type) {
			case int, int64, uint64, float64:
				return h.Td(h.Class("number"), p.renderValue(v))
			}
			return h.Td(p.renderValue(v))
		}))
	}
	return Table(t.Columns, rows...)
}

func (p reportRenderer) renderNotices(noticeClass string, sentences []report.Sentence) g.Node {
	return g.Map(sentences, func(s report.Sentence) g.Node {
		return h.Div(h.Class("notice "+noticeClass), h.P(p.renderFullSentence(s)))
	})
}

// valuePlaceholder is a placeholder in the text of a sentence. It is later replaced by a value that others may have
// written.
const valuePlaceholder = "\x00"

// renderSentence renders a sentence with a capital letter at its beginning. If the sentence begins with a command or
// with a value that others may have written, the first letter is not changed.
func (p reportRenderer) renderSentence(s report.Sentence) g.Node {
	text, values := p.splitSentence(s)
	if !strings.HasPrefix(text, "oxbow ") {
		text = capitalize(text)
	}
	return fillPlaceholders(text, values)
}

// renderFullSentence is like renderSentence, but adds a full stop. It adds none if the sentence ends with a list of
// separate lines.
func (p reportRenderer) renderFullSentence(s report.Sentence) g.Node {
	text, values := p.splitSentence(s)
	if s.EndsWithQuotedLines() {
		return fillPlaceholders(capitalize(text), values)
	}
	return fillPlaceholders(MakeSentence(text), values)
}

// splitSentence replaces the values in a sentence that others may have written by placeholders (valuePlaceholder). It
// returns the text of the sentence with the placeholders, and the rendered values in the same order.
func (p reportRenderer) splitSentence(s report.Sentence) (text string, values []g.Node) {
	var write func(v any) string
	write = func(v any) string {
		switch v := v.(type) {
		case report.OxbowText:
			return string(v)
		case report.Sentence:
			return v.FormatWith(write)
		case verb.Note:
			return v.Render(ReferenceText)
		}
		values = append(values, p.renderValue(v))
		return valuePlaceholder
	}
	return s.FormatWith(write), values
}

// fillPlaceholders replaces the placeholders in a text by the values, in order.
func fillPlaceholders(text string, values []g.Node) g.Node {
	var nodes g.Group
	for i, part := range strings.Split(text, valuePlaceholder) {
		if i > 0 {
			nodes = append(nodes, values[i-1])
		}
		nodes = append(nodes, h.Text(VisibleText(part)))
	}
	return nodes
}

// renderValue returns the value v of a report as a node of a page. It escapes the text of the value, so that the text
// is safe on the page. All values of reports must be rendered with renderValue.
func (p reportRenderer) renderValue(v any) g.Node {
	switch v := v.(type) {
	case nil:
		return nil
	case int, int64, uint64, float64:
		return h.Text(fmt.Sprint(v))
	case report.OxbowText:
		return h.Text(VisibleText(string(v)))
	case report.Sentence:
		return fillPlaceholders(p.splitSentence(v))
	case report.EntryName:
		return IsolatedText(string(v))
	case report.Names:
		return joinTexts(v, h.Text(", "))
	case report.Labels:
		return joinTexts(v, h.Text(" "))
	case report.QuotedLines:
		return g.Group{h.Br(), joinTexts(v, h.Br())}
	case report.QuotedText:
		return IsolatedText(strings.TrimSpace(string(v)))
	case report.Quote:
		return h.BlockQuote(IsolatedText(strings.TrimSpace(string(v))))
	case report.ChangeNumber:
		return h.Text(fmt.Sprintf("(change %d)", v))
	case time.Time:
		return RelativeTime(p.now, v)
	case verb.Note:
		return h.Text(VisibleText(v.Render(ReferenceText)))
	case verb.NoteReference:
		return h.Text(VisibleText(ReferenceText(v)))
	}
	return IsolatedText(fmt.Sprint(v))
}

// joinTexts shows untrusted texts with a separator between them.
func joinTexts(texts []string, separator g.Node) g.Node {
	var nodes g.Group
	for i, s := range texts {
		if i > 0 {
			nodes = append(nodes, separator)
		}
		nodes = append(nodes, IsolatedText(s))
	}
	return nodes
}

// hasValue reports whether a cell has a value. Other cells are not shown.
func hasValue(v any) bool { return v != nil && fmt.Sprint(v) != "" }

// capitalize returns a text with a capital letter at its beginning.
func capitalize(s string) string {
	first, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(first)) + s[n:]
}
