// This file finds the session with a given name in the archive.

package verb

import (
	"context"
	"fmt"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// FindSession returns the session to which a name belongs. The name may be abbreviated. It fails if no session, or
// several sessions, have the name.
func FindSession(ctx context.Context, a *session.Archive, name string) (session.Summary, error) {
	found, err := a.FindSessions(ctx, strings.TrimSpace(name))
	switch {
	case err != nil:
		return session.Summary{}, err
	case len(found) == 0:
		return session.Summary{}, Advise(
			&oxbow.NameError{Name: name, Err: ErrNoSession},
			"oxbow session list shows which there are",
		)
	case len(found) > 1:
		return session.Summary{}, Advise(
			InvalidValue("session", name, fmt.Sprintf("means %s, such as %s/%s and %s/%s",
				text.FormatCount(len(found), "session", "sessions"), found[0].Client, found[0].Session, found[1].Client,
				found[1].Session)),
			"write more of it, or CLIENT/SESSION",
		)
	}
	return found[0], nil
}

// noSessionError is the type of [ErrNoSession].
type noSessionError struct{}

func (noSessionError) Error() string { return "session not found" }

func (noSessionError) Is(target error) bool { return target == oxbow.ErrNotFound }

// ErrNoSession means that no session has the given name. It matches [oxbow.ErrNotFound].
var ErrNoSession error = noSessionError{}
