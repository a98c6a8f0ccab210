// This file defines the server and its options.

// Package mcpserver serves a memory to clients of the Model Context Protocol, over standard streams or HTTP. It offers
// the verbs of package verb as tools, and the entries as resources. It supports the protocol versions 2026-07-28,
// 2025-11-25 and 2025-06-18, and all earlier versions that the SDK supports.
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

// Options configure a [Server]. If a field is nil or zero, a default is used.
type Options struct {
	Name    string // server name that clients show (default "oxbow")
	Version string // server version (default "dev")

	// Logger receives messages for the operator. It must not write to a standard output that the protocol uses. Nil
	// discards the messages.
	Logger *slog.Logger

	// Rand is the source of random session IDs. The default is crypto/rand.
	Rand io.Reader

	// DrainTimeout is the maximum time that [Server.ServeStdio] waits for the next answer after its input has ended.
	// The default is two minutes.
	DrainTimeout time.Duration

	// Tools are the tools for clients that see the whole memory. By default, these are the tools of [verb.Tools] in
	// ToolSets. Clients that see only a part of the memory get the default tools and recall_memory instead. If Tools
	// is empty but not nil, no memory tools are offered.
	Tools []verb.Tool
	// ToolSets selects which of oxbow's own tools are offered. By default, all are offered.
	ToolSets verb.VerbSets
	// WorkingTreeTools are additional tools that use the working tree of the workspace. They are offered only to
	// clients that may see the project of the working tree. All other clients have no working tree. For such a client,
	// oxbow also does not check the files that entries cite.
	WorkingTreeTools []verb.Tool
	// UnrestrictedTools are additional tools whose effects are not limited to the memory, such as a tool that starts
	// programs. They are offered only to clients without any restriction except WorkspaceProfile.
	UnrestrictedTools []verb.Tool

	// Home is the home if it has the layout of another memory system, otherwise nil. Its context and documents are
	// offered to clients that see the whole memory.
	Home layout.Home
	// OmittedVerbs are the names of verbs that do not work in this home. They are not offered as tools.
	OmittedVerbs []string

	// Profiles are the memory profiles that clients may name. Nil means that clients cannot name profiles.
	Profiles *profile.Set
	// WorkspaceProfile is the profile to which the memory of the workspace is already restricted, or nil. If it is set,
	// clients cannot name a different profile.
	WorkspaceProfile *profile.Resolved
	// Rights restrict every client, in addition to WorkspaceProfile and the client's own rights.
	Rights auth.Permissions

	// Instructions tell the model when to use Tools. The default describes the tools of verb.Tools. Clients that see
	// only a part of the memory always get the default.
	Instructions string
	// ExtraInstruction is a line that is added for clients that see the whole memory, for example how to get more
	// tools.
	ExtraInstruction string
	// CautionText returns a warning that is added to each answer of a reading tool, for example that the memory has
	// lost changes. It returns "" if a warning is not needed. It may be nil.
	CautionText func() string
}

// Server serves one memory to any number of clients. It is safe for concurrent use.
type Server struct {
	memoryViewOptions rights.Options
	serverOptions     Options
	randMu            sync.Mutex // guards serverOptions.Rand
}

// New returns a server that offers tools for the workspace d. The memory is opened by the first call that needs it.
// The server does not close the memory.
func New(d *verb.Workspace, o *Options) *Server {
	s := &Server{}
	if o != nil {
		s.serverOptions = *o
	}
	s.memoryViewOptions = rights.Options{
		Workspace:    d,
		Profiles:     s.serverOptions.Profiles,
		BoundProfile: s.serverOptions.WorkspaceProfile,
		Rights:       s.serverOptions.Rights,
	}
	s.serverOptions.Name = cmp.Or(s.serverOptions.Name, "oxbow")
	s.serverOptions.Version = cmp.Or(s.serverOptions.Version, "dev")
	s.serverOptions.Logger = cmp.Or(s.serverOptions.Logger, slog.New(slog.DiscardHandler))
	s.serverOptions.Rand = cmp.Or(s.serverOptions.Rand, rand.Reader)
	s.serverOptions.Instructions = cmp.Or(s.serverOptions.Instructions, defaultInstructions)
	return s
}

// randomHex returns n random bytes as hexadecimal digits.
func (s *Server) randomHex(n int) (string, error) {
	s.randMu.Lock()
	defer s.randMu.Unlock()
	b := make([]byte, n)
	_, err := io.ReadFull(s.serverOptions.Rand, b)
	return hex.EncodeToString(b), err
}
