// This file builds form fields with labels, and the paths of pages.

package page

import (
	"net/url"
	"strconv"
	"strings"

	g "maragu.dev/gomponents"

	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// InputField is a labelled single-line input.
func InputField(name, label, value string, more ...g.Node) g.Node {
	return h.Label(
		h.Class("field"),
		h.Span(h.Text(label)),
		h.Input(h.Name(name), h.Value(value), h.AutoComplete("off"), g.Group(more)),
	)
}

// TextArea is a labelled multi-line input.
func TextArea(name, label, value string, more ...g.Node) g.Node {
	return h.Label(
		h.Class("field"),
		h.Span(h.Text(label)),
		h.Textarea(h.Class("short"), h.Name(name), g.Group(more), h.Text("\n"+value)),
	)
}

// SelectField is a labelled field that selects one of the values. The argument emptyValueText is the text that is shown
// for the value "". If it is empty, the value "" cannot be selected.
func SelectField(name, label, value, emptyValueText string, values []string) g.Node {
	option := func(v, text string) g.Node {
		return h.Option(h.Value(v), g.If(v == value, h.Selected()), h.Text(VisibleText(text)))
	}
	return h.Label(h.Class("field"), h.Span(h.Text(label)), h.Select(
		h.Name(name),
		g.If(
			emptyValueText != "",
			option("", emptyValueText),
		),
		g.Map(values, func(v string) g.Node { return option(v, v) }),
	))
}

// QueryForm is a form that opens the page at path. Its fields become the query of the page.
func QueryForm(path, button string, fields ...g.Node) g.Node {
	return h.Form(h.Class("ask"), h.Action(RootPath+path), g.Group(fields), h.Button(h.Text(button)))
}

// KeyHints lists keyboard commands. keysAndEffects alternates between a key and the key's effect.
func KeyHints(keysAndEffects ...string) g.Node {
	var out []g.Node
	for i := 0; i+1 < len(keysAndEffects); i += 2 {
		out = append(out, h.Kbd(h.Text(keysAndEffects[i])), h.Text(" "+keysAndEffects[i+1]+"  "))
	}
	return h.P(h.Class("hint keys"), h.Text("Keys: "), g.Group(out))
}

// SessionPath returns the path of a session's page, relative to [RootPath]. If turn is not 0, the path leads to this
// turn.
func SessionPath(client, session string, turn int) string {
	s := "sessions/" + url.PathEscape(client) + "/" + url.PathEscape(session)
	if turn > 0 {
		s += "?turn=" + strconv.Itoa(turn) + "#turn-" + strconv.Itoa(turn)
	}
	return s
}

// TurnPath returns the path of a turn's page. name is the name that the turn has in search results. If name is not
// valid, TurnPath returns "".
func TurnPath(name string) string {
	at := strings.LastIndexByte(name, '/')
	if at < 0 {
		return ""
	}
	n, err := strconv.Atoi(name[at+1:])
	parts := strings.Split(name[:at], "/")
	if err != nil || len(parts) < 2 {
		return ""
	}
	return SessionPath(parts[len(parts)-2], parts[len(parts)-1], n)
}

// NameValueList lists names with their values. pairs alternates between a name and a value.
func NameValueList(pairs ...string) g.Node {
	var out []g.Node
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			out = append(out, h.Dt(h.Text(pairs[i])), h.Dd(IsolatedText(pairs[i+1])))
		}
	}
	return h.Dl(h.Class("facts"), g.Group(out))
}
