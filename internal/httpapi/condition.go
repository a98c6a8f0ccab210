// Conditions: a change of an entry holds for what the client has seen of it.

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

// tagOf returns the entity tag of an entry: the SHA-256 of the content that the caller
// of the context may see, a dash, and the version, which a change of labels raises, too.
func tagOf(ctx context.Context, e oxbow.Entry) string {
	verb.Withhold(ctx, &e)
	sum := sha256.Sum256([]byte(e.Content))
	return fmt.Sprintf(`"%x-%d"`, sum, e.Version)
}

// matchesTag reports whether a header of entity tags has this one, or is a star.
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

// mostTries bounds the calls of one request whose entry changes meanwhile, and whose
// condition still holds, as a star does.
const mostTries = 50

// conditional makes the call if the conditions of the request hold for the entry.
func (o *room) conditional(ctx context.Context, r *http.Request, rt *route, args *arguments) (any, error) {
	c := condition{match: r.Header.Values("If-Match"), none: r.Header.Values("If-None-Match"), must: rt.must}
	if rt.must && len(c.match) == 0 {
		c.match = []string{"*"}
	}
	if !rt.entry || rt.verb.ReadOnly || (len(c.match) == 0 && len(c.none) == 0) {
		return o.run(ctx, rt.verb, args)
	}
	if rt.method == http.MethodPost {
		return nil, refuse(http.StatusBadRequest, "invalid", "A value was refused", "If-Match and If-None-Match do not hold for "+rt.method+" "+base+rt.path, "leave them out")
	}
	for range mostTries {
		out, again, err := o.bound(ctx, rt, args, c)
		if !again {
			return out, err
		}
	}
	return nil, refuse(http.StatusServiceUnavailable, "busy", "Others are writing", "the entry changed all the time", "try again in a moment")
}

// bound makes a call for the version that the condition was found to hold for: of two
// requests with one condition, the second fails. It reports whether another has changed
// the entry meanwhile, and the condition may hold still.
func (o *room) bound(ctx context.Context, rt *route, args *arguments, c condition) (out any, again bool, err error) {
	version, err := o.holds(ctx, args, c)
	if err != nil && args.values["op_id"] != nil {
		// The condition may fail because an earlier request with the same key was carried
		// out, before the server was started again. No entry is at this version, so that a
		// request that is no repeat changes nothing.
		if args.set("if_version", uint64(math.MaxUint64)) == nil {
			if out, rerr := o.run(ctx, rt.verb, args); rerr == nil {
				return out, false, nil
			}
		}
	}
	if err != nil {
		return nil, false, err
	}
	switch {
	case version == 0 && rt.method == http.MethodDelete:
		out, err = o.run(ctx, rt.verb, args)
		return out, false, err
	case version == 0:
		out, err = o.run(ctx, creator(), args)
		return out, errors.Is(err, oxbow.ErrExists), err
	}
	if err := args.set("if_version", version); err != nil {
		return nil, false, err
	}
	out, err = o.run(ctx, rt.verb, args)
	return out, errors.Is(err, oxbow.ErrConflict), err
}

// condition is what a request says of the entry that it is about.
type condition struct {
	match, none []string
	must        bool // without an entry there is nothing to do, whatever was said
}

// creator is remember for a name that is free.
var creator = sync.OnceValue(func() verb.Verb {
	return verb.MakeVerb(verb.Verb{Name: "remember"}, verb.RememberNew)
})

// run makes a call.
func (o *room) run(ctx context.Context, v verb.Verb, args *arguments) (any, error) {
	in, err := args.object()
	if err != nil {
		return nil, err
	}
	return v.Call(ctx, o.Workspace, in)
}

// holds returns the version of the entry for which the condition holds; 0 where it holds
// because there is none. An alias becomes the name of its entry.
func (o *room) holds(ctx context.Context, args *arguments, c condition) (uint64, error) {
	name := plain(args.values["name"])
	m, err := o.memory(ctx)
	if err != nil {
		return 0, err
	}
	e, err := m.Get(ctx, name)
	missing := errors.Is(err, oxbow.ErrNotFound)
	switch {
	case missing && c.must && matchesTag(c.match, "*"):
		return 0, fmt.Errorf("changing %s: %w", quoted(name), err)
	case missing && len(c.match) > 0:
		return 0, failedCondition(name, "")
	case missing:
		return 0, nil
	case err != nil:
		return 0, err
	}
	tag := tagOf(ctx, e)
	if (len(c.match) > 0 && !matchesTag(c.match, tag)) || (len(c.none) > 0 && matchesTag(c.none, tag)) {
		return 0, failedCondition(e.Name, tag)
	}
	return e.Version, args.set("name", e.Name)
}
