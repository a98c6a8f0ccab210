// This file determines the session, the author and the workspace of each call.

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

// statelessVersion is the first protocol version without sessions.
const statelessVersion = "2026-07-28"

// stdioDoorName is the name for clients that are connected over standard input and output. Changes by these clients
// have this name in the field Door of [oxbow.Source].
const stdioDoorName = "mcp"

// serverTransport serves clients that have the same rights: a single client over standard streams, or all clients with
// these rights over HTTP.
type serverTransport struct {
	*clientService
	agentDoor rights.AgentInterface // the way in which these clients reach the memory; its DoorName is "mcp" or "http"

	stdioProfiles verb.LoadedProfiles // profiles that the process has loaded, for standard streams

	mu              sync.Mutex // guards loadedBySession
	loadedBySession map[weak.Pointer[mcp.ServerSession]]*verb.LoadedProfiles
}

// sessionWorkspace returns a workspace for the calls of the session ss. If the server has profiles, the workspace
// contains the profiles that the session has loaded. A client on standard input and output is a single session in every
// protocol version. Over HTTP, only protocol versions before statelessVersion have sessions. In later versions, loaded
// profiles are not kept, because the requests may come from many conversations.
func (d *serverTransport) sessionWorkspace(ss *mcp.ServerSession, version string) *verb.Workspace {
	w := *d.Workspace
	if d.agentDoor.InterfaceName != stdioDoorName {
		w.Dir = "" // A client over HTTP may run on a different machine, so its working directory is unknown.
	}
	switch {
	case w.Profiles == nil:
	case d.agentDoor.InterfaceName == stdioDoorName:
		w.Loaded = &d.stdioProfiles
	case version < statelessVersion:
		w.Loaded = d.loadedProfiles(ss)
	}
	return &w
}

// loadedProfiles returns the profiles that a session has loaded. They are dropped when the session is
// garbage-collected, because the SDK does not report the end of a session.
func (d *serverTransport) loadedProfiles(ss *mcp.ServerSession) *verb.LoadedProfiles {
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

// contextWithSource returns a context with the source that is recorded for each change. The source contains the
// transport, such as HTTP, the session, and the client's name and version.
func (d *serverTransport) contextWithSource(
	ctx context.Context,
	ss *mcp.ServerSession,
	client *mcp.Implementation,
) context.Context {
	name := ""
	if client != nil {
		name = client.Name + " " + client.Version
	}
	return d.agentDoor.ContextWithSource(ctx, d.Workspace, ss.ID(), name)
}

// contextWithCallSource returns a context for the call of a tool. The context contains the caller, and the source that
// is recorded for each change. The source names the transport, the client and the client's session.
func (d *serverTransport) contextWithCallSource(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	ctx, c := d.contextWithSource(ctx, req.Session, req.ClientInfo()), d.callerFromRequest(req)
	if src, ok := oxbow.SourceFrom(ctx); ok {
		src.Ref = c.SourceRef()
		ctx = oxbow.WithSource(ctx, src)
	}
	return verb.WithCaller(ctx, c)
}

// callerFromRequest returns a description of the session that makes a call. The field Dir of the description is the
// session's working directory. It is set only if the client is connected through the server's standard input and
// output. The session's directory is then the server's directory, because the client has started the server. An HTTP
// client may run on another machine, so its directory is not known.
func (d *serverTransport) callerFromRequest(req *mcp.CallToolRequest) session.Caller {
	name := ""
	if info := req.ClientInfo(); info != nil {
		name = info.Name
	}
	c := session.ParseRequestCaller(name, req.Params.Meta)
	if d.agentDoor.InterfaceName == stdioDoorName {
		c.Dir = d.Workspace.Dir
	}
	return c
}
