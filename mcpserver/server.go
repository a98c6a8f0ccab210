// The server: what it is made of and what one call does.

// Package mcpserver is the door to a memory for clients of the Model Context
// Protocol: the verbs of package tool as tools, the entries as resources, and
// prompts, over standard streams or HTTP. It speaks the protocol versions 2026-07-28,
// 2025-11-25 and 2025-06-18, and what else the SDK below it does.
package mcpserver

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"
	"weak"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/auth"
	"github.com/oxbow-memory/oxbow/dialect"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/prompt"
	"github.com/oxbow-memory/oxbow/tool"
)

//go:embed instructions.md
var instructions string

// Options change how a server is made. Nil and zero fields mean the default.
type Options struct {
	Name    string // of the server, as clients show it; "oxbow" by default
	Version string // of the server; "dev" by default

	// Logger gets what an operator may want to know. It must not write to the
	// stream that the protocol uses. Nil discards.
	Logger *slog.Logger

	// Rand gives the bytes of session ids, crypto/rand by default.
	Rand io.Reader

	// Tools are what clients may call that see all of the memory; those of
	// [tool.Table] in Sets by default. Those that see a part of it get these and
	// recall_memory. An empty slice that is not nil offers no tool of the memory.
	Tools []tool.Tool
	// Sets are the sets of oxbow's own tools that are listed; all by default.
	Sets tool.Sets
	// Code are tools that work on the working tree of the workspace, offered next to
	// the others to those that may see its project. For the rest there is no
	// tree: what entries cite of it is not checked either.
	Code []tool.Tool
	// Whole are tools that reach beyond the memory, such as one that starts
	// programs: offered next to the others to clients alone that are bound by
	// nothing but Bound.
	Whole []tool.Tool

	// Home is the home where it has another layout than oxbow's own; nil where it
	// has not. What it puts before a model and its documents are for clients that
	// see all of the memory.
	Home dialect.Home
	// Leave are names of verbs that cannot work in the home, and are not offered.
	Leave []string

	// Profiles are the memory profiles that clients may name; nil for none.
	Profiles *profile.Set
	// Bound is the profile that the workspace's memory is bound to already, nil for
	// none. Clients can name no other then.
	Bound *profile.Resolved
	// Rights bound every client, on top of Bound and of its own.
	Rights auth.Permissions

	// Instructions tell a client's model when to use Tools; those for
	// tool.Table by default, which clients that see a part get always.
	Instructions string
	// Hint is one line more for clients that see all of the memory, such as how
	// to have more tools listed.
	Hint string
	// Caution returns what a model must know of the memory besides each answer of
	// a tool that reads, or "": such as that the memory lost changes. Nil for none.
	Caution func() string
}

// Server serves one memory to any number of clients. It is safe for
// concurrent use.
type Server struct {
	workspace *tool.Workspace
	opts      Options
	rand      sync.Mutex // guards opts.Rand
}

// New returns a server of the tools of o over the workspace. It opens
// nothing: the workspace's memory is opened by the first call that needs it. The
// server does not close it.
func New(d *tool.Workspace, o *Options) *Server {
	s := &Server{workspace: d}
	if o != nil {
		s.opts = *o
	}
	if s.opts.Name == "" {
		s.opts.Name = "oxbow"
	}
	if s.opts.Version == "" {
		s.opts.Version = "dev"
	}
	if s.opts.Logger == nil {
		s.opts.Logger = slog.New(slog.DiscardHandler)
	}
	if s.opts.Rand == nil {
		s.opts.Rand = rand.Reader
	}
	if s.opts.Instructions == "" {
		s.opts.Instructions = instructions
	}
	return s
}

// Admits reports why a token cannot be served: its profile cannot be read, or it
// has no rights in common with the server's.
func (s *Server) Admits(t auth.Token) error {
	_, err := s.view(t, "")
	return err
}

// stdioName is the transport of standard streams, as [oxbow.Source] says it.
const stdioName = "mcp"

// transport is one way in: the standard streams of one client, or HTTP for those of
// one view.
type transport struct {
	*view
	name string // "mcp" or "http", as [oxbow.Source] says it
	run  string // random id of this run, the session of those that have none

	stdio tool.LoadedProfiles // of the process, over standard streams

	mu     sync.Mutex // guards the following
	loaded map[weak.Pointer[mcp.ServerSession]]*tool.LoadedProfiles
	seen   map[string]*tool.Seen // by session
	recent []string              // the sessions in seen, the newest last
}

// The most bytes of an answer that clients show a model whole: Claude Code as a
// tool's meta says, of the others the least (measured: 17 kB and more).
const (
	pageBytes   = 16_000
	claudeBytes = 200_000
	claudeCode  = "claude-code" // its name
)

// metas are what Claude Code reads of a tool: which answers it passes on whole,
// up to so many characters, and which tools it does not load late.
var metas = map[string]mcp.Meta{
	"remember":            {"anthropic/alwaysLoad": true},
	"recall":              {"anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": claudeBytes},
	"get":                 {"anthropic/maxResultSizeChars": claudeBytes},
	"load_memory_profile": {"anthropic/maxResultSizeChars": claudeBytes},
	"spawn_sub_agent":     {"anthropic/maxResultSizeChars": claudeBytes},
}

// open returns a protocol server for a client that is bound by nothing but the
// server.
func (s *Server) open(name string) (*mcp.Server, error) {
	v, err := s.view(auth.Token{}, "")
	if err != nil {
		return nil, err
	}
	return v.open(name)
}

// open returns a protocol server for one door.
func (v *view) open(name string) (*mcp.Server, error) {
	run, err := v.random(8)
	if err != nil {
		return nil, fmt.Errorf("making a session id: %w", err)
	}
	d := &transport{view: v, name: name, run: run, loaded: map[weak.Pointer[mcp.ServerSession]]*tool.LoadedProfiles{}, seen: map[string]*tool.Seen{}}
	m := mcp.NewServer(&mcp.Implementation{Name: v.opts.Name, Title: "oxbow memory", Version: v.opts.Version},
		&mcp.ServerOptions{
			Instructions: v.instructions,
			Logger:       v.opts.Logger,
			// The tools never change, and no client is notified when entries do. Not
			// nil, so that logging, which is deprecated, is not offered.
			Capabilities: &mcp.ServerCapabilities{
				Tools:     &mcp.ToolCapabilities{},
				Resources: &mcp.ResourceCapabilities{},
				Prompts:   &mcp.PromptCapabilities{},
			},
			CompletionHandler: d.complete,
			GetSessionID: func() string {
				if id, err := v.random(16); err == nil {
					return id
				}
				return rand.Text()
			},
			SetCacheable: func(_ context.Context, _ mcp.Request, c *mcp.Cacheable) {
				c.CacheScope, c.TTLMs = "private", 0
			},
		})
	for _, t := range v.tools {
		no := false
		destructive := t.Destructive
		// Clients that check arguments by it would keep the model from what the
		// verb understands, and from its words on what it does not.
		input := *t.Input
		input.AdditionalProperties = nil
		m.AddTool(&mcp.Tool{
			Meta: metas[t.Name], Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: &input,
			Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.ReadOnly,
				DestructiveHint: &destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &no},
		}, d.handler(t))
	}
	d.addResources(m)
	d.addHome(m)
	d.addPrompts(m)
	return m, nil
}

// random returns that many random bytes in hexadecimal digits.
func (s *Server) random(n int) (string, error) {
	s.rand.Lock()
	defer s.rand.Unlock()
	b := make([]byte, n)
	_, err := io.ReadFull(s.opts.Rand, b)
	return hex.EncodeToString(b), err
}

// handler returns what one tool does. Its answer is text alone: clients that get
// JSON as well show the model the JSON, without the fences, in place of the text.
// Its errors are results marked as such, so that the model reads them. The
// arguments come raw, because package tool understands more than the schema says.
func (d *transport) handler(t tool.Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		ctx = d.stamp(ctx, req.Session, req.ClientInfo())
		w := d.workspaceOf(req.Session, req.ProtocolVersion())
		if w.Page = pageBytes; req.ClientInfo() != nil && req.ClientInfo().Name == claudeCode {
			w.Page = claudeBytes
		}
		answer, err := t.Call(ctx, w, req.Params.Arguments)
		if err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: d.explain(err)}}}, nil
		}
		text := answer.Text()
		if q, ok := answer.(tool.Quoter); ok && q.Quoted() {
			text = prompt.Fence("markdown", text)
		}
		if t.ReadOnly && d.opts.Caution != nil {
			if said := d.opts.Caution(); said != "" {
				text = "note: " + said + "\n\n" + text
			}
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil
	}
}

// workspaceOf returns the workspace with the profiles that the session has
// loaded. Over standard streams the process is the session, whatever the
// protocol; over HTTP the protocol without sessions has none, as what a client
// says to one server may come from many conversations.
func (d *transport) workspaceOf(ss *mcp.ServerSession, version string) *tool.Workspace {
	w := *d.workspace
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

// explain returns the error and what to do about it.
func (v *view) explain(err error) string {
	s := err.Error()
	if h := tool.Remedy(err).In(v.reference); h != "" {
		s += "\n" + h
	}
	return s
}

// reference writes a reference as models read it. Of a verb that the sets leave
// out it says how the tool is listed: the model has none of that name.
func (v *view) reference(r tool.Reference) string {
	said, verb := tool.Notef("%s", r).String(), ""
	switch r := r.(type) {
	case tool.VerbRef:
		verb = string(r)
	case *tool.Hint:
		verb = r.Verb
	}
	if verb == "" || v.opts.Sets.Has(verb) || slices.ContainsFunc(v.tools, func(t tool.Tool) bool { return t.Name == verb }) {
		return said
	}
	sets := []string{tool.SetAll}
	for _, s := range tool.KnownSets() {
		if len(v.opts.Sets) > 0 && slices.Contains(s.Verbs, verb) {
			sets = append(slices.Clone(v.opts.Sets), s.Name)
		}
	}
	return fmt.Sprintf("%s (%s is a tool of oxbow mcp --tools %s)", said, verb, strings.Join(sets, ","))
}

// stamp returns the context that says who makes the change: door, actor and
// session are ours to say, the client's name is its own claim.
func (d *transport) stamp(ctx context.Context, ss *mcp.ServerSession, client *mcp.Implementation) context.Context {
	src := d.workspace.Source
	src.Door, src.Actor, src.Session = d.name, oxbow.Agent, d.run
	if id := ss.ID(); id != "" {
		// Whoever knows an HTTP session's id may speak in it: keep a digest.
		sum := sha256.Sum256([]byte(id))
		src.Session = hex.EncodeToString(sum[:8])
	}
	if client != nil {
		src.Claimed.Client = claim(strings.TrimSpace(client.Name + " " + client.Version))
	}
	if d.opts.Home != nil {
		ctx = tool.WithSeen(ctx, d.seenBy(src.Session+" "+src.Claimed.Client))
	}
	return oxbow.WithSource(ctx, src)
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
	if len(s) > maxClaim {
		s = strings.ToValidUTF8(s[:maxClaim], "")
	}
	return s
}
