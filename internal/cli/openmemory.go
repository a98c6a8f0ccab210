// This file defines openBoundMemory, the memory of one oxbow run. It includes the source of changes
// and the resources to close at the end.

package cli

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/inject"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/share/team"
	"github.com/oxbow-memory/oxbow/internal/share/tenant"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
	"github.com/oxbow-memory/oxbow/layout"
	"github.com/oxbow-memory/oxbow/profile"
	"github.com/oxbow-memory/oxbow/vfs"
)

// openMemory is the memory that a run uses. The memory is opened when a command needs it, and stays open until
// the end of the run. The memory is in the home that the finder finds.
type openMemory struct {
	env    *environment
	finder *homeFinder

	agentFlag       string
	profileFlag     string
	embedFlag       string                // embedding server's URL
	modelFlag       string                // model at that URL
	allowSecret     bool                  // store text that looks like a secret
	cachedScreening *provenance.Screening // how texts are examined; nil until it is needed
	sessionID       string                // random ID of this run
	commandPath     string                // the command's words, without oxbow
	commandNames    func() []string       // names of all commands, for rewriteCommands
	isSample        bool                  // the memory is the demo's sample
	isTenant        bool                  // the home is one of several that a server serves
	writeLimit      *tenant.Limit         // limits on writing (nil means no limit)
	daemonMemories  *daemonMemories       // nil if memories are files of their homes

	// sealAfter is the delay after which a change is sealed while the memory stays open. If it is
	// 0, changes are sealed when the memory is closed.
	sealAfter   time.Duration
	sharedCache *oxbow.Cache // shared by memories; if nil, each memory has its own cache

	teamFiles          teamFiles
	folderState        folderState
	profileSet         *profile.Set      // nil until it is needed
	cachedBoundProfile *profile.Resolved // nil until it is needed, and if no profile binds the run
	// storeDefect describes a defect of the open store. Each interface has its own wording. It is nil,
	// or returns "", if there is no defect.
	storeDefect  atomic.Pointer[func(say func(verb.Note) string) string]
	layoutHome   layout.Home  // home of another layout (nil until it is needed)
	closingCalls closingCalls // signs heads that are due
	// The run ends without checkpoints, because a client waits for it or one was made.
	isHurried            bool
	drainTimeout         time.Duration   // how long hook reports are moved into the archive (0 means drainTimeout)
	showsAnswerFirst     bool            // show the answer before closing memories
	memoriesToCheckpoint []*oxbow.Memory // memories whose checkpoint is made at the end of the run
	closers              []func() error  // called at the end of the run

	openDrainedArchive func(context.Context) (*session.Archive, error) // archive of sessions; nil until it is needed
	// isArchiveReadOnly prevents draining the spool into the archive and writing to the archive.
	isArchiveReadOnly    bool
	openUndrainedArchive func(context.Context) (*session.Archive, error) // archive without a drain; set with sessions
	// callerExposure returns, for a server's calls, the texts by others that the caller's session has
	// seen. It is nil if the run is not a server.
	callerExposure    func(ctx context.Context, c session.Caller) session.Exposure
	unknownCommandErr error // unknown command that help was asked for

	// repeatsForeignText reports whether a text repeats text of others that agents have read. If repeats is
	// nil, no text does.
	repeatsForeignText func(text string) bool

	// chooseForPrompt chooses the block that a hook puts before a prompt. If it is nil, verb.Inject is
	// used.
	chooseForPrompt func(context.Context, inject.Prompt) (inject.Block, error)
}

// teamFiles caches the team files of the working directory.
type teamFiles struct {
	mu           sync.Mutex // guards the fields below
	tree         *team.Tree // nil if the user trusts none
	lastLookTime time.Time  // time of the last look (zero before the first)
}

// folderState is the state of the comparisons of registered folders in one run. Its functions are in another file,
// and are nil in a run that follows no folders.
type folderState struct {
	mu               sync.Mutex // guards the fields below; locked during a comparison
	isComparisonDone bool       // the run need not compare the folders any more
	nextComparison   time.Time  // time of a server's next comparison
	printedWarnings  map[string]bool

	compareFolders func()                                 // brings changes of files into the memory, once in a run
	writeFolders   func(context.Context, *verb.Workspace) // writes changes of the run into files
	newComparer    func(how access, open openFunc) func(context.Context, verb.Access)
}

// openFunc opens the memory for a server.
type openFunc = func(context.Context, verb.Access) (*oxbow.Memory, error)

// newOpenMemory returns the memory of a run in this environment. The memory is opened when it is needed.
func newOpenMemory(outside Env) *openMemory {
	env := &environment{Env: outside, name: "oxbow"}
	return &openMemory{env: env, finder: &homeFinder{env: env}}
}

// changeSource returns the author of changes in this run: a person, or the agent that started the run.
// $OXBOW_AGENT is only a claim. An agent sets it so that the agent's changes can be told from the
// person's changes.
func (mem *openMemory) changeSource() (oxbow.Source, error) {
	if mem.sessionID == "" {
		b := make([]byte, 8)
		if _, err := io.ReadFull(mem.env.Rand, b); err != nil {
			return oxbow.Source{}, fmt.Errorf("making a session id: %w", err)
		}
		mem.sessionID = hex.EncodeToString(b)
	}
	s := oxbow.Source{Door: "cli", Actor: oxbow.Person, Session: mem.sessionID}
	s.Claimed.Client = "oxbow " + moduleVersion()
	if variable, c := mem.env.detectAgent(); variable != "" {
		s.Actor, s.Claimed.Agent = oxbow.Agent, cmp.Or(mem.env.Getenv("OXBOW_AGENT"), c.Client)
		s.Ref = c.SourceRef()
	}
	return s, nil
}

// openDir opens a directory and closes it at the end of the run.
func (mem *openMemory) openDir(dir string) (vfs.FS, error) {
	fsys, err := vfs.Dir(dir)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", dir, err)
	}
	mem.closers = append(mem.closers, fsys.Close)
	return fsys, nil
}

// closeAtEnd arranges that a memory gets a checkpoint and is closed at the end of the run.
func (mem *openMemory) closeAtEnd(m *oxbow.Memory) {
	mem.closers = append(mem.closers, m.Close)
	mem.memoriesToCheckpoint = append(mem.memoriesToCheckpoint, m)
}

// close closes all that the run has opened, in reverse order. Before that, close makes checkpoints.
// It makes no checkpoints in a server, which has already made them, and in a run that must end
// quickly.
func (mem *openMemory) close(ctx context.Context) error {
	var errs []error
	for _, m := range mem.memoriesToCheckpoint {
		if !mem.isHurried && mem.sealAfter == 0 {
			_ = m.Checkpoint(ctx) // if this fails, the next run makes the checkpoint
		}
	}
	for _, fn := range slices.Backward(mem.closers) {
		if err := fn(); err != nil && !errors.Is(err, oxbow.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// access is the kind of access to the memory that a command needs.
type access = verb.Access

const (
	readOwnAccess = verb.ReadOwn
	writeAccess   = verb.Write
	createAccess  = verb.Create
)
