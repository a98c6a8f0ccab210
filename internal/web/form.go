// This file builds a form with an entry's parts, and converts a sent form to arguments of the verb remember.

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

// formField is a field of the form. The field name also names the corresponding argument of the verb "remember". The
// field labelKey is the key of the labels that the form field shows, or "" if the form field does not show labels.
type formField struct{ name, label, hint, labelKey string }

// formFields lists all fields of the form except the text. In a field with several values, each value is on its own
// line.
var formFields = []formField{
	{"project", "Project", "", oxbow.LabelProject},
	{"tags", "Tags", "One per line, or separated by commas.", oxbow.LabelTag},
	{"related_files", "Related files", "One per line, relative to the project.", oxbow.LabelFile},
	{"aliases", "Other names", "One per line.", ""},
	{"confidence", "Confidence", "From 0 to 1, or empty.", oxbow.LabelConfidence},
}

// formValues contains the values of a form by field name. The name of the entry's text is "content".
type formValues map[string]string

// entryFormValues returns the form values that show an entry.
func entryFormValues(e verb.Entry) formValues {
	t := formValues{"content": *e.Content, "aliases": strings.Join(e.Aliases, "\n")}
	for _, p := range formFields {
		if p.labelKey != "" {
			t[p.name] = strings.Join(e.Labels[p.labelKey], "\n")
		}
	}
	return t
}

// readForm returns the values of the form that was sent. It replaces CR LF by LF, because browsers end lines with CR
// LF.
func (c *pageRequest) readForm() formValues {
	t := formValues{}
	for _, name := range append(
		[]string{"content"},
		slices.Collect(maps.Keys(entryFormValues(verb.Entry{Content: new(string)})))...,
	) {
		t[name] = strings.ReplaceAll(c.r.PostFormValue(name), "\r\n", "\n")
		if name != "content" {
			t[name] = strings.Join(splitValues(t[name]), "\n")
		}
	}
	return t
}

func splitValues(s string) (vs []string) {
	for line := range strings.Lines(s) {
		if v := strings.TrimSpace(line); v != "" && !slices.Contains(vs, v) {
			vs = append(vs, v)
		}
	}
	return vs
}

// isUnchanged reports whether the field with this name has the same value in t and in base. A value in t that has the
// line ending "\n" also counts as unchanged if base has "\r\n" instead.
func (t formValues) isUnchanged(base formValues, name string) bool {
	return t[name] == base[name] || t[name] == strings.ReplaceAll(base[name], "\r\n", "\n")
}

// updateUneditedFields updates the form values after another writer has changed the entry. The parameter baseValues
// contains the values before that change, and the parameter currentValues contains the values after that change. In the
// result, a field that the user has not edited has the value from the parameter currentValues. A field that the user
// has edited keeps the user's value.
func (t formValues) updateUneditedFields(baseValues, currentValues formValues) formValues {
	out := maps.Clone(t)
	for name := range t {
		if t.isUnchanged(baseValues, name) {
			out[name] = currentValues[name]
		}
	}
	return out
}

// setRememberArgs converts the form values to arguments of the verb remember, and stores them in the struct in. Only
// the form fields that differ from baseValues are stored, so that the verb changes nothing else. If the person has
// emptied a field, its name is added to in.PartsToClear. The error is a *oxbow.InvalidError if the confidence is not a
// number.
func (t formValues) setRememberArgs(in *verb.RememberIn, baseValues formValues) error {
	if !t.isUnchanged(baseValues, "content") {
		in.Content = t["content"]
	}
	for _, p := range formFields {
		if t.isUnchanged(baseValues, p.name) {
			continue
		}
		vs := splitValues(t[p.name])
		if len(vs) == 0 {
			in.PartsToClear = append(in.PartsToClear, p.name)
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
				return &oxbow.InvalidError{
					Field:  p.name,
					Value:  page.VisibleText(t[p.name]),
					Reason: "is not a number from 0 to 1",
				}
			}
			in.Confidence = &n
		}
	}
	return nil
}

// inputElements returns the form's input elements, filled with the values.
func (t formValues) inputElements() g.Node {
	out := g.Group{h.Label(h.For("content"), h.Text("Text, in Markdown")), textArea("content", t["content"], 16)}
	var side g.Group
	for _, p := range formFields {
		id := strings.ReplaceAll(p.name, "_", "-")
		field := h.Input(
			h.ID(id),
			h.Name(p.name),
			h.Value(t[p.name]),
			h.AutoComplete("off"),
			g.If(p.hint != "", h.Aria("describedby", id+"-hint")),
			g.If(p.name == "confidence", h.Attr("inputmode", "decimal")),
		)
		if slices.Contains(multiValueFields, p.name) {
			field = textArea(p.name, t[p.name], 2, g.If(p.hint != "", h.Aria("describedby", id+"-hint")))
		}
		side = append(
			side,
			h.Div(
				h.Class("stack"),
				h.Label(h.For(id), h.Text(p.label)),
				field,
				g.If(p.hint != "", h.P(h.Class("hint"), h.ID(id+"-hint"), h.Text(p.hint))),
			),
		)
	}
	return append(out, h.Div(h.Class("fields"), side))
}

// multiValueFields are the fields in which each line contains a value.
var multiValueFields = []string{"tags", "related_files", "aliases"}

// textArea returns a field with several lines. Its text begins with an additional line break, because browsers ignore
// the first one.
func textArea(name, value string, rows int, more ...g.Node) g.Node {
	return h.Textarea(
		h.ID(strings.ReplaceAll(name, "_", "-")),
		h.Name(name),
		h.Rows(strconv.Itoa(rows)),
		h.Dir("auto"),
		h.Attr("spellcheck", "false"),
		g.If(rows < 4, h.Class("few")),
		g.Group(more),
		h.Text("\n"+value),
	)
}
