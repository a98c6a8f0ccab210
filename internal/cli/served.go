// This file builds the service behind a server. It determines the workspace for calls, and the permissions of clients.

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

// serverFlags contains the flags of a server. The commands oxbow mcp and oxbow serve set them.
type serverFlags struct {
	Addr          string   `json:"http,omitempty"       value:"ADDR" usage:"serve HTTP on this ADDR, such as 127.0.0.1:8333; port 0 means any free port"`
	TokenFile     string   `json:"token_file,omitempty" value:"FILE" usage:"the FILE with the token, which is created if it is missing (default HOME/token, or a file in your configuration directory if the home is in a repository)"`
	TokenListFile string   `json:"tokens,omitempty"     value:"FILE" usage:"a FILE that lists several tokens and the rights of each, instead of one token; Details has an example"`
	Tools         []string `json:"tools,omitempty"      value:"SETS" usage:"the SETS of tools that clients are shown, separated by commas; Details lists the sets (default core, and profiles if the home has profiles)"               empty:"allowed"`
	ReadOnly      bool     `json:"ro,omitempty"                      usage:"clients can only read"`
	ReadWrite     bool     `json:"rw,omitempty"                      usage:"clients can read and write (the default)"`
	Projects      []string `json:"project,omitempty"                 usage:"clients see and write only entries of this PROJECT; auto is the project of the working directory"                                                          empty:"allowed"`
	VisibleKinds  []string `json:"kind,omitempty"                    usage:"clients see and write only entries of this KIND"                                                                                                           empty:"allowed"`

	Public publicFlags  `json:"-"`
	OIDC   oidc.Options `json:"-"`
	// maximum number of tenants whose memories are open at once (0 means the default)
	MaxOpenTenants int `json:"-"`
}

// isOnlyForLocalUser reports whether only the user of this machine can use the server. This is the case if the flags
// set none of the following: a file with tokens, an OIDC issuer and a public address.
func (s serverFlags) isOnlyForLocalUser() bool {
	return s.TokenListFile == "" && s.OIDC.Issuer == "" && s.Public == publicFlags{}
}

// toolSets returns the sets of oxbow's tools that the server lists:
//
//   - If the flag --tools is set, these are the sets that it names.
//   - If the home has another layout than oxbow's own, defaultToolSets chooses the sets. d is this layout, and h is the
//     home. If the home has oxbow's own layout, h is nil.
//   - Otherwise it is the core set. The set for profiles is added if profiles exist, and if no flag restricts clients
//     to a part of the memory.
func (s serverFlags) toolSets(d layout.Dialect, h layout.Home, profiles []string) (verb.VerbSets, error) {
	switch {
	case len(s.Tools) > 0:
		sets, err := verb.ParseVerbSetNames(s.Tools)
		return sets, asUsageError(err)
	case h != nil:
		return defaultToolSets(d, h), nil
	case len(profiles) > 0 && len(s.Projects)+len(s.VisibleKinds)+len(s.TokenListFile) == 0:
		return verb.VerbSets{verb.VerbSetCore, "profiles"}, nil
	}
	return verb.VerbSets{verb.VerbSetCore}, nil
}

// grantedRights returns the permissions that the flags give to every client.
func (env *environment) grantedRights(flags serverFlags) (auth.Permissions, error) {
	r := auth.Permissions{ReadOnly: flags.ReadOnly, Kinds: flags.VisibleKinds}
	for _, p := range flags.Projects {
		name, err := env.resolveProject(p)
		if err != nil {
			return r, err
		}
		r.Projects = append(r.Projects, name)
	}
	return r, asUsageError(r.CheckProjectsAndKinds())
}

// memoryService is the service for one memory. It contains the options that all interfaces share, and the MCP server.
type memoryService struct {
	viewOptions       rights.Options
	mcpServer         *mcpserver.Server
	hasNonOxbowLayout bool // the home has another layout than oxbow's own
}

// buildService builds the service that the flags describe. It also returns a function that closes the service.
func (mem *lazyMemory) buildService(
	ctx context.Context,
	flags serverFlags,
) (_ *memoryService, _ func() error, err error) {
	src, err := mem.sourceOfChanges()
	if err != nil {
		return nil, nil, err
	}
	// Clear the session and the agent's claims, because MCP, HTTP and other interfaces set them for each call.
	src.Session, src.Claimed = "", oxbow.Claim{Agent: mem.env.Getenv("OXBOW_AGENT")}
	mem.logSealDelay = time.Second
	how := createAccess
	if flags.ReadOnly {
		how = mem.finder.chooseReadOnlyAccess()
	}
	if foreign, err := mem.finder.isForeignHome(); err != nil {
		return nil, nil, err
	} else if foreign {
		how = readWithoutTeamAccess
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
	closers = append(closers, func() error { mem.closeHooks.run(); return closeStore() })
	d, other, err := mem.finder.detectLayout()
	if err != nil {
		return nil, nil, err
	}
	o := mcpserver.Options{
		Name:         "oxbow",
		Version:      moduleVersion(),
		Logger:       mem.env.newServerLogger(),
		Rand:         mem.env.Rand,
		DrainTimeout: mem.env.ServerDrainTime,
	}
	o.Rights, err = mem.env.grantedRights(flags)
	if err != nil {
		return nil, nil, err
	}
	o.WorkspaceProfile, err = mem.boundProfile()
	if err != nil { // If the profile is missing, the server does not start.
		return nil, nil, err
	}
	var profileNames []string
	o.Profiles, err = mem.loadProfiles()
	if err != nil {
		mem.env.printWarning("profiles are not served: %v", err)
	} else if o.WorkspaceProfile == nil {
		profileNames, _ = o.Profiles.Names() // Ignore the error: the tools report it.
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
	workspace := &verb.Workspace{Open: open, Knowledge: mem.loadProvenanceData, Now: mem.env.Now, Source: src,
		Secrets: mem.secretScreening().
			SecretPolicy(),
		MaxChangeBytes: mem.env.MaxChangeBytes,
		Sessions:       mem.archiveOpenerAfterSpoolDrain(), Kept: mem.archiveOpenerWithoutSpoolDrain()}
	if !mem.isTenantHome && flags.isOnlyForLocalUser() {
		workspace.Typed = mem.clientCommandRewriter()
	}
	if o.Home != nil {
		workspace.Written, workspace.Unlabelled = o.Home.Written(), true
		workspace.Home = func(verb.MemoryAccess) (verb.LayoutHome, error) { return o.Home, nil }
	}
	isDefault := len(flags.Tools)+len(flags.Projects)+len(flags.VisibleKinds)+len(flags.TokenListFile) == 0
	mayHaveHandoff := isDefault && !other && !mem.isTenantHome
	if mayHaveHandoff && mem.finder.hasOpenHandoff(ctx, open) {
		o.ToolSets = append(o.ToolSets, "session") // The agent needs this tool set to take the handoff.
	}
	mem.textsSeenByCaller = mem.findTextsSeenBySession
	if !mem.isTenantHome {
		workspace.Loader = mem.newLoader
	}
	// Ignore the error. If the working directory is unknown, a call is still matched to a session if the client reports
	// the session.
	workspace.Dir, _ = mem.env.absolutePath(
		".",
	)
	workspace.Vectors, err = mem.memoryVectors()
	if err != nil {
		return nil, nil, err
	}
	if mem.isTenantHome {
		return mem.buildServiceFromOptions(o, workspace, profileNames, other), closeFn, nil
	}
	if svc, serr := mem.newSubAgentService(); serr != nil {
		mem.env.printWarning("sub-agents are not served: %v", serr)
	} else {
		// Before the memory is closed, stop the running sub-agents and store that they were stopped.
		closers = append(closers, svc.Close)
		o.UnrestrictedTools = profiles.SubAgentTools(svc)
	}
	// In a repository, there is code to annotate. If the annotations are missing or cannot be opened, serve the memory
	// without them.
	if book, berr := mem.finder.openWorkingDirAnnotations(ctx); berr != nil {
		mem.env.printWarning("the annotations of code are not served: %v", berr)
	} else {
		closers = append(closers, book.Close)
		if book.HasRepoOrAnnotations() || o.ToolSets.HasVerb("annotate") {
			workspace.Annotations = func(context.Context) (verb.WorkingTree, error) { return book, nil }
			workspace.Project = sync.OnceValue(mem.env.currentProjectName)
			o.WorkingTreeTools = annotations.AnnotationTools()
		}
	}
	return mem.buildServiceFromOptions(o, workspace, profileNames, other), closeFn, nil
}

// hasOpenHandoff reports whether the home contains an open handoff that a session may take. If the home lacks a
// memory, none is created.
func (finder *homeFinder) hasOpenHandoff(
	ctx context.Context,
	open func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error),
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
		return false // Ignore the error, because each later call of a tool reports it.
	}
	_, err = handoff.FindNext(ctx, m, handoff.HandoffCriteria{})
	return err == nil
}

// newServiceWithoutMemory returns a service that answers every call with the reason why the memory is missing. A server
// that exits instead could prevent its client from starting.
func (mem *lazyMemory) newServiceWithoutMemory(reason error) *memoryService {
	reason = verb.Advise(
		reason,
		cmp.Or(errorRemedy(reason), "oxbow doctor says more")+"; then start this client again",
	)
	open := func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return nil, reason }
	w := &verb.Workspace{Open: open, Now: mem.env.Now, Typed: mem.clientCommandRewriter()}
	o := mcpserver.Options{
		Name:     "oxbow",
		Version:  moduleVersion(),
		Logger:   mem.env.newServerLogger(),
		Rand:     mem.env.Rand,
		ToolSets: verb.VerbSets{verb.VerbSetCore},
		ExtraInstruction: toPrintableLine(
			"There is no memory now: " + reason.Error() + "; " + w.RewriteCommands(
				formatNote(verb.ErrorRemedy(reason)),
			),
		),
	}
	return &memoryService{rights.Options{Workspace: w}, mcpserver.New(w, &o), false}
}

// buildServiceFromOptions builds the service for one memory. The service contains an MCP server. The parameter o
// contains the options of this server. The caller has set all options except two, which buildServiceFromOptions sets:
// the instructions for clients, and the caution that is shown if the store has a defect. The parameter
// hasNonOxbowLayout is true if the home has a different layout than oxbow's own.
func (mem *lazyMemory) buildServiceFromOptions(
	o mcpserver.Options,
	w *verb.Workspace,
	profiles []string,
	hasNonOxbowLayout bool,
) *memoryService {
	o.ExtraInstruction = w.RewriteCommands(mem.finder.clientInstructions(o.ToolSets, w, len(profiles) > 0))
	o.CautionText = func() string {
		if said := mem.describeStoreDefect.Load(); said != nil {
			return w.RewriteCommands((*said)(verb.Note.String))
		}
		return ""
	}
	return &memoryService{
		rights.Options{Workspace: w, Profiles: o.Profiles, BoundProfile: o.WorkspaceProfile, Rights: o.Rights},
		mcpserver.New(w, &o),
		hasNonOxbowLayout,
	}
}

// clientInstructions returns the part of the server's instructions that depends on this home. If the home is not
// trusted, the part contains a warning, because clients do not show standard error. The parameter listedTools contains
// the tools that the server lists. The parameter hasProfiles reports whether the home has memory profiles. If the home
// has profiles or annotations, and listedTools does not contain their tools, the part says how to list these tools.
func (finder *homeFinder) clientInstructions(
	listedTools verb.VerbSets,
	w *verb.Workspace,
	hasProfiles bool,
) (instructionText string) {
	if foreign, err := finder.isForeignHome(); err == nil && foreign {
		instructionText = "This memory is not trusted: others may have written what it holds, and nothing is written to it " +
			"until a person runs oxbow trust.\n"
	}
	var has, sets []string
	if hasProfiles && !listedTools.HasVerb("load_memory_profile") {
		has, sets = append(has, "memory profiles"), append(sets, "profiles")
	}
	if w.Annotations != nil && !listedTools.HasVerb("get_annotations") {
		if _, b, err := annotations.OpenStore(context.Background(), w); err == nil &&
			isDir(filepath.Join(b.Root(), filepath.FromSlash(annotate.DefaultDir))) {
			has, sets = append(has, "annotations of code (in a shell: oxbow why FILE)"), append(sets, "code")
		}
	}
	if len(has) == 0 {
		return instructionText
	}
	return instructionText + "There are " + strings.Join(has, " and ") +
		" here; the tools for them are listed after: oxbow mcp --tools core," + strings.Join(sets, ",")
}

// chooseReadOnlyAccess returns how to open a memory that is only read. The result is readWithoutTeamAccess, which needs
// no lock and no writable file system. If the memory's file does not exist yet, the result is createAccess, because a
// memory that is opened with createAccess notices when another process creates the file.
func (finder *homeFinder) chooseReadOnlyAccess() accessKind {
	if path, err := finder.storePath(); err == nil {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return createAccess
		}
	}
	return readWithoutTeamAccess
}

// newServerLogger returns the server's log for its operator. It contains warnings and errors.
func (env *environment) newServerLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(env.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
}
