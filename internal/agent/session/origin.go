// This file finds the session that changed the notes.

package session

import (
	"context"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// SourceRef returns a reference to the caller, which is stored in the source of each change that the caller makes. If
// the client reports the session, the reference names the session. Otherwise it contains the call ID, by which the
// archive finds the session. SourceRef returns "" if both are unknown.
func (c *Caller) SourceRef() string {
	switch {
	case c.Session != "":
		return oxbow.RefSession + c.Client + "/" + c.Session
	case c.Call != "":
		return oxbow.RefCall + c.Call
	}
	return ""
}

// HasSessionOrCall reports whether the source of a change refers to a session or a call.
func HasSessionOrCall(s oxbow.Source) bool {
	caller, _ := s.SplitRef()
	return caller != ""
}

// SessionOfSource returns the session to which the source of a change refers, as CLIENT/SESSION. It returns "" if the
// source refers to no session.
func SessionOfSource(s oxbow.Source) string {
	caller, _ := s.SplitRef()
	name, ok := strings.CutPrefix(caller, oxbow.RefSession)
	if !ok {
		return ""
	}
	return name
}

// SessionMatcher recognizes the changes that one session made.
type SessionMatcher struct {
	sessionName  string          // the session, as CLIENT/SESSION
	toolCallRefs map[string]bool // set of all calls in the session, in the form in which a change's source names a call
}

// MatcherForSession returns a matcher that recognizes the changes of the memory that an archived session made.
func (a *Archive) MatcherForSession(ctx context.Context, client, session string) (SessionMatcher, error) {
	o := SessionMatcher{client + "/" + session, map[string]bool{}}
	turns, err := a.ReadTurns(ctx, client, session)
	for i := range turns {
		for _, e := range turns[i].Events {
			if e.Kind == KindToolCall && e.ID != "" {
				o.toolCallRefs[oxbow.RefCall+e.ID] = true
			}
		}
	}
	return o, err
}

// MadeChange reports whether the session made the change that has this source.
func (o SessionMatcher) MadeChange(s oxbow.Source) bool {
	caller, _ := s.SplitRef()
	return caller != "" && (o.toolCallRefs[caller] || SessionOfSource(s) == o.sessionName)
}

// HasTurn reports whether an entry name belongs to a turn of the session.
func (o SessionMatcher) HasTurn(turn string) bool {
	return o.sessionName != "" && strings.HasPrefix(turn, o.sessionName+"/")
}
