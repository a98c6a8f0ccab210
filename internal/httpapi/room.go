// Rooms: what requests with the same token share.

package httpapi

import (
	"context"
	"net/http"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/view"
	"github.com/oxbow-memory/oxbow/scope"
)

// roomKey is what a room is found by.
type roomKey struct{ token, profile string }

// room is what requests with the same token and profile share.
type room struct {
	*view.View
	key     roomKey
	door    *view.Door
	replays replays
	turns   turns // of the server

	mu    sync.Mutex    // guards store
	store *oxbow.Memory // what is readable of the view's memory; nil until it is needed
}

// maxRooms bounds the rooms: the tokens, times the profiles that each was used with.
const maxRooms = 256

// memory opens the view's memory.
func (o *room) memory(ctx context.Context) (*oxbow.Memory, error) {
	return o.Workspace.Open(ctx, verb.Read)
}

// readable is what programs read without a verb between: the verbs withhold what is in
// quarantine, which is for persons alone, and a store gives all that it has.
var readable = scope.Scope{
	Title:  "the API",
	Any:    []oxbow.Filter{{}},
	Except: []oxbow.Filter{{Terms: []oxbow.Term{{Key: "has", Values: []string{oxbow.LabelQuarantine}}}}},
}

// readable opens what programs read of the view's memory without a verb between.
func (o *room) readable(ctx context.Context) (*oxbow.Memory, error) {
	m, err := o.Workspace.Open(ctx, verb.Write)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store == nil {
		o.store = scope.Within(m, readable)
	}
	return o.store, nil
}

// allows refuses what is not for the rights of the room.
func (o *room) allows(r *route) error {
	switch {
	case r.whole && o.Partial():
		return refuse(http.StatusForbidden, "partial", "This token sees a part of the memory",
			r.method+" "+base+r.path+" looks at all of the memory, and this token sees a part of it", "ask with a token that is bound to nothing")
	case o.Rights.ReadOnly && !r.verb.ReadOnly:
		return refuse(http.StatusForbidden, "read_only", "Only reading is allowed", "this token may only read", "ask with a token that may write")
	}
	return nil
}
