// This file changes many entries at once: the entries that a person has ticked in a list, or all entries in the list.

package web

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// selection returns the entries that the form selects. If the field "all" is set, these are all entries that match the
// form's query, otherwise the ticked entries. If no entry is ticked, selection returns an error.
func (c *call) selection() (in labels.EditLabelsIn, err error) {
	_ = c.value("name") // reads the form
	if c.value("all") != "" {
		if q := c.value("q"); q != "" {
			in.Where = []string{q}
		}
		in.All = in.Where == nil
		return in, nil
	}
	in.Names = c.r.PostForm["name"]
	if len(in.Names) == 0 {
		err = &oxbow.InvalidError{
			Field:  "selection",
			Reason: "is empty; go back, and select entries",
		}
	}
	return in, err
}

// mostForgotten is the maximum number of entries that one form forgets.
const mostForgotten = 500

// selectedNames returns the names of the entries that the form selects, at most mostForgotten.
func (c *call) selectedNames() ([]string, error) {
	in, err := c.selection()
	if err != nil || in.Names != nil {
		return in.Names, err
	}
	limit := mostForgotten
	list, err := verb.List(c.ctx, c.work, verb.ListIn{Filter: c.value("q"), Limit: &limit})
	if err != nil {
		return nil, err
	}
	if list.Total > mostForgotten {
		return nil, &oxbow.InvalidError{
			Field: "selection",
			Reason: "has " + page.Plural(
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

func labelTicked(c *call) (reply, error) {
	in, err := c.selection()
	if err != nil {
		return nil, err
	}
	turn := labels.AddLabels
	if c.value("off") != "" {
		turn = labels.RemoveLabels
	}
	in.Labels = []string{c.value("label")}
	out, err := turn(c.ctx, c.work, in)
	if err != nil {
		return nil, err
	}
	if len(out.Entries) == 0 {
		return redirect{
			to:   c.returnPath(),
			said: "Nothing was changed: the entries already had this label, or never had it.",
		}, nil
	}
	return redirect{to: c.returnPath(), change: out.Seq}, nil
}

func forgetTicked(c *call) (reply, error) {
	names, err := c.selectedNames()
	if err != nil {
		return nil, err
	}
	to, err := c.forgetAll(names)
	to.to = c.returnPath()
	return to, err
}

// forgetAll forgets entries and returns a redirect that names the changes. It fails only if
// nothing was forgotten.
func (c *call) forgetAll(names []string) (to redirect, err error) {
	for _, name := range names {
		out, err := verb.Forget(c.ctx, c.work, verb.ForgetIn{Name: name})
		hasForgotten := to.change != 0 || len(to.others) > 0
		if err != nil && !hasForgotten {
			return to, err
		}
		if err != nil { // also show the entries that were forgotten before the error, so that they can be restored
			to.said += page.Sentence(err.Error()) + " "
			continue
		}
		if to.change != 0 {
			to.others = append(to.others, to.change)
		}
		to.change = out.Seq
	}
	return to, nil
}
