// This file defines the problems that a check of a memory reports.

package verb

import "github.com/oxbow-memory/oxbow"

// Problem describes damage to a memory.
type Problem struct {
	// offset of the damaged byte in the memory's file, or -1 if the damage has no offset
	Offset      int64  `json:"offset"`
	Description string `json:"what"`
	Mend        string `json:"mend,omitempty"`
}

func ProblemsOfCheck(r oxbow.CheckReport) []Problem {
	var ps []Problem
	for _, p := range r.Problems {
		ps = append(ps, Problem{p.Offset, p.What, p.Mend})
	}
	return ps
}
