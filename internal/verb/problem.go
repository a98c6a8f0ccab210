// This file defines the problems that a check finds in a memory.

package verb

import "github.com/oxbow-memory/oxbow"

// Problem is a problem of a memory.
type Problem struct {
	Offset      int64  `json:"offset"` // offset of the wrong byte, or -1
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
