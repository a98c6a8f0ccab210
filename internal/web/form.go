// The form of an entry's parts: what a person types, and what verbs take.

package web

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// part is a field of the form, by the name that remember has for it.
type part struct{ name, label, hint, key string }

// parts are all but the text. Those of several values have one on each line.
var parts = []part{
	{"project", "Project", "", oxbow.LabelProject},
	{"tags", "Tags", "One on each line, or with commas between them.", oxbow.LabelTag},
	{"related_files", "Files that it is about", "One on each line, relative to the project.", oxbow.LabelFile},
	{"aliases", "Other names", "One on each line.", ""},
	{"confidence", "Confidence", "From 0 to 1; empty for none.", oxbow.LabelConfidence},
}

// typed is what the form of an entry holds, by the names of its parts; "content" is
// the text.
type typed map[string]string

// typedOf is what the form shows of an entry.
func typedOf(e verb.Entry) typed {
	t := typed{"content": *e.Content, "aliases": strings.Join(e.Aliases, "\n")}
	for _, p := range parts {
		if p.key != "" {
			t[p.name] = strings.Join(e.Labels[p.key], "\n")
		}
	}
	return t
}

// typed reads the form. Browsers end lines by two characters, which no one typed.
func (c *call) typed() typed {
	t := typed{}
	for _, name := range append([]string{"content"}, slices.Collect(maps.Keys(typedOf(verb.Entry{Content: new(string)})))...) {
		t[name] = strings.ReplaceAll(c.r.PostFormValue(name), "\r\n", "\n")
		if name != "content" {
			t[name] = strings.Join(valuesOf(t[name]), "\n")
		}
	}
	return t
}

func valuesOf(s string) (vs []string) {
	for line := range strings.Lines(s) {
		if v := strings.TrimSpace(line); v != "" && !slices.Contains(vs, v) {
			vs = append(vs, v)
		}
	}
	return vs
}

// same reports whether a part of two forms says the same, however its lines end.
func (t typed) same(base typed, name string) bool {
	return t[name] == base[name] || t[name] == strings.ReplaceAll(base[name], "\r\n", "\n")
}

// over returns what the form says when the entry became another meanwhile: the parts
// that the person left alone are those of now.
func (t typed) over(base, now typed) typed {
	out := maps.Clone(t)
	for name := range t {
		if t.same(base, name) {
			out[name] = now[name]
		}
	}
	return out
}

// into adds the parts that the form changes to what remember takes.
func (t typed) into(in *verb.RememberIn, base typed) error {
	if !t.same(base, "content") {
		in.Content = t["content"]
	}
	for _, p := range parts {
		if t.same(base, p.name) {
			continue
		}
		vs := valuesOf(t[p.name])
		if len(vs) == 0 {
			in.Clear = append(in.Clear, p.name)
			continue
		}
		switch p.name {
		case "project":
			in.Project = strings.Join(vs, " ")
		case "tags":
			in.Tags = vs
		case "related_files":
			in.RelatedFiles = vs
		case "aliases":
			in.Aliases = vs
		case "confidence":
			n, err := strconv.ParseFloat(t[p.name], 64)
			if err != nil {
				return &oxbow.InvalidError{Field: p.name, Value: page.Visible(t[p.name]), Reason: "is not a number from 0 to 1"}
			}
			in.Confidence = &n
		}
	}
	return nil
}

// fields are the form's fields with what it holds.
func (t typed) fields() g.Node {
	out := g.Group{h.Label(h.For("content"), h.Text("Text, in Markdown")), textArea("content", t["content"], 16)}
	var side g.Group
	for _, p := range parts {
		id := strings.ReplaceAll(p.name, "_", "-")
		field := h.Input(h.ID(id), h.Name(p.name), h.Value(t[p.name]), h.AutoComplete("off"), g.If(p.hint != "", h.Aria("describedby", id+"-hint")), g.If(p.name == "confidence", h.Attr("inputmode", "decimal")))
		if p.name == "tags" || p.name == "related_files" || p.name == "aliases" {
			field = textArea(p.name, t[p.name], 2, g.If(p.hint != "", h.Aria("describedby", id+"-hint")))
		}
		side = append(side, h.Div(h.Class("stack"), h.Label(h.For(id), h.Text(p.label)), field, g.If(p.hint != "", h.P(h.Class("hint"), h.ID(id+"-hint"), h.Text(p.hint)))))
	}
	return append(out, h.Div(h.Class("fields"), side))
}

// textArea is a field of several lines. Browsers leave out a first empty line.
func textArea(name, value string, rows int, more ...g.Node) g.Node {
	return h.Textarea(h.ID(strings.ReplaceAll(name, "_", "-")), h.Name(name), h.Rows(strconv.Itoa(rows)), h.Dir("auto"), h.Attr("spellcheck", "false"), g.If(rows < 4, h.Class("few")), g.Group(more), h.Text("\n"+value))
}
