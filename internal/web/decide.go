// This file approves entries and pins them.

package web

import (
	"slices"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// approveEntry approves an entry. If the form contains the version that the page has shown, it approves only this
// version.
func approveEntry(c *pageRequest) (pageReply, error) {
	name := c.entryNameFromPath()
	in := labels.ApproveEntriesIn{EntryNames: []string{name}}
	if shown := c.formEntryVersion(); shown != nil {
		e, err := verb.Get(c.ctx, c.workspace, verb.GetIn{Name: name, ContentOnly: true})
		if err != nil {
			return nil, err
		}
		in.ShownVersions = map[string]uint64{e.Name: *shown}
	}
	out, err := labels.ApproveEntries(c.ctx, c.workspace, in)
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
