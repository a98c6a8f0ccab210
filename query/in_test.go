// This file tests which memory a query names.

package query

import "testing"

func TestCutIn(t *testing.T) {
	for _, c := range []struct{ query, memory, rest string }{
		{"crane repair", "", "crane repair"},
		{"  crane  repair ", "", "  crane  repair "},
		{"crane in:sessions repair", InSessions, "crane repair"},
		{"in:notes", InNotes, ""},
		{"in:both crane", inBoth, "crane"},
		{"in:notes crane in:sessions", InSessions, "crane"},
		{`"look in:sessions first"`, "", `"look in:sessions first"`},
		{`"look in:sessions first" in:notes`, InNotes, `"look in:sessions first"`},
		{`tag:"in:notes" crane`, "", `tag:"in:notes" crane`},
		{"in:session crane", "", "in:session crane"},
		{"in: crane", "", "in: crane"},
		{`"in:notes" crane`, "", `"in:notes" crane`},
		{`open " in:notes`, InNotes, `open "`},
	} {
		if memory, rest := CutIn(c.query); memory != c.memory || rest != c.rest {
			t.Errorf("CutIn(%q) = %q, %q, want %q, %q", c.query, memory, rest, c.memory, c.rest)
		}
	}
}
