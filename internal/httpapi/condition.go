// This file implements If-Match and If-None-Match: a change is made only to the version of
// an entry that the client has seen.

package httpapi

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
)

// entityTag returns the entity tag of an entry: the SHA-256 of the content that the caller may
// see, a dash, and the version. The version also changes with the labels.
func entityTag(ctx context.Context, e oxbow.Entry) string {
	verb.Withhold(ctx, &e)
	sum := sha256.Sum256([]byte(e.Content))
	return fmt.Sprintf(`"%x-%d"`, sum, e.Version)
}

// matchesTag reports whether a header with entity tags contains this tag or a star.
func matchesTag(header []string, tag string) bool {
	for _, h := range header {
		for s := range strings.SplitSeq(h, ",") {
			s = strings.TrimSpace(s)
			if s == "*" || s == tag {
				return true
			}
		}
	}
	return false
}

// maxTries is the maximum number of attempts for one request, if others keep changing the
// entry while the condition still holds, as for a star.
const maxTries = 50

// condition says in which versions of an entry a request may be carried out.
type condition struct {
	match, noneMatch []string // values of If-Match and If-None-Match
	// Without the entry, the request fails with "not found" rather than with a failed condition
	needsEntry bool
}

// requestCondition returns the condition of a request, or nil if it has none.
func requestCondition(r *http.Request, rt *route) (*condition, error) {
	c := &condition{
		match:      r.Header.Values("If-Match"),
		noneMatch:  r.Header.Values("If-None-Match"),
		needsEntry: rt.needsEntry,
	}
	if rt.needsEntry && len(c.match) == 0 {
		c.match = []string{"*"}
	}
	if !rt.isAboutEntry || rt.verb.ReadOnly {
		return nil, nil
	}
	if len(c.match) == 0 && len(c.noneMatch) == 0 {
		return nil, nil
	}
	if rt.method == http.MethodPost {
		return nil, refuse(
			http.StatusBadRequest,
			"invalid",
			"A value was refused",
			"If-Match and If-None-Match do not hold for "+rt.method+" "+base+rt.path,
			"leave them out",
		)
	}
	return c, nil
}

// callIf calls the verb if the condition holds for the entry.
func (o *room) callIf(ctx context.Context, rt *route, args *arguments, c *condition) (any, error) {
	for range maxTries {
		out, again, err := o.callAtVersion(ctx, rt, args, c)
		if !again {
			return out, err
		}
	}
	return nil, refuse(
		http.StatusServiceUnavailable,
		"busy",
		"Others are writing",
		"the entry changed all the time",
		"try again in a moment",
	)
}

// callAtVersion calls the verb for the version of the entry that met the condition, so that only the first of
// two requests with the same condition succeeds. again reports that somebody else has changed the entry in
// between. The caller then has to check the condition again.
func (o *room) callAtVersion(
	ctx context.Context,
	rt *route,
	args *arguments,
	c *condition,
) (out any, again bool, err error) {
	version, err := o.versionIfMet(ctx, args, c)
	if err != nil && args.value("op_id") != nil {
		// The condition may fail because an earlier request with the same key was executed
		// before the server restarted. The store then returns the result of that request.
		// For any other request, the version below does not exist, so nothing changes.
		if args.set("if_version", uint64(math.MaxUint64)) == nil {
			if out, rerr := rt.verb.Call(ctx, o.Workspace, args.list); rerr == nil {
				return out, false, nil
			}
		}
	}
	if err != nil {
		return nil, false, err
	}
	switch {
	case version == 0 && rt.method == http.MethodDelete:
		out, err = rt.verb.Call(ctx, o.Workspace, args.list)
		return out, false, err
	case version == 0:
		out, err = creator().Call(ctx, o.Workspace, args.list)
		return out, errors.Is(err, oxbow.ErrExists), err
	}
	if err := args.set("if_version", version); err != nil {
		return nil, false, err
	}
	out, err = rt.verb.Call(ctx, o.Workspace, args.list)
	return out, errors.Is(err, oxbow.ErrConflict), err
}

// creator returns the verb remember in the form that fails if the name is taken.
var creator = sync.OnceValue(func() verb.Verb {
	return verb.MakeVerb(verb.Verb{Name: "remember"}, verb.RememberNew)
})

// versionIfMet returns the version of the entry if it meets the condition, or 0 if the
// condition holds because there is no such entry. It replaces an alias in the arguments by
// the name of the entry.
func (o *room) versionIfMet(ctx context.Context, args *arguments, c *condition) (uint64, error) {
	name := plain(args.value("name"))
	m, err := o.memory(ctx)
	if err != nil {
		return 0, err
	}
	e, err := m.Get(ctx, name)
	missing := errors.Is(err, oxbow.ErrNotFound)
	switch {
	case missing && c.needsEntry && matchesTag(c.match, "*"):
		return 0, fmt.Errorf("changing %s: %w", quoteName(name), err)
	case missing && len(c.match) > 0:
		return 0, failedCondition(name, "")
	case missing:
		return 0, nil
	case err != nil:
		return 0, err
	}
	tag := entityTag(ctx, e)
	if !c.allowsTag(tag) {
		return 0, failedCondition(e.Name, tag)
	}
	return e.Version, args.set("name", e.Name)
}

// allowsTag reports whether an entry with the tag meets the condition.
func (c *condition) allowsTag(tag string) bool {
	if len(c.match) > 0 && !matchesTag(c.match, tag) {
		return false
	}
	return len(c.noneMatch) == 0 || !matchesTag(c.noneMatch, tag)
}
