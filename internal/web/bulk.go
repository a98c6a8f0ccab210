// This file changes many entries at once: the entries that a person has ticked in a list, or all entries in the list.

package web

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// selectedEntries returns the entries that the form selects. If the field "all" is set, these are all entries that
// match the form's query, otherwise the ticked entries. If no entry is ticked, selectedEntries returns an error.
func (c *pageRequest) selectedEntries() (in labels.EditLabelsIn, err error) {
	_ = c.formValue("name") // Calling formValue parses the form, which fills c.r.PostForm.
	if c.formValue("all") != "" {
		if q := c.formValue("q"); q != "" {
			in.Filters = []string{q}
		}
		in.AllEntries = in.Filters == nil
		return in, nil
	}
	in.EntryNames = c.r.PostForm["name"]
	if len(in.EntryNames) == 0 {
		err = &oxbow.InvalidError{
			Field:  "selection",
			Reason: "is empty; go back, and select entries",
		}
	}
	return in, err
}

// maxForgottenEntries is the maximum number of entries that a form can forget at once.
const maxForgottenEntries = 500

// selectedEntryNames returns the names of the entries that the form selects. If the form selects all entries of a
// query, and there are more than maxForgottenEntries, selectedEntryNames returns an error.
func (c *pageRequest) selectedEntryNames() ([]string, error) {
	in, err := c.selectedEntries()
	if err != nil || in.EntryNames != nil {
		return in.EntryNames, err
	}
	limit := maxForgottenEntries
	list, err := verb.ListEntries(c.ctx, c.workspace, verb.ListIn{Filter: c.formValue("q"), Limit: &limit})
	if err != nil {
		return nil, err
	}
	if list.Total > maxForgottenEntries {
		return nil, &oxbow.InvalidError{
			Field: "selection",
			Reason: "has " + page.CountWithNoun(
				list.Total,
				"entry",
			) + ", which is too many to forget at once; narrow it down",
		}
	}
	var names []string
	for _, e := range list.Entries {
		names = append(names, e.Name)
	}
	return names, nil
}

func labelTickedEntries(c *pageRequest) (pageReply, error) {
	in, err := c.selectedEntries()
	if err != nil {
		return nil, err
	}
	turn := labels.AddLabels
	if c.formValue("off") != "" {
		turn = labels.RemoveLabels
	}
	in.Labels = []string{c.formValue("label")}
	out, err := turn(c.ctx, c.workspace, in)
	if err != nil {
		return nil, err
	}
	if len(out.Entries) == 0 {
		return redirectReply{
			path:    c.returnPath(),
			message: "Nothing was changed: the entries already had this label, or never had it.",
		}, nil
	}
	return redirectReply{path: c.returnPath(), changeNumber: out.Seq}, nil
}

func forgetTickedEntries(c *pageRequest) (pageReply, error) {
	names, err := c.selectedEntryNames()
	if err != nil {
		return nil, err
	}
	to, err := c.forgetEntries(names)
	to.path = c.returnPath()
	return to, err
}

// forgetEntries forgets the entries with the given names. It returns a redirect to a page that shows the changes. If an
// entry cannot be forgotten, there are two cases. If no entry was forgotten before, forgetEntries stops and returns the
// error. Otherwise it adds the error to the message on the page, and continues with the next entry.
func (c *pageRequest) forgetEntries(names []string) (redirect redirectReply, err error) {
	for _, name := range names {
		out, err := verb.Forget(c.ctx, c.workspace, verb.ForgetIn{Name: name})
		hasForgotten := redirect.changeNumber != 0 || len(redirect.earlierChanges) > 0
		if err != nil && !hasForgotten {
			return redirect, err
		}
		// Continue after this error, so that the page lists the entries that were forgotten before the error. The
		// person can then restore them.
		if err != nil {
			redirect.message += page.MakeSentence(err.Error()) + " "
			continue
		}
		if redirect.changeNumber != 0 {
			redirect.earlierChanges = append(redirect.earlierChanges, redirect.changeNumber)
		}
		redirect.changeNumber = out.Seq
	}
	return redirect, nil
}
