// This file defines the server and its options.

// Package mcpserver serves a memory to clients of the Model Context Protocol, over standard streams
// or HTTP. The verbs of package verb are tools, and the entries are resources. It supports the
// protocol versions 2026-07-28, 2025-11-25 and 2025-06-18, and all earlier versions that the SDK
// supports.
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
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/profile"
)

//go:embed instructions.md
var defaultInstructions string

// Options configure a [Server]. For nil and zero fields, defaults apply.
type Options struct {
	Name    string // server name that clients show (default "oxbow")
	Version string // server version (default "dev")

	// Logger receives messages for the operator. It must not write to the stream of the
	// protocol. Nil discards the messages.
	Logger *slog.Logger

	// Rand is the source of session IDs; default crypto/rand.
	Rand io.Reader

	// DrainTimeout is how long [Server.ServeStdio] waits for the next answer after its input has
	// ended; default two minutes.
	DrainTimeout time.Duration

	// Tools are the tools for clients that see the whole memory; default are the tools of
	// [verb.Table] in ToolSets. Clients that see a part of the memory get the default tools and
	// recall_memory instead. An empty slice that is not nil offers no memory tools.
	Tools []verb.Tool
	// ToolSets are the sets of oxbow's own tools to offer; default all.
	ToolSets verb.VerbSets
	// CodeTools are additional tools that work on the workspace's working tree. They are offered
	// to clients that may see the tree's project. For other clients there is no working
	// tree, so that files cited by entries are not checked either.
	CodeTools []verb.Tool
	// UnrestrictedTools are additional tools that reach beyond the memory, such as one that starts
	// programs. They are offered only to clients without any restriction except Bound.
	UnrestrictedTools []verb.Tool

	// Home is the home if the layout of another memory system is used, otherwise nil. Clients that
	// see the whole memory are offered the home's context and documents.
	Home layout.Home
	// OmittedVerbs are the names of verbs that cannot work in the home and are not offered.
	OmittedVerbs []string

	// Profiles are the memory profiles that clients may name. Nil means that there are none.
	Profiles *profile.Set
	// BoundProfile is the profile to which the workspace's memory is already bound, or nil. If it
	// is set, clients cannot name a different profile.
	BoundProfile *profile.Resolved
	// Rights restrict every client, in addition to Bound and the client's own rights.
	Rights auth.Permissions

	// Instructions tell the model when to use Tools. The default describes verb.Table.
	// Clients that see a part of the memory always get the default.
	Instructions string
	// ExtraInstruction is an additional line for clients that see the whole memory, for example how to
	// get more tools.
	ExtraInstruction string
	// CautionText returns a warning about the memory that is added to each answer of a tool that
	// reads, such as that the memory has lost changes. It returns "" if there is nothing to
	// warn of, and may be nil.
	CautionText func() string
}

// Server serves one memory to any number of clients. It is safe for concurrent use.
type Server struct {
	views  rights.Options
	opts   Options
	randMu sync.Mutex // guards opts.Rand
}

// New returns a server that offers the tools of o for the workspace. The first call that
// needs the memory opens it. The server does not close it.
func New(d *verb.Workspace, o *Options) *Server {
	s := &Server{}
	if o != nil {
		s.opts = *o
	}
	s.views = rights.Options{
		Workspace:    d,
		Profiles:     s.opts.Profiles,
		BoundProfile: s.opts.BoundProfile,
		Rights:       s.opts.Rights,
	}
	s.opts.Name = cmp.Or(s.opts.Name, "oxbow")
	s.opts.Version = cmp.Or(s.opts.Version, "dev")
	s.opts.Logger = cmp.Or(s.opts.Logger, slog.New(slog.DiscardHandler))
	s.opts.Rand = cmp.Or(s.opts.Rand, rand.Reader)
	s.opts.Instructions = cmp.Or(s.opts.Instructions, defaultInstructions)
	return s
}

// randomHex returns n random bytes as hexadecimal digits.
func (s *Server) randomHex(n int) (string, error) {
	s.randMu.Lock()
	defer s.randMu.Unlock()
	b := make([]byte, n)
	_, err := io.ReadFull(s.opts.Rand, b)
	return hex.EncodeToString(b), err
}
