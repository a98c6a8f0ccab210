// This file shows a form again with the text that the person typed, if the text could not be saved.

package web

import (
	"net/http"
	"strings"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// typedTextSection returns a section with the texts that were entered in a form, so that a person can copy them from an
// error page. It returns nil if the request is not a POST request, or if its field "content" is blank.
func typedTextSection(r *http.Request) g.Node {
	if r.Method != http.MethodPost || strings.TrimSpace(r.PostFormValue("content")) == "" {
		return nil
	}
	fields := []struct{ name, label string }{{"name", "Name"}, {"content", "Text"}}
	for _, p := range formFields {
		fields = append(fields, struct{ name, label string }{p.name, p.label})
	}
	var shown g.Group
	for _, f := range fields {
		value := strings.ReplaceAll(r.PostFormValue(f.name), "\r\n", "\n")
		if strings.TrimSpace(value) == "" {
			continue
		}
		rows := 2
		if f.name == "content" {
			rows = 16
		}
		shown = append(
			shown,
			h.Label(h.For(strings.ReplaceAll(f.name, "_", "-")), h.Text(f.label)),
			textArea(f.name, value, rows, h.Attr("readonly", "")),
		)
	}
	return page.Section("typed", "Your text, which was not saved", h.Div(h.Class("stack edit"), shown))
}
