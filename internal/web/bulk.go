// This file changes many entries at once: the ones that a person has ticked in a list.

package web

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// tickedNames returns the entry names that the form contains. It fails if there are none.
func (c *call) tickedNames() ([]string, error) {
	_ = c.value("name") // reads the form
	names := c.r.PostForm["name"]
	if len(names) == 0 {
		return nil, &oxbow.InvalidError{
			Field:  "selection",
			Reason: "is empty; go back, and tick the entries that are meant",
		}
	}
	return names, nil
}

func labelTicked(c *call) (reply, error) {
	names, err := c.tickedNames()
	if err != nil {
		return nil, err
	}
	turn := labels.AddLabels
	if c.value("off") != "" {
		turn = labels.RemoveLabels
	}
	out, err := turn(c.ctx, c.work, labels.EditLabelsIn{Labels: []string{c.value("label")}, Names: names})
	if err != nil {
		return nil, err
	}
	if len(out.Entries) == 0 {
		return redirect{to: c.returnPath(), said: "They were like that already."}, nil
	}
	return redirect{to: c.returnPath(), change: out.Seq}, nil
}

func forgetTicked(c *call) (reply, error) {
	names, err := c.tickedNames()
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
		if err != nil && to.change == 0 && len(to.others) == 0 {
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
