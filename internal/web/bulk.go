// Changes of many entries at once, those that a person has ticked in a list.

package web

import (
	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// ticked are the names that a form gives.
func (c *call) ticked() ([]string, error) {
	_ = c.value("name") // reads the form
	names := c.r.PostForm["name"]
	if len(names) == 0 {
		return nil, &oxbow.InvalidError{Field: "selection", Reason: "is empty; go back, and tick the entries that are meant"}
	}
	return names, nil
}

func labelTicked(c *call) (reply, error) {
	names, err := c.ticked()
	if err != nil {
		return nil, err
	}
	turn := verb.AddLabels
	if c.value("off") != "" {
		turn = verb.RemoveLabels
	}
	out, err := turn(c.ctx, c.work, verb.EditLabelsIn{Labels: []string{c.value("label")}, Names: names})
	if err != nil {
		return nil, err
	}
	if len(out.Entries) == 0 {
		return redirect{to: c.back(), said: "They were like that already."}, nil
	}
	return redirect{to: c.back(), change: out.Seq}, nil
}

func forgetTicked(c *call) (reply, error) {
	names, err := c.ticked()
	if err != nil {
		return nil, err
	}
	to := redirect{to: c.back()}
	for _, name := range names {
		out, err := verb.Forget(c.ctx, c.work, verb.ForgetIn{Name: name})
		if err != nil && to.change == 0 && len(to.others) == 0 {
			return nil, err
		}
		if err != nil { // what was forgotten until then is shown with its undo
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
