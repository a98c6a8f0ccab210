// This file defines memoryViewState, the state that all requests with the same token and profile share.

package httpapi

import (
	"context"
	"net/http"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/scope"
)

// viewKey is the combination of token and profile for which requests share a memoryViewState.
type viewKey struct{ token, profile string }

// memoryViewState is the state that requests with the same token and profile share.
type memoryViewState struct {
	*rights.MemoryView
	tokenAndProfile    viewKey
	agentDoor          *rights.AgentInterface
	replayCache        replayCache
	heavyCallSemaphore heavyCallSemaphore // limits expensive calls; all view states share this limit

	mu             sync.Mutex    // guards readableMemory
	readableMemory *oxbow.Memory // part of the view's memory that programs may read (nil until first used)
}

// maxViews is the maximum number of viewStates that the server keeps. There is one for each combination of token and
// profile.
const maxViews = 256

// openMemory opens the part of the memory that the requests sharing this state may read with their token and profile.
func (o *memoryViewState) openMemory(ctx context.Context) (*oxbow.Memory, error) {
	return o.Workspace.Open(ctx, verb.Read)
}

// programReadableScope selects the entries that a program may read directly from the store. It excludes quarantined
// entries, which only a person may see. Verbs withhold such entries, but a store does not.
var programReadableScope = scope.Scope{
	Title:  "the API",
	Any:    []oxbow.Filter{{}},
	Except: []oxbow.Filter{{Terms: []oxbow.Term{{Key: "has", Values: oxbow.RequestedByModel.HeldLabels()}}}},
}

// openReadableMemory opens the part of the view's memory that a program may read directly from the store. This part
// excludes quarantined entries, which only a person may see. The verbs (oxbow's operations) withhold such entries
// themselves, but a store does not.
func (o *memoryViewState) openReadableMemory(ctx context.Context) (*oxbow.Memory, error) {
	m, err := o.Workspace.Open(ctx, verb.Write)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.readableMemory == nil {
		o.readableMemory = scope.Within(m, programReadableScope)
	}
	return o.readableMemory, nil
}

// checkRouteRights returns an error if a request may not use the route r. The view o is the part of the memory that the
// request may use. The error has status 403 in two cases: r needs the whole memory but o is only a part of it, or r
// changes the memory but o is read-only.
func (o *memoryViewState) checkRouteRights(r *route) error {
	switch {
	case r.needsWholeMemory && o.IsPartial():
		return requestError(http.StatusForbidden, "partial", "This token sees a part of the memory",
			r.method+" "+basePath+r.path+" looks at all of the memory, and this token sees a part of it",
			"ask with a token that is bound to nothing")
	case o.Rights.ReadOnly && !r.verb.ReadOnly:
		return requestError(
			http.StatusForbidden,
			"read_only",
			"Only reading is allowed",
			"this token may only read",
			"ask with a token that may write",
		)
	}
	return nil
}

// viewStateContextKey is the key under which the context of a request contains the memoryViewState for its token and
// profile.
type viewStateContextKey struct{}

func viewStateFromRequest(r *http.Request) *memoryViewState {
	return r.Context().Value(viewStateContextKey{}).(*memoryViewState)
}

// openReadableStore returns the store for a request, and the request's context. The store contains only entries that
// the request's token and profile may see and that programs may read.
func openReadableStore(r *http.Request) (oxbow.Store, context.Context, error) {
	m, err := viewStateFromRequest(r).openReadableMemory(r.Context())
	return m, r.Context(), err
}
