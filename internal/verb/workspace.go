// This file defines the Workspace, through which verbs access the memory, the session archive, the working tree and the
// settings of the caller.

package verb

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/handoff"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
)

// MemoryAccess says how a verb uses the memory.
type MemoryAccess int

const (
	Read                 MemoryAccess = iota // read entries, including entries in team files
	ReadWithoutTeamFiles                     // like Read, without the entries in team files
	Write                                    // change a memory that exists
	Create                                   // change the memory, and create a missing memory
)

// UnlessDryRun returns the access for a call that may be a dry run. If isDryRun is set, this is [ReadWithoutTeamFiles],
// otherwise the receiver a itself.
func (a MemoryAccess) UnlessDryRun(isDryRun bool) MemoryAccess {
	if isDryRun {
		return ReadWithoutTeamFiles
	}
	return a
}

// Workspace provides everything that verbs need. An interface creates it once. All calls of this interface share the
// workspace and do not change it.
type Workspace struct {
	// Open returns the memory with the requested access. Every call returns the same memory. A server opens the memory
	// only once, so it only distinguishes [Read] from all other values. The program that calls the verbs must
	// close the memory. See [OpenOnFirstUse] for an implementation.
	Open func(ctx context.Context, how MemoryAccess) (*oxbow.Memory, error)

	// Now returns the current time. Its location is the time zone for dates such as 2026-04-18. Nil means time.Now.
	Now func() time.Time

	// Knowledge returns the data that show whether a text repeats text by others, such as a web page. Verbs that write
	// files use it. If it is nil, texts are not compared.
	Knowledge func() ProvenanceData

	// Unlabelled is set if the home has a layout other than oxbow's own. Files in such a layout cannot record that a
	// text repeats text by others. Therefore each text is compared with such texts when it is shown.
	Unlabelled bool

	// Home returns the home if it has a layout other than oxbow's own. It returns nil for other homes, and if the
	// caller sees only a part of the memory. Home may be nil.
	Home func(how MemoryAccess) (LayoutHome, error)

	// Annotations returns the annotations of the working tree, which are an *annotate.Store. Package annotations uses
	// them. The files to which entries refer are checked against the store's tree. Annotations is called only when
	// needed. It is nil without a working tree.
	Annotations func(ctx context.Context) (WorkingTree, error)

	// Sessions returns the archive of sessions, which includes everything that hooks have reported so far. It is nil
	// if no sessions are stored.
	Sessions func(ctx context.Context) (*session.Archive, error)

	// Kept returns the archive of sessions without waiting, so the archive may lack the hooks' latest reports. It
	// returns nil if the archive is not available at once. Kept is nil if no sessions are stored.
	Kept func(ctx context.Context) (*session.Archive, error)

	// Place says where the memory is stored, and Host describes the machine. Verbs that maintain files need both. They
	// are nil if the memory is not in a file.
	Place func() (Place, error)
	Host  *Host

	// Words returns the wording of a reference in a note, for results that contain notes as plain text. If it is nil,
	// the wording for models is used.
	Words func(NoteReference) string

	// Typed changes the commands in one of oxbow's texts, so that they reach this memory when typed in a shell. For
	// example, it adds the flag --home. It is nil if commands are not to be changed, because the reader may not know
	// where the memory is.
	Typed func(text string) string

	// Unbounded is set if the reader can scroll through a long result, such as at a terminal. Results are then
	// shortened only if the caller sets a maximum number of tokens.
	Unbounded bool
	// Vectors are used for ranking, in addition to words. Nil means that vectors are not used.
	Vectors *Vectors

	// Page is the maximum size, in bytes, of a result that the client shows completely. A larger result without a
	// token budget is returned in pages. 0 means unlimited.
	Page int

	// Loader loads the profiles and skills that a session may load, and knows the profile to which the session is
	// bound. Only the verbs about profiles and handoffs use it.
	Loader func() (*handoff.Loader, error)

	// Dir is the working directory, to which file names in handoffs are relative.
	Dir string

	// Project returns the project to which the working tree belongs, or "" if the working tree does not belong to a
	// project. If the function is nil, the project is unknown.
	Project func() string

	// Profiles contains the memory profiles that may be loaded. Loaded contains the profiles that the caller's session
	// has loaded. If the caller has no session, Loaded is nil, and the caller gets a handle for each profile that it
	// loads. The caller passes this handle to the tools. Only the verbs of [ToolsWithProfiles] use these fields.
	Profiles *Profiles
	Loaded   *LoadedProfiles

	// Secrets decides how secrets in stored texts are treated. An agent's secrets are replaced in the arguments of
	// every call before the verb uses them.
	Secrets SecretPolicy

	// Written lists the texts that tools wrote in a home without a history. It may be nil.
	Written *WrittenTexts

	// Source is recorded with a change if the context of the call contains no source.
	Source oxbow.Source

	// openUnrestricted opens the memory without the restrictions of the profile that the session has loaded. It is nil
	// if no profile is loaded.
	openUnrestricted func(ctx context.Context, how MemoryAccess) (*oxbow.Memory, error)

	// MaxChangeBytes is the maximum size, in bytes, of a change by a verb that changes many entries. Such a verb makes
	// several changes if its work is larger (see [oxbow.CommitInParts]). 0 means the default of 16 MiB. Tests set it.
	MaxChangeBytes int

	omitsNameSuggestions bool // If a name is unknown, the error does not suggest similar names.
	isSessionsArchive    bool // the memory is the archive of sessions, so contents are conversation turns
}

func (w *Workspace) CurrentTime() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}

// FormatDate formats a date and time in the time zone of the clock.
func (w *Workspace) FormatDate(t time.Time) string {
	return t.In(w.CurrentTime().Location()).Format("2006-01-02 15:04")
}

// NoteText returns a note in the words of the interface for which w answers, such as the command line. Commands in the
// note are rewritten so that they work with the home of w.
func (w *Workspace) NoteText(n Note) string {
	words := w.Words
	if words == nil {
		words = NoteReference.textForModel
	}
	return w.RewriteCommands(n.Render(words))
}

// WithSource returns a context for a call. The context contains the workspace's source, unless ctx already contains a
// source. Secrets in the session, reference, client name and agent name of the source are replaced, because callers
// choose these texts. The context also records the texts in which no secret was found, so that functions that use the
// context do not search the same text for secrets twice.
func (w *Workspace) WithSource(ctx context.Context) context.Context {
	ctx = withSearchedTexts(ctx)
	s, ok := oxbow.SourceFrom(ctx)
	if !ok {
		s = w.Source
	}
	was := s
	for _, t := range []*string{&s.Session, &s.Ref, &s.Claimed.Client, &s.Claimed.Agent} {
		*t = w.Secrets.RedactText(ctx, *t, new([]screen.Secret))
	}
	if ok && s == was {
		return ctx
	}
	return oxbow.WithSource(ctx, s)
}

// OpenMemory opens the memory. Every verb begins with this call. The returned context contains the workspace's source,
// so that each change with the context records who made the change. If w.Knowledge is not nil, the context also
// contains the fingerprints (hashes of word sequences) by which repeated text by others is recognized.
func (w *Workspace) OpenMemory(ctx context.Context, access MemoryAccess) (context.Context, *oxbow.Memory, error) {
	m, err := w.Open(ctx, access)
	if err != nil {
		return ctx, nil, err
	}
	if w.Knowledge != nil {
		ctx = withFingerprintFile(ctx, w.Knowledge())
	}
	return w.WithSource(ctx), m, nil
}

// FindPlace returns where the memory is stored. It fails if the memory is not in a file.
func (w *Workspace) FindPlace() (Place, error) {
	if w.Place == nil {
		return Place{}, fmt.Errorf("%w: the memory lies in no file", oxbow.ErrUnsupported)
	}
	return w.Place()
}

// OwnStorePath returns the path of the memory's file. It fails if the home does not have oxbow's own layout. verbName
// is the name of the verb, for the error.
func (w *Workspace) OwnStorePath(verbName string) (string, error) {
	p, err := w.FindPlace()
	if err != nil || p.HasOwnLayout() {
		return p.StorePath, err
	}
	return "", Advise(
		fmt.Errorf(
			"%s works on oxbow's own layout, and %s is laid out as %s: %w",
			verbName,
			p.Home,
			p.LayoutName,
			oxbow.ErrUnsupported,
		),
		"oxbow convert DIR makes a memory of oxbow's own layout from it",
	)
}

// ExistingStorePath is like OwnStorePath, but also fails if the file does not exist.
func (w *Workspace) ExistingStorePath(verb string) (string, error) {
	store, err := w.OwnStorePath(verb)
	if err != nil {
		return "", err
	}
	missing, err := IsStoreMissing(store)
	if missing {
		return "", NoMemoryError(filepath.Dir(store))
	}
	return store, err
}

// OpenArchive opens the archive of sessions. It also returns a context that contains the workspace's source.
func (w *Workspace) OpenArchive(ctx context.Context) (context.Context, *session.Archive, error) {
	if w.Sessions == nil {
		return ctx, nil, NewUnsupportedError(
			"no sessions are kept here",
			"ask a server of the whole memory, with a token that sees all of it",
		)
	}
	a, err := w.Sessions(ctx)
	return w.WithSource(ctx), a, err
}

// SessionsWorkspace returns a workspace whose memory is the archive of sessions.
func (w *Workspace) SessionsWorkspace(ctx context.Context) (*Workspace, error) {
	_, a, err := w.OpenArchive(ctx)
	if err != nil {
		return nil, err
	}
	over := *w
	over.Open = func(context.Context, MemoryAccess) (*oxbow.Memory, error) { return a.Memory, nil }
	over.Annotations = nil
	over.Vectors = nil
	over.isSessionsArchive = true
	return &over, nil
}

// NewestEntries returns at most limit entries, ordered by when they were written, the newest first.
func (w *Workspace) NewestEntries(ctx context.Context, limit int) ([]oxbow.Entry, error) {
	m, err := w.Open(ctx, Read)
	if err != nil {
		return nil, err
	}
	es, _, err := m.Newest(ctx, oxbow.Filter{}, 0, limit)
	return es, err
}

// OpenOnFirstUse returns a function for [Workspace.Open], and a function that closes the memory if it was opened. The
// memory is opened by the first call, and later calls return the same memory. If opening fails, the next call tries
// again. After closeFn was called, openOnce returns [oxbow.ErrClosed].
func OpenOnFirstUse(
	openMemory func(ctx context.Context) (*oxbow.Memory, error),
) (openOnce func(context.Context, MemoryAccess) (*oxbow.Memory, error), closeFn func() error) {
	var mu sync.Mutex // guards the variables below, and is held while the memory is opened
	var m *oxbow.Memory
	closed := false
	openOnce = func(ctx context.Context, _ MemoryAccess) (*oxbow.Memory, error) {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return nil, oxbow.ErrClosed
		}
		if m != nil {
			return m, nil
		}
		opened, err := openMemory(ctx)
		if err != nil {
			return nil, err
		}
		m = opened
		return m, nil
	}
	closeFn = func() error {
		mu.Lock()
		defer mu.Unlock()
		closed = true
		if m == nil {
			return nil
		}
		err := m.Close()
		m = nil
		return err
	}
	return openOnce, closeFn
}

// Tidier returns the home as a [Tidier], which can shorten the files of a home with another system's layout. The
// argument access says whether the caller reads or writes. ok is false if the home has oxbow's own layout or its layout
// does not implement Tidier. ok is also false if the caller may see only a part of the memory, because the files
// contain all of it.
func (w *Workspace) Tidier(access MemoryAccess) (t Tidier, ok bool, err error) {
	home, err := w.layoutHome(access)
	if err != nil || home == nil {
		return nil, false, err
	}
	t, ok = home.(Tidier)
	return t, ok, nil
}

// Compressor returns the home as a [Compressor], which replaces the entries of a period by a shorter digest. The
// argument access says whether the caller reads or writes. ok is false if the home has oxbow's own layout, or if its
// layout does not implement Compressor. ok is also false if the caller may see only a part of the memory.
func (w *Workspace) Compressor(access MemoryAccess) (c Compressor, ok bool, err error) {
	home, err := w.layoutHome(access)
	if err != nil || home == nil {
		return nil, false, err
	}
	c, ok = home.(Compressor)
	return c, ok, nil
}

func (w *Workspace) layoutHome(access MemoryAccess) (LayoutHome, error) {
	if w.Home == nil {
		return nil, nil
	}
	return w.Home(access)
}
