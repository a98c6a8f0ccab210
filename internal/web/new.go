// This file implements the form that adds an entry.

package web

import (
	"net/http"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func newEntryPage(c *pageRequest) (pageReply, error) {
	return c.newEntryFormPage(c.formValue("name"), formValues{"project": c.formValue("project")}, 0), nil
}

func (c *pageRequest) newEntryFormPage(name string, t formValues, status int, notices ...g.Node) pageWithNavigation {
	return pageWithNavigation{title: "Remember something", navPath: "find", status: status,
		descriptionLine: h.P(
			h.Class("lead"),
			h.Text("Write one fact, rule or decision, as you would tell a new colleague."),
		),
		bodyNodes: append(notices, h.Form(h.Method("post"), h.Class("stack edit"), h.Action(page.RootPath+
			"new"), h.Attr("data-guard", ""),
			h.Label(h.For("name"), h.Text("Name")),
			h.Input(
				h.ID("name"),
				h.Name("name"),
				h.Value(name),
				h.AutoComplete("off"),
				h.Aria("describedby", "name-hint"),
			),
			h.P(
				h.Class("hint"),
				h.ID("name-hint"),
				h.Text("Short and unique. If you leave it empty, the first line of the text becomes the name."),
			),
			t.inputElements(), h.Div(h.Class("actions"), h.Button(h.Class("main"), h.Text("Remember"))))),
	}
}

func addEntry(c *pageRequest) (pageReply, error) {
	name, t := c.formValue("name"), c.readForm()
	again := func(err error) (pageReply, error) {
		return c.newEntryFormPage(name, t, errorPage(err).status, errorNotice(err)), nil
	}
	if name != "" {
		e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true, WithoutSimilarNames: true})
		if err == nil && e.Name == name {
			return c.newEntryFormPage(
				name,
				t,
				http.StatusConflict,
				h.Div(
					h.Class("notice error"),
					h.Role("alert"),
					h.P(
						h.Text("An entry with this name exists: "),
						page.EntryLink(e.Name),
						h.Text(". Choose another name, or edit that entry."),
					),
				),
			), nil
		}
	}
	in := verb.RememberIn{Name: name}
	if err := t.setRememberArgs(&in, formValues{}); err != nil {
		return again(err)
	}
	in.PartsToClear = nil
	out, err := verb.Remember(c.ctx, c.workspace, in)
	if err != nil {
		return again(err)
	}
	return redirectToSavedEntry(out), nil
}
