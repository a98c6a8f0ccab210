// This file finds the client's session that made a change of the notes.

package session

import (
	"context"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// SourceRef returns the caller's reference for the source of a change: the session if the client names
// it, otherwise the call ID, by which the archive finds the session. It returns "" if both are
// unknown.
func (c *Caller) SourceRef() string {
	switch {
	case c.Session != "":
		return oxbow.RefSession + c.Client + "/" + c.Session
	case c.Call != "":
		return oxbow.RefCall + c.Call
	}
	return ""
}

// HasCaller reports whether the SourceRef of a change's source names a session or a call.
func HasCaller(s oxbow.Source) bool {
	caller, _ := s.SplitRef()
	return caller != ""
}

// SourceSession returns the session that the source of a change names, as CLIENT/SESSION, or "" if the
// source names no session.
func SourceSession(s oxbow.Source) string {
	caller, _ := s.SplitRef()
	name, ok := strings.CutPrefix(caller, oxbow.RefSession)
	if !ok {
		return ""
	}
	return name
}

// SessionMatcher recognizes the changes that a session made.
type SessionMatcher struct {
	sessionName string          // CLIENT/SESSION
	callRefs    map[string]bool // references of the session's calls
}

// MatcherForSession returns a matcher for the changes of an archived session.
func (a *Archive) MatcherForSession(ctx context.Context, client, session string) (SessionMatcher, error) {
	o := SessionMatcher{client + "/" + session, map[string]bool{}}
	turns, err := a.ReadTurns(ctx, client, session)
	for i := range turns {
		for _, e := range turns[i].Events {
			if e.Kind == KindCall && e.ID != "" {
				o.callRefs[oxbow.RefCall+e.ID] = true
			}
		}
	}
	return o, err
}

// MadeChange reports whether the session made the change with this source.
func (o SessionMatcher) MadeChange(s oxbow.Source) bool {
	caller, _ := s.SplitRef()
	return caller != "" && (o.callRefs[caller] || SourceSession(s) == o.sessionName)
}

// HasTurn reports whether the name belongs to a turn of the session.
func (o SessionMatcher) HasTurn(turn string) bool {
	return o.sessionName != "" && strings.HasPrefix(turn, o.sessionName+"/")
}
