// This file builds the service behind a server: the workspace for calls, and the clients'
// permissions.

package cli

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/mcpserver"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/auth/oidc"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/annotations"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/layout"
)

// serverFlags contains the flags of oxbow mcp.
type serverFlags struct {
	Addr       string   `json:"http,omitempty"       value:"ADDR" usage:"serve HTTP on this ADDR, such as 127.0.0.1:8333; port 0 means any free port"`
	TokenFile  string   `json:"token_file,omitempty" value:"FILE" usage:"the FILE with the token, which is created if it is missing (default HOME/token, or a file in your configuration directory if the home is in a repository)"`
	TokensFile string   `json:"tokens,omitempty"     value:"FILE" usage:"a FILE that lists several tokens and the rights of each, instead of one token; Details has an example"`
	Tools      []string `json:"tools,omitempty"      value:"SETS" usage:"the SETS of tools that clients are shown, separated by commas; Details lists the sets (default core, and profiles if the home has profiles)"               empty:"allowed"`
	ReadOnly   bool     `json:"ro,omitempty"                      usage:"clients can only read"`
	ReadWrite  bool     `json:"rw,omitempty"                      usage:"clients can read and write (the default)"`
	Projects   []string `json:"project,omitempty"                 usage:"clients see and write only entries of this PROJECT; auto is the project of the working directory"                                                          empty:"allowed"`
	Kinds      []string `json:"kind,omitempty"                    usage:"clients see and write only entries of this KIND"                                                                                                           empty:"allowed"`

	Public publicFlags  `json:"-"`
	OIDC   oidc.Options `json:"-"`
	// Maximum number of tenants whose memory is open at once (0 means the default).
	MaxOpenTenants int `json:"-"`
}

// isForOwner reports whether only the user of this machine can be served, who may see where the memory is.
func (s serverFlags) isForOwner() bool {
	return s.TokensFile == "" && s.OIDC.Issuer == "" && s.Public == publicFlags{}
}

// toolSets returns the sets of oxbow's tools that are listed. The default is the core set, and also
// the profiles set if there are profiles and all clients see the whole memory. For a home in
// another layout, the default is layoutSets. h is nil if the home has oxbow's own layout.
func (s serverFlags) toolSets(d layout.Dialect, h layout.Home, profiles []string) (verb.VerbSets, error) {
	switch {
	case len(s.Tools) > 0:
		sets, err := verb.ParseSets(s.Tools)
		return sets, asUsageError(err)
	case h != nil:
		return layoutSets(d, h), nil
	case len(profiles) > 0 && len(s.Projects)+len(s.Kinds)+len(s.TokensFile) == 0:
		return verb.VerbSets{verb.SetCore, "profiles"}, nil
	}
	return verb.VerbSets{verb.SetCore}, nil
}

// grantedRights returns the permissions that the flags grant.
func (env *environment) grantedRights(s serverFlags) (auth.Permissions, error) {
	r := auth.Permissions{ReadOnly: s.ReadOnly, Kinds: s.Kinds}
	for _, p := range s.Projects {
		name, err := env.resolveProject(p)
		if err != nil {
			return r, err
		}
		r.Projects = append(r.Projects, name)
	}
	return r, asUsageError(r.Check())
}

// memoryService is a memory that a server serves: the options that its interfaces share, and the MCP
// server.
type memoryService struct {
	interfaceOptions rights.Options
	mcpServer        *mcpserver.Server
	hasOtherLayout   bool // the home has another layout than oxbow's own
}

// buildService builds the service that the flags describe. It also returns the function that closes the service.
func (mem *openMemory) buildService(
	ctx context.Context,
	flags serverFlags,
) (_ *memoryService, _ func() error, err error) {
	src, err := mem.changeSource()
	if err != nil {
		return nil, nil, err
	}
	src.Session, src.Claimed = "", oxbow.Claim{Agent: mem.env.Getenv("OXBOW_AGENT")} // each interface sets its own
	mem.sealAfter = time.Second
	how := createAccess
	if flags.ReadOnly {
		how = mem.finder.readOnlyAccess()
	}
	if foreign, err := mem.finder.isForeign(); err != nil {
		return nil, nil, err
	} else if foreign {
		how = readOwnAccess
	}
	var closers []func() error
	closeFn := func() (err error) {
		for _, fn := range slices.Backward(closers) {
			err = errors.Join(err, fn())
		}
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeFn())
		}
	}()
	open, closeStore := mem.serverMemoryOpener(how)
	closers = append(closers, func() error { mem.closingCalls.run(); return closeStore() })
	d, other, err := mem.finder.detectLayout()
	if err != nil {
		return nil, nil, err
	}
	o := mcpserver.Options{
		Name:         "oxbow",
		Version:      moduleVersion(),
		Logger:       mem.env.newServerLogger(),
		Rand:         mem.env.Rand,
		DrainTimeout: mem.env.DrainTime,
	}
	o.Rights, err = mem.env.grantedRights(flags)
	if err != nil {
		return nil, nil, err
	}
	o.BoundProfile, err = mem.boundProfile()
	if err != nil { // a missing profile stops the server at once
		return nil, nil, err
	}
	var profileNames []string
	o.Profiles, err = mem.loadProfiles()
	if err != nil {
		mem.env.warn("profiles are not served: %v", err)
	} else if o.BoundProfile == nil {
		profileNames, _ = o.Profiles.Names() // if the names cannot be read, the tools report the error
	}
	if other {
		o.Home, err = mem.openHome(d, how)
		if err != nil {
			return nil, nil, err
		}
	}
	o.ToolSets, err = flags.toolSets(d, o.Home, profileNames)
	if err != nil {
		return nil, nil, err
	}
	if other {
		o.Tools = serverTools(o.Home, o.ToolSets)
		o.OmittedVerbs = unsupportedVerbs(d, o.Home)
		o.Instructions = serverInstructions(d, o.Home, len(o.ToolSets) > len(d.Sets))
	}
	workspace := &verb.Workspace{Open: open, Knowledge: mem.foreignTextKnowledge, Now: mem.env.Now, Source: src,
		Secrets: mem.secretScreening().
			SecretPolicy(),
		Sessions: mem.drainedArchiveOpener(), Kept: mem.undrainedArchiveOpener()}
	if !mem.isTenant && flags.isForOwner() {
		workspace.Typed = mem.clientCommandRewriter()
	}
	if o.Home != nil {
		workspace.Written, workspace.Unlabelled = o.Home.Written(), true
		workspace.Home = func(verb.Access) (verb.LayoutHome, error) { return o.Home, nil }
	}
	isDefault := len(flags.Tools)+len(flags.Projects)+len(flags.Kinds)+len(flags.TokensFile) == 0
	mayHaveHandoff := isDefault && !other && !mem.isTenant
	if mayHaveHandoff && mem.finder.hasOpenHandoff(ctx, open) {
		o.ToolSets = append(o.ToolSets, "session") // so that the agent can take the handoff
	}
	mem.callerExposure = mem.sessionExposure
	if !mem.isTenant {
		workspace.Loader = mem.newLoader
	}
	workspace.Dir, _ = mem.env.absolutePath(
		".",
	) // if this fails, calls are matched to sessions only by what clients report
	workspace.Vectors, err = mem.memoryVectors()
	if err != nil {
		return nil, nil, err
	}
	if mem.isTenant {
		return mem.assembleService(o, workspace, profileNames, other), closeFn, nil
	}
	if svc, serr := mem.newSubAgentService(); serr != nil {
		mem.env.warn("sub-agents are not served: %v", serr)
	} else {
		// Stop and record running sub-agents before the memory is closed.
		closers = append(closers, svc.Close)
		o.UnrestrictedTools = profiles.SubAgentTools(svc)
	}
	// In a repository there is code to annotate. If the annotations are missing or cannot be
	// opened, serve the memory without annotations.
	if book, berr := mem.finder.openWorkingDirAnnotations(ctx); berr != nil {
		mem.env.warn("the annotations of code are not served: %v", berr)
	} else {
		closers = append(closers, book.Close)
		if book.IsRepoOrAnnotated() || o.ToolSets.HasVerb("annotate") {
			workspace.Annotations = func(context.Context) (verb.WorkingTree, error) { return book, nil }
			workspace.Project = sync.OnceValue(mem.env.currentProjectName)
			o.CodeTools = annotations.CodeTools()
		}
	}
	return mem.assembleService(o, workspace, profileNames, other), closeFn, nil
}

// hasOpenHandoff reports whether the home has an open handoff that a session may take. It does not create a
// missing memory.
func (finder *homeFinder) hasOpenHandoff(
	ctx context.Context,
	open func(context.Context, verb.Access) (*oxbow.Memory, error),
) bool {
	path, err := finder.storePath()
	if err != nil {
		return false
	}
	if _, err := os.Stat(path); err != nil {
		return false
	}
	m, err := open(ctx, verb.Read)
	if err != nil {
		return false // each call reports it
	}
	_, err = handoff.FindNext(ctx, m, handoff.HandoffChoice{})
	return err == nil
}

// serviceWithoutMemory returns a server that answers every call with the reason why there is no memory.
// A server that exits instead might prevent its client from starting.
func (mem *openMemory) serviceWithoutMemory(reason error) *memoryService {
	reason = verb.Advise(
		reason,
		cmp.Or(errorRemedy(reason), "oxbow doctor says more")+"; then start this client again",
	)
	open := func(context.Context, verb.Access) (*oxbow.Memory, error) { return nil, reason }
	w := &verb.Workspace{Open: open, Now: mem.env.Now, Typed: mem.clientCommandRewriter()}
	o := mcpserver.Options{
		Name:     "oxbow",
		Version:  moduleVersion(),
		Logger:   mem.env.newServerLogger(),
		Rand:     mem.env.Rand,
		ToolSets: verb.VerbSets{verb.SetCore},
		ExtraInstruction: oneLine(
			"There is no memory now: " + reason.Error() + "; " + w.RewriteCommands(
				formatNote(verb.ErrorRemedy(reason)),
			),
		),
	}
	return &memoryService{rights.Options{Workspace: w}, mcpserver.New(w, &o), false}
}

// assembleService builds the service from finished options.
func (mem *openMemory) assembleService(
	o mcpserver.Options,
	w *verb.Workspace,
	profiles []string,
	other bool,
) *memoryService {
	o.ExtraInstruction = w.RewriteCommands(mem.finder.clientHint(o.ToolSets, w, len(profiles) > 0))
	o.CautionText = func() string {
		if said := mem.storeDefect.Load(); said != nil {
			return w.RewriteCommands((*said)(verb.Note.String))
		}
		return ""
	}
	return &memoryService{
		rights.Options{Workspace: w, Profiles: o.Profiles, BoundProfile: o.BoundProfile, Rights: o.Rights},
		mcpserver.New(w, &o),
		other,
	}
}

// clientHint returns the part of the instructions for this home. It warns that the home is not
// trusted, because clients do not show standard error, and says how to list the tools for
// profiles and annotations if the home has any.
func (finder *homeFinder) clientHint(listed verb.VerbSets, w *verb.Workspace, profiles bool) (said string) {
	if foreign, err := finder.isForeign(); err == nil && foreign {
		said = "This memory is not trusted: others may have written what it holds, and nothing is written to it " +
			"until a person runs oxbow trust.\n"
	}
	var has, sets []string
	if profiles && !listed.HasVerb("load_memory_profile") {
		has, sets = append(has, "memory profiles"), append(sets, "profiles")
	}
	if w.Annotations != nil && !listed.HasVerb("get_annotations") {
		if _, b, err := annotations.OpenStore(context.Background(), w); err == nil &&
			isDir(filepath.Join(b.Root(), filepath.FromSlash(annotate.DefaultDir))) {
			has, sets = append(has, "annotations of code (in a shell: oxbow why FILE)"), append(sets, "code")
		}
	}
	if len(has) == 0 {
		return said
	}
	return said + "There are " + strings.Join(has, " and ") +
		" here; the tools for them are listed after: oxbow mcp --tools core," + strings.Join(sets, ",")
}

// readOnlyAccess returns the access for a memory that is only read: without a lock, and possible on
// a file system that is not writable. A missing memory is opened with the right to create it, so
// that the server notices when another process creates the file.
func (finder *homeFinder) readOnlyAccess() access {
	if path, err := finder.storePath(); err == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return createAccess
		}
	}
	return readOwnAccess
}

// newServerLogger returns the server's log, which contains warnings and errors for its operator.
func (env *environment) newServerLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
