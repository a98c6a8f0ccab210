// This file contains names by which other packages find entries of the archive.

package session

import "github.com/oxbow-memory/oxbow"

// SessionFilter selects the summary entries of an archive. Each contains a [Summary] as JSON.
var SessionFilter = oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{summaryLabel}}}}

// Name returns the name of the turn's entry.
func (t *Turn) Name() string { return talk{t.Client, t.Session}.turn(t.N) }
