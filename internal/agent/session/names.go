// Names that other rooms look entries of the archive up by.

package session

import "github.com/oxbow-memory/oxbow"

// SessionFilter selects the entries of an archive that sum sessions up, each a
// [Summary] as JSON.
var SessionFilter = oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{summaryLabel}}}}

// Name returns the name of the turn's entry.
func (t *Turn) Name() string { return talk{t.Client, t.Session}.turn(t.N) }
