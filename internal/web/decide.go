// Approve and pin: one word of a person about an entry.

package web

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
	"github.com/oxbow-memory/oxbow/web/page"
)

func approve(c *call) (reply, error) {
	name := c.name()
	if base := c.base(); base != nil { // what a person approves is what the page showed
		e, err := tool.Get(c.ctx, c.work, tool.GetIn{Name: name, Bare: true})
		if err == nil && e.Version != *base {
			err = &oxbow.ConflictError{Name: e.Name, Want: *base, Have: e.Version}
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := tool.Approve(c.ctx, c.work, tool.ApproveIn{Names: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirect{to: page.EntryPath(name), change: out.Seq}, nil
}

// pinned is the label of entries that contexts show first.
const pinned = "pinned:true"

func isPinned(e tool.Entry) bool { return slices.Contains(e.Labels["pinned"], "true") }

func pin(c *call) (reply, error) {
	name := c.name()
	turn := tool.AddLabels
	if c.value("off") != "" {
		turn = tool.RemoveLabels
	}
	out, err := turn(c.ctx, c.work, tool.EditLabelsIn{Labels: []string{pinned}, Names: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirect{to: page.EntryPath(name), change: out.Seq, said: map[bool]string{true: "Nothing was changed."}[out.Seq == 0]}, nil
}
