// One way in: the session that a call is of, who makes it, and the workspace it works on.

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
	"github.com/oxbow-memory/oxbow/internal/verb/view"
)

// stateless is the first version of the protocol without sessions.
const stateless = "2026-07-28"

// stdioName is the transport of standard streams, as [oxbow.Source] says it.
const stdioName = "mcp"

// transport is one way in: the standard streams of one client, or HTTP for those of
// one view.
type transport struct {
	*service
	door view.Door // "mcp" or "http"

	stdio verb.LoadedProfiles // of the process, over standard streams

	mu     sync.Mutex // guards loaded
	loaded map[weak.Pointer[mcp.ServerSession]]*verb.LoadedProfiles
}

// workspaceOf returns the workspace with the profiles that the session has
// loaded. Over standard streams the process is the session, whatever the
// protocol; over HTTP the protocol without sessions has none, as what a client
// says to one server may come from many conversations.
func (d *transport) workspaceOf(ss *mcp.ServerSession, version string) *verb.Workspace {
	w := *d.Workspace
	switch {
	case w.Profiles == nil:
	case d.door.Name == stdioName:
		w.Loaded = &d.stdio
	case version < stateless:
		w.Loaded = d.loadedOf(ss)
	}
	return &w
}

// loadedOf returns what a session has loaded. It is forgotten with the session,
// which no callback tells the end of.
func (d *transport) loadedOf(ss *mcp.ServerSession) *verb.LoadedProfiles {
	key := weak.Make(ss)
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.loaded[key]; ok {
		return l
	}
	l := &verb.LoadedProfiles{}
	d.loaded[key] = l
	runtime.AddCleanup(ss, func(key weak.Pointer[mcp.ServerSession]) {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.loaded, key)
	}, key)
	return l
}

// stamp returns the context that says who makes the change.
func (d *transport) stamp(ctx context.Context, ss *mcp.ServerSession, client *mcp.Implementation) context.Context {
	name := ""
	if client != nil {
		name = client.Name + " " + client.Version
	}
	return d.door.Stamp(ctx, d.Workspace, ss.ID(), name)
}

// stampCall is stamp for a call of a tool, whose source names which session of the
// client it is of.
func (d *transport) stampCall(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	ctx, c := d.stamp(ctx, req.Session, req.ClientInfo()), d.callerOf(req)
	if src, ok := oxbow.SourceFrom(ctx); ok {
		src.Ref = c.Ref()
		ctx = oxbow.WithSource(ctx, src)
	}
	return verb.WithCaller(ctx, c)
}

// callerOf returns what is known of the client's session that a call is of. Over
// HTTP the client may be anywhere.
func (d *transport) callerOf(req *mcp.CallToolRequest) session.Caller {
	name := ""
	if info := req.ClientInfo(); info != nil {
		name = info.Name
	}
	c := session.CallerOf(name, req.Params.Meta)
	if d.door.Name == stdioName {
		c.Dir = d.Workspace.Dir
	}
	return c
}
