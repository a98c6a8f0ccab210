// Problems: what a check finds wrong with a memory.

package verb

import "github.com/oxbow-memory/oxbow"

// Problem is what is wrong with a memory.
type Problem struct {
	Offset int64  `json:"offset"` // -1 when it is not about one byte
	What   string `json:"what"`
	Mend   string `json:"mend,omitempty"`
}

func ProblemsOf(r oxbow.CheckReport) []Problem {
	var ps []Problem
	for _, p := range r.Problems {
		ps = append(ps, Problem{p.Offset, p.What, p.Mend})
	}
	return ps
}
