// This file approves entries and pins them.

package web

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

func approve(c *call) (reply, error) {
	name := c.name()
	if base := c.base(); base != nil { // approve only the version that the page showed
		e, err := verb.Get(c.ctx, c.work, verb.GetIn{Name: name, Bare: true})
		if err == nil && e.Version != *base {
			err = &oxbow.ConflictError{Name: e.Name, Want: *base, Have: e.Version}
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := labels.Approve(c.ctx, c.work, labels.ApproveIn{Names: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirect{to: page.EntryPath(name), change: out.Seq}, nil
}

// pinned is the label of entries that come first in contexts.
const pinned = "pinned:true"

func isPinned(e verb.Entry) bool { return slices.Contains(e.Labels["pinned"], "true") }

func pin(c *call) (reply, error) {
	name := c.name()
	turn := labels.AddLabels
	if c.value("off") != "" {
		turn = labels.RemoveLabels
	}
	out, err := turn(c.ctx, c.work, labels.EditLabelsIn{Labels: []string{pinned}, Names: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirect{
		to:     page.EntryPath(name),
		change: out.Seq,
		said:   map[bool]string{true: "Nothing was changed."}[out.Seq == 0],
	}, nil
}
