// This file implements the page that edits an entry. The form contains the entry's version number at the time when the
// page was loaded. The sent form replaces the entry only if the entry still has this version. If somebody else has
// changed the entry in the meantime, a page shows both texts.

package web

import (
	"errors"
	"net/http"

	g "maragu.dev/gomponents"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/diff"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
	h "github.com/oxbow-memory/oxbow/internal/web/tag"
)

func editPage(c *pageRequest) (pageReply, error) {
	e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: c.entryNameFromPath(), ContentOnly: true})
	if err != nil {
		return nil, err
	}
	return c.editFormPage(e.Entry, entryFormValues(e.Entry), "Save", 0), nil
}

// editFormPage returns the page with the form that edits an entry. e is the version of the entry that the form edits,
// and t contains the values of the form's fields. The argument savePath is the text of the button that saves. The
// notices are shown above the form. status is the HTTP status of the page, or 0 for 200.
func (c *pageRequest) editFormPage(
	e verb.Entry,
	t formValues,
	savePath string,
	status int,
	notices ...g.Node,
) pageWithNavigation {
	at := page.EntryPath(e.Name)
	return pageWithNavigation{
		title:           "Edit",
		navPath:         "find",
		status:          status,
		descriptionLine: h.P(h.Class("lead"), page.EntryLink(e.Name)),
		bodyNodes: append(notices,
			h.Form(h.Method("post"), h.Class("stack edit"), h.Action(page.RootPath+at+
				"/edit"), h.Attr("data-guard", ""), page.HiddenFields("version",
				formatEntryVersion(e)), t.inputElements(),
				h.Div(
					h.Class("actions"),
					h.Button(h.Class("main"), h.Text(savePath)),
					h.A(h.Class("button"), h.Href(page.RootPath+at), h.Text("Cancel")),
				))),
	}
}

func saveEdit(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	t := c.readForm()
	base := c.formEntryVersion()
	if base == nil {
		return nil, &oxbow.InvalidError{Field: "version", Value: c.formValue("version"), Reason: "is not a version"}
	}
	now, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
	if errors.Is(err, oxbow.ErrNotFound) {
		return c.newEntryFormPage(
			name,
			t,
			http.StatusConflict,
			page.Notice(
				"warn",
				"The entry was forgotten while you were writing. Save your text as a new entry, or leave the page.",
				"",
			),
		), nil
	}
	if err != nil {
		return nil, err
	}
	if now.Version != *base {
		return c.conflictPage(now.Entry, t, *base), nil
	}
	in := verb.RememberIn{Name: now.Name, IfVersion: base}
	err = t.setRememberArgs(&in, entryFormValues(now.Entry))
	isEmptied := in.Content == "" && t["content"] == "" && *now.Content != ""
	if err == nil && isEmptied {
		err = &oxbow.InvalidError{Field: "content", Reason: "is empty; to remove the entry, forget it"}
	}
	if err != nil {
		return c.editFormPage(now.Entry, t, "Save", http.StatusBadRequest, errorNotice(err)), nil
	}
	// The person has changed only labels or aliases. verb.Remember would keep the old text if the content is empty, but
	// pass the old text, so that the result does not depend on this.
	if in.Content == "" {
		in.Content = *now.Content
	}
	out, err := verb.Remember(c.ctx, c.workspace, in)
	var conflict *oxbow.ConflictError
	switch {
	case errors.As(err, &conflict):
		now, err = verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
		if err == nil {
			return c.conflictPage(now.Entry, t, *base), nil
		}
	case err != nil:
		shown := errorPage(err)
		return c.editFormPage(now.Entry, t, "Save", shown.status, errorNotice(err)), nil
	}
	return redirectToSavedEntry(out), err
}

// conflictPage returns the page that is shown if somebody else changed an entry while a person edited it. The argument
// current is the stored entry, typedValues contains what the person typed, and baseVersion is the version that the
// person edited.
//
// The page shows the stored text, and its differences from the person's text. If both changes can be merged, it also
// shows the merged text with a button that saves it. The form contains the person's text. If the person sends the form,
// this text replaces the stored text, unless the entry was changed once more.
func (c *pageRequest) conflictPage(current verb.Entry, typedValues formValues, baseVersion uint64) pageWithNavigation {
	mine, theirs := typedValues, entryFormValues(current)
	was, gone, err := c.entryContentAt(current.Name, baseVersion)
	var both string
	merged := false
	if err == nil && !gone {
		from := entryFormValues(verb.Entry{Content: &was.text, Aliases: was.aliases, Labels: was.labels})
		mine = typedValues.updateUneditedFields(from, theirs)
		both, merged = diff.MergeLines(from["content"], mine["content"], theirs["content"])
	}
	above := []g.Node{h.Div(h.Class("notice warn"), h.Role("alert"), h.P(
		h.Strong(h.Text("The entry has changed. ")),
		h.Text(c.pageViewer().WriterName(current.Source)+" changed this entry while you were writing ("),
		page.RelativeTime(
			c.now,
			page.ParseTime(current.Updated),
		),
		h.Text("). Nothing is lost: both texts are below."),
	))}
	if d := page.TextDiff(theirs["content"], mine["content"]); d != nil {
		above = append(above, page.Section("difference", "Difference between the stored text and yours", d))
	} else {
		above = append(above, h.P(h.Text("Your text equals the stored text.")))
	}
	above = append(above, page.Section("now", "The stored text", page.PlainText(*current.Content)))
	differs := both != mine["content"] && both != theirs["content"]
	if merged && differs {
		above = append(above, page.Section("both", "Both changes together", page.PlainText(both),
			h.Form(h.Method("post"), h.Class("actions"), h.Action(page.RootPath+page.EntryPath(current.Name)+
				"/edit"), page.HiddenFields("version", formatEntryVersion(current)),
				g.Map(formFields, func(p formField) g.Node {
					return page.HiddenFields(p.name, mine[p.name])
				}), page.HiddenFields("content", both),
				h.Button(h.Text("Save both")))))
	}
	return c.editFormPage(
		current,
		mine,
		"Replace it by my text",
		http.StatusConflict,
		append(above, h.H2(h.Text("Your text")))...,
	)
}
