// Undo: takes a change back that a page tells of.

package web

import (
	"strconv"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
)

func undo(c *call) (reply, error) {
	seq, err := strconv.ParseUint(c.value("seq"), 10, 64)
	if err != nil || seq == 0 {
		return nil, &oxbow.InvalidError{Field: "seq", Value: c.value("seq"), Reason: "is no number of a change"}
	}
	out, err := tool.Undo(c.ctx, c.work, tool.UndoIn{Seq: []uint64{seq}})
	if err != nil {
		return nil, err
	}
	return redirect{to: c.back(), change: out.Seq}, nil
}
