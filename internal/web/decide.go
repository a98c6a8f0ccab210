// This file approves entries and pins them.

package web

import (
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

func approveEntry(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	if base := c.formEntryVersion(); base != nil { // approve only the version that the page has shown
		e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
		if err == nil && e.Version != *base {
			err = &oxbow.ConflictError{Name: e.Name, Want: *base, Have: e.Version}
		}
		if err != nil {
			return nil, err
		}
	}
	out, err := labels.ApproveEntries(c.ctx, c.workspace, labels.ApproveEntriesIn{EntryNames: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: page.EntryPath(name), changeNumber: out.Seq}, nil
}

// pinnedLabel is the label of entries that come first in contexts.
const pinnedLabel = "pinned:true"

func isPinned(e verb.Entry) bool { return slices.Contains(e.Labels["pinned"], "true") }

func pinEntry(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	turn := labels.AddLabels
	if c.formValue("off") != "" {
		turn = labels.RemoveLabels
	}
	out, err := turn(c.ctx, c.workspace, labels.EditLabelsIn{Labels: []string{pinnedLabel}, EntryNames: []string{name}})
	if err != nil {
		return nil, err
	}
	return redirectReply{
		path:         page.EntryPath(name),
		changeNumber: out.Seq,
		message:      map[bool]string{true: "Nothing was changed."}[out.Seq == 0],
	}, nil
}
