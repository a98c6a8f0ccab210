// One way in: the session that a call is of, who makes it, and the workspace it works on.

package mcpserver

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/text"
	"github.com/oxbow-memory/oxbow/session"
	"github.com/oxbow-memory/oxbow/tool"
)

// stateless is the first version of the protocol without sessions.
const stateless = "2026-07-28"

// stdioName is the transport of standard streams, as [oxbow.Source] says it.
const stdioName = "mcp"

// transport is one way in: the standard streams of one client, or HTTP for those of
// one view.
type transport struct {
	*service
	name string // "mcp" or "http", as [oxbow.Source] says it
	run  string // random id of this run, the session of those that have none

	stdio tool.LoadedProfiles // of the process, over standard streams

	mu     sync.Mutex // guards the following
	loaded map[weak.Pointer[mcp.ServerSession]]*tool.LoadedProfiles
	seen   map[string]*tool.Seen // by session
	recent []string              // the sessions in seen, the newest last
}

// workspaceOf returns the workspace with the profiles that the session has
// loaded. Over standard streams the process is the session, whatever the
// protocol; over HTTP the protocol without sessions has none, as what a client
// says to one server may come from many conversations.
func (d *transport) workspaceOf(ss *mcp.ServerSession, version string) *tool.Workspace {
	w := *d.Workspace
	switch {
	case w.Profiles == nil:
	case d.name == stdioName:
		w.Loaded = &d.stdio
	case version < stateless:
		w.Loaded = d.loadedOf(ss)
	}
	return &w
}

// loadedOf returns what a session has loaded. It is forgotten with the session,
// which no callback tells the end of.
func (d *transport) loadedOf(ss *mcp.ServerSession) *tool.LoadedProfiles {
	key := weak.Make(ss)
	d.mu.Lock()
	defer d.mu.Unlock()
	if l, ok := d.loaded[key]; ok {
		return l
	}
	l := &tool.LoadedProfiles{}
	d.loaded[key] = l
	runtime.AddCleanup(ss, func(key weak.Pointer[mcp.ServerSession]) {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.loaded, key)
	}, key)
	return l
}

// stamp returns the context that says who makes the change: door, actor and
// session are ours to say, the client's name is its own claim.
func (d *transport) stamp(ctx context.Context, ss *mcp.ServerSession, client *mcp.Implementation) context.Context {
	src := d.Workspace.Source
	src.Door, src.Actor, src.Session = d.name, oxbow.Agent, d.run
	if id := ss.ID(); id != "" {
		// A client that knows an HTTP session's id may speak in it: keep a digest.
		sum := sha256.Sum256([]byte(id))
		src.Session = hex.EncodeToString(sum[:8])
	}
	if client != nil {
		src.Claimed.Client = claim(strings.TrimSpace(client.Name + " " + client.Version))
	}
	seen := d.seenBy(src.Session + " " + src.Claimed.Client)
	if ctx = tool.WithLedger(ctx, seen); d.opts.Home != nil {
		ctx = tool.WithSeen(ctx, seen)
	}
	return oxbow.WithSource(ctx, src)
}

// stampCall is stamp for a call of a tool, whose source names which session of the
// client it is of.
func (d *transport) stampCall(ctx context.Context, req *mcp.CallToolRequest) context.Context {
	ctx, c := d.stamp(ctx, req.Session, req.ClientInfo()), d.callerOf(req)
	if src, ok := oxbow.SourceFrom(ctx); ok {
		src.Ref = c.Ref()
		ctx = oxbow.WithSource(ctx, src)
	}
	return tool.WithCaller(ctx, c)
}

// callerOf returns what is known of the client's session that a call is of. Over
// HTTP the client may be anywhere.
func (d *transport) callerOf(req *mcp.CallToolRequest) session.Caller {
	name := ""
	if info := req.ClientInfo(); info != nil {
		name = info.Name
	}
	c := session.CallerOf(name, req.Params.Meta)
	if d.name == stdioName {
		c.Dir = d.Workspace.Dir
	}
	return c
}

// maxSessions is the most sessions of which it is known what they were shown.
const maxSessions = 64

// seenBy returns what a session was shown. Requests of the protocol without
// sessions, over HTTP, are one session for each token and client name.
func (d *transport) seenBy(session string) *tool.Seen {
	d.mu.Lock()
	defer d.mu.Unlock()
	if i := slices.Index(d.recent, session); i >= 0 {
		d.recent = append(slices.Delete(d.recent, i, i+1), session)
		return d.seen[session]
	}
	if len(d.recent) == maxSessions {
		delete(d.seen, d.recent[0])
		d.recent = d.recent[1:]
	}
	d.recent, d.seen[session] = append(d.recent, session), &tool.Seen{}
	return d.seen[session]
}

// maxClaim is the most bytes kept of what a client says of itself.
const maxClaim = 128

// claim makes a client's word fit for the log: short, on one line.
func claim(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return -1
	}, strings.ToValidUTF8(s, ""))
	return text.Cut(s, maxClaim)
}
