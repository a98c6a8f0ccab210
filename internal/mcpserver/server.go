// The server: what it is made of.

// Package mcpserver is the door to a memory for clients of the Model Context
// Protocol: the verbs of package verb as tools, the entries as resources, and
// prompts, over standard streams or HTTP. It speaks the protocol versions 2026-07-28,
// 2025-11-25 and 2025-06-18, and what else the SDK below it does.
package mcpserver

import (
	"cmp"
	"crypto/rand"
	_ "embed"
	"encoding/hex"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/view"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/profile"
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

	// Drain is how long [Server.ServeStdio] waits, after its input has ended, for the next
	// answer of the calls that it has read; two minutes by default.
	Drain time.Duration

	// Tools are what clients may call that see all of the memory; those of
	// [verb.Table] in Sets by default. Those that see a part of it get these and
	// recall_memory. An empty slice that is not nil offers no tool of the memory.
	Tools []verb.Tool
	// Sets are the sets of oxbow's own tools that are listed; all by default.
	Sets verb.Sets
	// Code are tools that work on the working tree of the workspace, offered next to
	// the others to those that may see its project. For the rest there is no
	// tree: what entries cite of it is not checked either.
	Code []verb.Tool
	// Whole are tools that reach beyond the memory, such as one that starts
	// programs: offered next to the others to clients alone that are bound by
	// nothing but Bound.
	Whole []verb.Tool

	// Home is the home where it has another layout than oxbow's own; nil where it
	// has not. What it puts before a model and its documents are for clients that
	// see all of the memory.
	Home layout.Home
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
	// verb.Table by default, which clients that see a part get always.
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
	views view.Options
	opts  Options
	rand  sync.Mutex // guards opts.Rand
}

// New returns a server of the tools of o over the workspace. It opens
// nothing: the workspace's memory is opened by the first call that needs it. The
// server does not close it.
func New(d *verb.Workspace, o *Options) *Server {
	s := &Server{}
	if o != nil {
		s.opts = *o
	}
	s.views = view.Options{Workspace: d, Profiles: s.opts.Profiles, Bound: s.opts.Bound, Rights: s.opts.Rights}
	s.opts.Name = cmp.Or(s.opts.Name, "oxbow")
	s.opts.Version = cmp.Or(s.opts.Version, "dev")
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.New(slog.DiscardHandler))
	s.opts.Rand = cmp.Or(s.opts.Rand, rand.Reader)
	s.opts.Instructions = cmp.Or(s.opts.Instructions, instructions)
	return s
}

// random returns that many random bytes in hexadecimal digits.
func (s *Server) random(n int) (string, error) {
	s.rand.Lock()
	defer s.rand.Unlock()
	b := make([]byte, n)
	_, err := io.ReadFull(s.opts.Rand, b)
	return hex.EncodeToString(b), err
}
