// This file contains names and filters by which other packages find entries of the archive.

package session

import "github.com/oxbow-memory/oxbow"

// SessionFilter selects the entries that contain a session's summary. The content of each is a [Summary] in JSON.
var SessionFilter = oxbow.Filter{Terms: []oxbow.Term{{Key: "has", Values: []string{turnCountLabelKey}}}}

// EntryName returns the name of the turn's entry.
func (t *Turn) EntryName() string { return sessionKey{t.Client, t.Session}.turnName(t.Number) }
