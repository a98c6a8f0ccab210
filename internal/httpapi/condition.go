// This file implements the headers If-Match and If-None-Match, with which a client changes an entry only if it is
// still in the version that the client has read.

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

// entityTag returns an entry's ETag: the SHA-256 of the content that the caller may see, a dash, and the version. A
// change of labels also changes the version.
func entityTag(ctx context.Context, e oxbow.Entry) string {
	verb.WithholdQuarantinedText(ctx, &e)
	sum := sha256.Sum256([]byte(e.Content))
	return fmt.Sprintf(`"%x-%d"`, sum, e.Version)
}

// containsTag reports whether a header If-Match or If-None-Match lists the entity tag, or "*", which stands for all
// tags.
func containsTag(header []string, tag string) bool {
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

// maxConditionalRequestAttempts is the maximum number of attempts for a request with the header If-Match or
// If-None-Match. A further attempt is needed if another request changes the entry after the condition in the header was
// checked, and the new version also meets the condition. For example, each version meets the condition "*" in If-Match.
const maxConditionalRequestAttempts = 50

// entryCondition specifies the versions of an entry that a request may change.
type entryCondition struct {
	ifMatch, ifNoneMatch []string // values of If-Match and If-None-Match
	// If the entry does not exist, the request fails with 404 instead of 412 (condition failed).
	failsWithNotFound bool
}

// requestCondition returns the condition that a request states for its entry in the headers If-Match and If-None-Match.
// If rt.needsEntry is set and the request has no If-Match header, the header "If-Match: *" is assumed, so that the
// entry must exist.
//
// requestCondition returns nil if the request has no condition, if the route only reads, or if the route does not name
// an entry. It returns an error if the request has a condition and the route has the method POST, because POST routes
// do not support conditions.
func requestCondition(r *http.Request, rt *route) (*entryCondition, error) {
	c := &entryCondition{
		ifMatch:           r.Header.Values("If-Match"),
		ifNoneMatch:       r.Header.Values("If-None-Match"),
		failsWithNotFound: rt.needsEntry,
	}
	if rt.needsEntry && len(c.ifMatch) == 0 {
		c.ifMatch = []string{"*"}
	}
	if !rt.hasEntryNameArgument || rt.verb.ReadOnly {
		return nil, nil
	}
	if len(c.ifMatch) == 0 && len(c.ifNoneMatch) == 0 {
		return nil, nil
	}
	if rt.method == http.MethodPost {
		return nil, requestError(
			http.StatusBadRequest,
			"invalid",
			"A value was refused",
			"If-Match and If-None-Match do not hold for "+rt.method+" "+basePath+rt.path,
			"leave them out",
		)
	}
	return c, nil
}

// callIfConditionMet calls the verb if the entry meets the condition in the request's header If-Match or
// If-None-Match. It tries again if another request changes the entry in the meantime. After the last attempt, it
// returns the error "busy".
func (o *memoryViewState) callIfConditionMet(
	ctx context.Context,
	rt *route,
	args *requestArguments,
	c *entryCondition,
) (any, error) {
	for range maxConditionalRequestAttempts {
		out, again, err := o.callAtVersion(ctx, rt, args, c)
		if !again {
			return out, err
		}
	}
	return nil, requestError(
		http.StatusServiceUnavailable,
		"busy",
		"Others are writing",
		"the entry changed all the time",
		"try again in a moment",
	)
}

// callAtVersion checks the condition c of a request (If-Match or If-None-Match) and executes the request. The check
// returns the number of the entry's version, or 0 if the entry does not exist.
//
// If the version is not 0, callAtVersion calls the verb of the route with the argument if_version. The verb then
// changes the entry only if the entry still has this version. If the version is 0, a deletion calls the verb of the
// route without if_version, and every other request creates the entry. The creation fails if the entry exists by then.
// Therefore, if two requests have the same condition, only the first succeeds.
//
// hasChanged is true if another request changed or created the entry after the check. The caller must then call
// callAtVersion again.
func (o *memoryViewState) callAtVersion(
	ctx context.Context,
	rt *route,
	args *requestArguments,
	c *entryCondition,
) (result any, hasChanged bool, err error) {
	version, err := o.checkEntryCondition(ctx, args, c)
	if err != nil && args.argumentValue("op_id") != nil {
		// The condition may fail because the server executed the same request, with the same idempotency key, before
		// it was restarted. Call the verb again with a version number that no entry has. If the store knows the key,
		// it ignores that number and returns the earlier result. Otherwise the call fails and changes nothing.
		if args.setArgument("if_version", uint64(math.MaxUint64)) == nil {
			if out, rerr := rt.verb.Call(ctx, o.Workspace, args.values); rerr == nil {
				return out, false, nil
			}
		}
	}
	if err != nil {
		return nil, false, err
	}
	switch {
	case version == 0 && rt.method == http.MethodDelete:
		result, err = rt.verb.Call(ctx, o.Workspace, args.values)
		return result, false, err
	case version == 0:
		result, err = createEntryVerb().Call(ctx, o.Workspace, args.values)
		return result, errors.Is(err, oxbow.ErrExists), err
	}
	if err := args.setArgument("if_version", version); err != nil {
		return nil, false, err
	}
	result, err = rt.verb.Call(ctx, o.Workspace, args.values)
	return result, errors.Is(err, oxbow.ErrConflict), err
}

// createEntryVerb returns the verb remember in a form that fails if an entry with the name exists.
var createEntryVerb = sync.OnceValue(func() verb.Verb {
	return verb.MakeVerb(verb.Verb{Name: "remember"}, verb.RememberNewEntry)
})

// checkEntryCondition checks a condition about an entry before a request changes the entry. The request's argument
// "name" contains the entry's name. If the entry exists and the condition allows its version, checkEntryCondition
// returns this version. If the name is an alias, it also replaces the argument by the entry's name. If the entry does
// not exist and the condition allows this, it returns 0. Otherwise it returns an error.
func (o *memoryViewState) checkEntryCondition(
	ctx context.Context,
	args *requestArguments,
	c *entryCondition,
) (uint64, error) {
	name := argumentText(args.argumentValue("name"))
	m, err := o.openMemory(ctx)
	if err != nil {
		return 0, err
	}
	e, err := m.Get(ctx, name)
	missing := errors.Is(err, oxbow.ErrNotFound)
	switch {
	case missing && c.failsWithNotFound && containsTag(c.ifMatch, "*"):
		return 0, fmt.Errorf("changing %s: %w", quoteName(name), err)
	case missing && len(c.ifMatch) > 0:
		return 0, failedConditionError(name, "")
	case missing:
		return 0, nil
	case err != nil:
		return 0, err
	}
	tag := entityTag(ctx, e)
	if !c.allowsTag(tag) {
		return 0, failedConditionError(e.Name, tag)
	}
	return e.Version, args.setArgument("name", e.Name)
}

// allowsTag reports whether an entry with this ETag meets the condition.
func (c *entryCondition) allowsTag(tag string) bool {
	if len(c.ifMatch) > 0 && !containsTag(c.ifMatch, tag) {
		return false
	}
	return len(c.ifNoneMatch) == 0 || !containsTag(c.ifNoneMatch, tag)
}
