// This file defines lazyMemory, the memory that one run of oxbow uses. It includes the author of the run's changes,
// and everything that is closed at the end.

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

// lazyMemory is the memory that a run uses. The memory is opened when a command needs it, and stays open until the end
// of the run. The field finder locates the home, which is the directory with the memory's files.
type lazyMemory struct {
	env    *environment
	finder *homeFinder

	agentFlag   string
	profileFlag string
	embedFlag   string // URL of the server that computes vectors
	// name of the model with which the server at the URL embedFlag computes vectors
	modelFlag       string
	allowSecret     bool                  // --allow-secret: stores text even if it looks like a secret
	cachedScreening *provenance.Screening // settings for examining texts (nil until they are needed)
	runID           string                // random ID that identifies this run
	commandPath     string                // words of the command, without "oxbow"
	commandNames    func() []string       // returns the names of all commands, for rewriteCommands
	isDemoSample    bool                  // The memory contains the sample data of oxbow demo.
	isTenantHome    bool                  // The home is one of several homes that a server serves.
	writeLimit      *tenant.Limit         // limits on writing (nil means no limit)
	daemonMemories  *daemonMemories       // memories of a daemon (nil if the memory is a store file in its home)

	// logSealDelay is the time after the last change when a seal is appended to the log of a memory that stays open.
	// The seal makes later damage to the change provable. If logSealDelay is 0, a seal is appended only when the memory
	// is closed.
	logSealDelay time.Duration
	sharedCache  *oxbow.Cache // cache that several memories share (nil if each memory has its own)

	teamFiles          teamFiles
	folderState        folderState
	profileSet         *profile.Set      // nil until it is needed
	cachedBoundProfile *profile.Resolved // nil until it is needed, or if no profile binds the run
	// describeStoreDefect returns a description of the open store's defect, or "". It calls the function say to convert
	// notes to text for the caller's interface. It is nil for a store without a defect.
	describeStoreDefect atomic.Pointer[func(say func(verb.Note) string) string]
	otherLayoutHome     layout.Home // the home, if it has another layout (nil until needed)
	// functions that sign the memory's latest state; they are called before the memory is closed
	closeHooks closeHooks
	// The run ends without checkpoints, because a client waits for its end, or because a checkpoint was made.
	skipsCheckpoints bool
	// maximum time for moving hook reports into the archive (0 means the constant spoolDrainTimeout)
	drainTimeout time.Duration
	// The run's answer is shown to the user before memories are closed.
	showsAnswerFirst     bool
	memoriesToCheckpoint []*oxbow.Memory // memories that get a checkpoint at the end of the run
	missingHome          string          // home without a memory file that the run has read ("" without such a home)
	closeFuncs           []func() error  // functions that are called at the end of the run

	// opens the archive of sessions after moving the waiting hook reports from the spool into the archive (nil until it
	// is needed)
	openDrainedArchive func(context.Context) (*session.Archive, error)
	// isArchiveReadOnly is set if nothing may be written to the session archive. Waiting hook reports then stay where
	// they are.
	isArchiveReadOnly bool
	// opens the archive of sessions without draining the spool
	openUndrainedArchive func(context.Context) (*session.Archive, error)
	// textsSeenByCaller returns which texts by other people or programs a caller's session has read. It is set only in
	// a server, and nil in any other run.
	textsSeenByCaller func(ctx context.Context, c session.Caller) session.Exposure
	unknownCommandErr error // error about an unknown command for which help was requested

	// repeatsForeignText reports whether a text repeats text by others that agents have read. If it is nil, no text
	// does.
	repeatsForeignText func(text string) bool

	// chooseInjectedBlock chooses the block that a hook shows with a prompt. If it is nil, injection.Inject chooses the
	// block.
	chooseInjectedBlock func(context.Context, inject.Prompt) (inject.ShownBlock, error)
}

// teamFiles caches the team files of the working directory.
type teamFiles struct {
	mu             sync.Mutex // guards the fields below
	trustedTree    *team.Tree // nil if the user trusts no team files
	lastSearchTime time.Time  // time of the last search for team files (zero before the first)
}

// folderState records when a process last compared registered folders with the memory. The functions are set by
// enableFolderSync. They are nil if the process does not follow folders.
type folderState struct {
	mu sync.Mutex // guards the fields below, and is locked during a comparison
	// This process has already compared the folders with the memory, which a command does only once.
	areFoldersCompared bool
	nextComparisonTime time.Time // time at which the server compares the folders with the memory again
	printedWarnings    map[string]bool

	// brings files that have changed in the followed folders into the memory, once in a run
	compareFolders func()
	// writes the memory changes of this process into the folders' files
	writeFolders func(context.Context, *verb.Workspace)
	newComparer  func(how accessKind, open openMemoryFunc) func(context.Context, verb.MemoryAccess)
}

// openMemoryFunc is a function with which a server opens the memory.
type openMemoryFunc = func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error)

// newLazyMemory returns the memory for a run in this environment. Nothing is opened yet.
func newLazyMemory(baseEnv Env) *lazyMemory {
	env := &environment{Env: baseEnv, programName: "oxbow"}
	return &lazyMemory{env: env, finder: &homeFinder{env: env}}
}

// sourceOfChanges returns the source that is recorded for all changes of this run. The source shows whether a person or
// an agent started the run. If an agent started the run, the source also contains the agent's name, which is the value
// of the variable $OXBOW_AGENT or the name of the client. An agent sets this variable so that its changes can be
// distinguished from the person's changes. The name is in the field Claimed, because oxbow cannot check the name.
func (mem *lazyMemory) sourceOfChanges() (oxbow.Source, error) {
	if mem.runID == "" {
		b := make([]byte, 8)
		if _, err := io.ReadFull(mem.env.Rand, b); err != nil {
			return oxbow.Source{}, fmt.Errorf("making a session id: %w", err)
		}
		mem.runID = hex.EncodeToString(b)
	}
	s := oxbow.Source{Door: "cli", Actor: oxbow.Person, Session: mem.runID}
	s.Claimed.Client = "oxbow " + moduleVersion()
	if variable, c := mem.env.detectAgent(); variable != "" {
		s.Actor, s.Claimed.Agent = oxbow.Agent, cmp.Or(mem.env.Getenv("OXBOW_AGENT"), c.Client)
		s.Ref = c.SourceRef()
	}
	return s, nil
}

// openDir opens a directory. It is closed at the end of the run.
func (mem *lazyMemory) openDir(dir string) (vfs.FS, error) {
	fsys, err := vfs.Dir(dir)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", dir, err)
	}
	mem.closeFuncs = append(mem.closeFuncs, fsys.Close)
	return fsys, nil
}

// closeAtRunEnd registers the memory m, so that the memory is closed when the process ends. It also registers m for a
// checkpoint, which is made before the memory is closed.
func (mem *lazyMemory) closeAtRunEnd(m *oxbow.Memory) {
	mem.closeFuncs = append(mem.closeFuncs, m.Close)
	mem.memoriesToCheckpoint = append(mem.memoriesToCheckpoint, m)
}

// close closes everything that the run has opened, in reverse order. Before that, it writes the checkpoints of the
// memories, unless skipsCheckpoints is set because the run must end quickly. A server has a logSealDelay and has
// written its checkpoints already, so close does not write them again.
func (mem *lazyMemory) close(ctx context.Context) error {
	mem.printMissingMemoryNote(nil)
	var errs []error
	for _, m := range mem.memoriesToCheckpoint {
		if !mem.skipsCheckpoints && mem.logSealDelay == 0 {
			_ = m.Checkpoint(ctx) // Ignore the error: the next run makes the checkpoint.
		}
	}
	for _, fn := range slices.Backward(mem.closeFuncs) {
		if err := fn(); err != nil && !errors.Is(err, oxbow.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// printMissingMemoryNote prints a note if the command read from a home that does not have a memory file yet. It prints
// no note if the answer shows something, such as the turns of a session or the entries of a team, because the note
// would then not explain anything. The argument answer may be nil. Only the first call can print the note.
func (mem *lazyMemory) printMissingMemoryNote(answer any) {
	home := mem.missingHome
	mem.missingHome = ""
	a, ok := answer.(interface{ HasText() bool })
	isAnswered := ok && a.HasText()
	if home != "" && !isAnswered {
		mem.env.printNote("there is no memory in %s yet; the first remember makes it", home)
	}
}

// accessKind is the kind of access to the memory that a command needs.
type accessKind = verb.MemoryAccess

const (
	readWithoutTeamAccess = verb.ReadWithoutTeamFiles
	writeAccess           = verb.Write
	createAccess          = verb.Create
)
