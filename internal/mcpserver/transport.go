// This file determines the session, the author and the workspace of a call.

package mcpserver

import (
	"context"
	"runtime"
	"sync"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
)

// statelessVersion is the first version of the protocol without sessions.
const statelessVersion = "2026-07-28"

// stdioDoorName is the name of the stdio transport in [oxbow.Source].
const stdioDoorName = "mcp"

// transport is one way by which clients connect: the standard streams of one client, or HTTP
// for all clients of one view.
type transport struct {
	*clientService
	door rights.AgentDoor // "mcp" or "http"

	stdioProfiles verb.LoadedProfiles // profiles loaded by the process, for standard streams

	mu              sync.Mutex // guards loaded
	loadedBySession map[weak.Pointer[mcp.ServerSession]]*verb.LoadedProfiles
}

// sessionWorkspace returns the workspace with the profiles that the session has loaded. Over
// standard streams, the process is the session, in every version of the protocol. Over HTTP,
// a version without sessions has no loaded profiles, because the requests may come from many
// conversations.
func (d *transport) sessionWorkspace(ss *mcp.ServerSession, version string) *verb.Workspace {
	w := *d.Workspace
	if d.door.DoorName != stdioDoorName {
		w.Dir = "" // the client may run on a different machine
	}
	switch {
	case w.Profiles == nil:
	case d.door.DoorName == stdioDoorName:
		w.Loaded = &d.stdioProfiles
	case version < statelessVersion:
		w.Loaded = d.loadedProfiles(ss)
	}
	return &w
}

// loadedProfiles returns the profiles that a session has loaded. The entry is removed when the
// session is garbage-collected, because the SDK has no callback for its end.
func (d *transport) loadedProfiles(ss *mcp.ServerSession) *verb.LoadedProfiles {
	key := weak.Make(ss)
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.loadedBySession[key]; ok {
		return l
	}
	l := &verb.LoadedProfiles{}
	d.loadedBySession[key] = l
	runtime.AddCleanup(ss, func(key weak.Pointer[mcp.ServerSession]) {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.loadedBySession, key)
	}, key)
	return l
}

// stampContext returns a context that records the author of changes.
func (d *transport) stampContext(
	ctx context.Context,
	ss *mcp.ServerSession,
	client *mcp.Implementation,
) context.Context {
	name := ""
	if client != nil {
		name = client.Name + " " + client.Version
	}
	return d.door.StampContext(ctx, d.Workspace, ss.ID(), name)
}

// stampCallContext is like stampContext for a tool call. The source then also names the client's session.
func (d *transport) stampCallContext(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	ctx, c := d.stampContext(ctx, req.Session, req.ClientInfo()), d.requestCaller(req)
	if src, ok := oxbow.SourceFrom(ctx); ok {
		src.Ref = c.SourceRef()
		ctx = oxbow.WithSource(ctx, src)
	}
	return verb.WithCaller(ctx, c)
}

// requestCaller returns the known facts about the client session that makes a call. The
// directory is known only over standard streams, because an HTTP client may run on a different
// machine.
func (d *transport) requestCaller(req *mcp.CallToolRequest) session.Caller {
	name := ""
	if info := req.ClientInfo(); info != nil {
		name = info.Name
	}
	c := session.RequestCaller(name, req.Params.Meta)
	if d.door.DoorName == stdioDoorName {
		c.Dir = d.Workspace.Dir
	}
	return c
}
