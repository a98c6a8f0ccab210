// This file undoes the changes that a form names.

package web

import (
	"strconv"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

func undoChanges(c *pageRequest) (pageReply, error) {
	_ = c.formValue("seq") // parse the form
	var seqs []uint64
	for _, s := range c.r.PostForm["seq"] {
		seq, err := parseChangeNumber(s)
		if err != nil {
			return nil, err
		}
		seqs = append(seqs, seq)
	}
	if seqs == nil {
		return nil, &oxbow.InvalidError{Field: "seq", Reason: "is missing; choose a change"}
	}
	out, err := verb.Undo(c.ctx, c.workspace, verb.UndoIn{Seqs: seqs})
	if err != nil {
		return nil, err
	}
	return redirectReply{path: c.returnPath(), changeNumber: out.Seq}, nil
}

func parseChangeNumber(s string) (uint64, error) {
	seq, err := strconv.ParseUint(s, 10, 64)
	if err != nil || seq == 0 {
		return 0, &oxbow.InvalidError{Field: "seq", Value: s, Reason: "is not the number of a change"}
	}
	return seq, nil
}
