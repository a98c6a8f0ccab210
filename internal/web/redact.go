// This file implements the page that erases an entry and its whole history. Before that, it lists what will be erased.

package web

import (
	"fmt"
	"net/http"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

// refusalForNonPerson returns an error page unless the request is from a person who may write and who sees the whole
// memory. For a request from such a person, it returns nil.
func (c *pageRequest) refusalForNonPerson() pageReply {
	if c.canDecideAsPerson() {
		return nil
	}
	return pageWithNavigation{
		title:   "That did not work",
		navPath: "-",
		status:  http.StatusForbidden,
		bodyNodes: []g.Node{
			page.Notice(
				"error",
				"This needs a person with access to the whole memory.",
				"Run oxbow ui without --project, --kind and --ro.",
			)},
	}
}

func redactPage(c *pageRequest) (pageReply, error) {
	if no := c.refusalForNonPerson(); no != nil {
		return no, nil
	}
	name := c.entryNameFromPath()
	out, err := maintenance.Redact(c.ctx, c.workspace, maintenance.RedactIn{Name: name, DryRun: true})
	if err != nil {
		return nil, err
	}
	return pageWithNavigation{
		title:           "Erase for good?",
		navPath:         "find",
		descriptionLine: h.P(h.Class("lead"), page.IsolatedText(name)),
		bodyNodes: []g.Node{
			page.Notice(
				"error",
				"You cannot undo this. The memory's file is rewritten without any version of the text. If you "+
					"only want to remove the entry, use Forget, "+
					"which you can undo.",
				"",
			),
			h.P(h.Text(page.CountWithNoun(out.Versions, "version") + " would be erased.")),
			unerasableCopiesList(out.PlacesWithErasedText),
			h.Form(h.Method("post"), h.Class("actions"), h.Action(page.RootPath+page.EntryPath(name)+"/redact"),
				h.Button(h.Class("danger"), h.Text("Erase for good")),
				h.A(h.Class("button"), h.Href(page.RootPath+page.EntryPath(name)), h.Text("Keep it"))),
		},
	}, nil
}

func redactEntry(c *pageRequest) (pageReply, error) {
	if no := c.refusalForNonPerson(); no != nil {
		return no, nil
	}
	out, err := maintenance.Redact(c.ctx, c.workspace, maintenance.RedactIn{Name: c.entryNameFromPath()})
	if err != nil {
		return nil, err
	}
	return pageWithNavigation{title: "Erased for good", navPath: "find", bodyNodes: []g.Node{
		h.P(
			h.Class("done"),
			h.Role("status"),
			h.Text(
				fmt.Sprintf(
					"%s of %q erased.",
					page.CountWithNoun(out.Versions, "version"),
					page.VisibleText(out.Name),
				),
			),
		),
		unerasableCopiesList(out.PlacesWithErasedText), h.P(h.A(h.Href(page.RootPath), h.Text("Back to Today"))),
	}}, nil
}

// unerasableCopiesList lists the places from which the text cannot be erased.
func unerasableCopiesList(copyPlaces []string) g.Node {
	if len(copyPlaces) == 0 {
		return nil
	}
	return page.Section(
		"left",
		"May still contain the text",
		h.Ul(h.Class("list"), g.Map(copyPlaces, func(s string) g.Node {
			return h.Li(page.IsolatedText(s))
		})),
	)
}
