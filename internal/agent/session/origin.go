// How a change of the notes is joined to the client's session that made it.

package session

import (
	"context"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// Ref returns what the source of a change holds of the caller: the session where the
// client names it, else the call, which the archive has; "" for neither.
func (c *Caller) Ref() string {
	switch {
	case c.Session != "":
		return oxbow.RefSession + c.Client + "/" + c.Session
	case c.Call != "":
		return oxbow.RefCall + c.Call
	}
	return ""
}

// IsCaller reports whether the source of a change says, in its Ref, of which session
// or call it is.
func IsCaller(s oxbow.Source) bool {
	caller, _ := s.SplitRef()
	return caller != ""
}

// SessionOf returns the session that the source of a change names, as CLIENT/SESSION;
// "" where it names none.
func SessionOf(s oxbow.Source) string {
	caller, _ := s.SplitRef()
	name, ok := strings.CutPrefix(caller, oxbow.RefSession)
	if !ok {
		return ""
	}
	return name
}

// Origin finds which changes of the notes a session has made.
type Origin struct {
	name  string          // CLIENT/SESSION
	calls map[string]bool // by refs
}

// Origin returns the origin of a session in the archive.
func (a *Archive) Origin(ctx context.Context, client, session string) (Origin, error) {
	o := Origin{client + "/" + session, map[string]bool{}}
	turns, err := a.Turns(ctx, client, session)
	for i := range turns {
		for _, e := range turns[i].Events {
			if e.Kind == Called && e.ID != "" {
				o.calls[oxbow.RefCall+e.ID] = true
			}
		}
	}
	return o, err
}

// Made reports whether a change of that source is of the session.
func (o Origin) Made(s oxbow.Source) bool {
	caller, _ := s.SplitRef()
	return caller != "" && (o.calls[caller] || SessionOf(s) == o.name)
}

// Said reports whether that is the name of a turn of the session.
func (o Origin) Said(turn string) bool {
	return o.name != "" && strings.HasPrefix(turn, o.name+"/")
}
