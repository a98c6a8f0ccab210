// This file defines the Workspace, through which verbs access the memory and its
// surroundings.

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

// Access is the kind of access that a verb needs to the memory.
type Access int

const (
	Read    Access = iota // read entries, including team files
	ReadOwn               // read only the memory's own entries
	Write                 // change an existing memory
	Create                // change the memory, and create a missing memory
)

// UnlessDryRun returns the access, or [ReadOwn] if isDryRun is set.
func (a Access) UnlessDryRun(isDryRun bool) Access {
	if isDryRun {
		return ReadOwn
	}
	return a
}

// Workspace provides everything on which verbs work. An interface sets it up once. All
// calls of the interface share the workspace, and none modifies it.
type Workspace struct {
	// Open returns the memory with the requested access. Every call returns the same memory.
	// Because a server opens the memory only once, the server only distinguishes [Read] from the
	// other values. The program that calls the verbs must close the memory. See [OpenOnFirstUse]
	// for an implementation.
	Open func(ctx context.Context, how Access) (*oxbow.Memory, error)

	// Now is the clock. Its location is the time zone for dates such as 2026-04-18. Nil
	// means time.Now.
	Now func() time.Time

	// ProvenanceData returns the data for deciding whether a text repeats foreign text. Verbs
	// that write files use it. If it is nil, nothing is checked.
	Knowledge func() ProvenanceData

	// Unlabelled is set if the home has a layout other than oxbow's own. Files in such a layout do
	// not record whether a text repeats foreign text. Therefore each text is compared with the
	// foreign texts when the text is shown.
	Unlabelled bool

	// Home returns the home if it has a layout other than oxbow's own. It returns nil for other homes, and if the
	// caller sees only a part of the memory. Home may be nil.
	Home func(how Access) (LayoutHome, error)

	// Annotations returns the working tree's annotations, an *annotate.Store. The verbs of package
	// annotations use it, and cited files are checked against its tree. Annotations is called only
	// when needed, and is nil if there is no working tree.
	Annotations func(ctx context.Context) (WorkingTree, error)

	// Sessions returns the archive of sessions, including everything that hooks have
	// reported so far. It is nil if no sessions are kept.
	Sessions func(ctx context.Context) (*session.Archive, error)

	// Kept returns the archive without waiting, so it may lack the latest reports of hooks.
	// The archive is nil if it is not available at once. Kept is nil if no sessions are
	// kept.
	Kept func(ctx context.Context) (*session.Archive, error)

	// Place returns the location of the memory, and Host describes the machine. Verbs that
	// maintain files need both. They are nil if the memory is not in a file.
	Place func() (Place, error)
	Host  *Host

	// Words returns the text for a reference in a note, for results that contain notes as plain text. If it is nil,
	// the words for models are used.
	Words func(Reference) string

	// Typed rewrites the commands in a text of oxbow so that a person who types them in a shell
	// reaches this memory, which may need the flag --home. If it is nil, commands are not rewritten, for readers who
	// may not know the location of the memory.
	Typed func(text string) string

	// Unbounded is set if the reader can scroll. Results are then cut only to budgets that
	// the caller gives.
	Unbounded bool
	// Vectors are ranked in addition to words. Nil means that vectors are not
	// used.
	Vectors *Vectors

	// Page is the maximum size, in bytes, of a result that the client shows in full. 0
	// means unlimited. A larger result without a token budget is returned in pages.
	Page int

	// Loader resolves the profiles and skills that a session may load, and the profile to
	// which it is bound. Only the verbs of profiles and handoffs use it.
	Loader func() (*handoff.Loader, error)

	// Dir is the working directory, to which file names in handoffs are relative.
	Dir string

	// Project returns the project of the working tree, or "". If it is nil, the project is
	// not known.
	Project func() string

	// Profiles are the memory profiles that may be loaded, and Loaded those that the
	// caller's session has loaded. Loaded is nil if the caller has no session, and the
	// caller then receives handles. Only the verbs of [WithProfiles] use them.
	Profiles *Profiles
	Loaded   *LoadedProfiles

	// SecretPolicy determines how secrets in written text are handled. An agent's secrets are
	// replaced in every call's arguments before the verb uses them.
	Secrets SecretPolicy

	// WrittenTexts lists the texts that tools wrote in a home without a history. It may be nil.
	Written *WrittenTexts

	// Source is recorded with changes made under a context without a source.
	Source oxbow.Source

	// openUnrestricted opens the memory without the profile that the session has loaded. It is nil if no
	// profile is loaded.
	openUnrestricted func(ctx context.Context, how Access) (*oxbow.Memory, error)

	noAdvice          bool // the error for an unknown name has no advice
	isSessionsArchive bool // the memory is the sessions archive, so contents are turns
}

func (w *Workspace) CurrentTime() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}

// FormatDate formats a time in the time zone of the clock.
func (w *Workspace) FormatDate(t time.Time) string {
	return t.In(w.CurrentTime().Location()).Format("2006-01-02 15:04")
}

// NoteText returns a note in the words of the interface.
func (w *Workspace) NoteText(n Note) string {
	words := w.Words
	if words == nil {
		words = Reference.modelText
	}
	return w.RewriteCommands(n.Render(words))
}

// WithSource returns a context with the workspace's source, unless ctx has a source already.
// Secrets are removed from the caller's claims about itself. The context remembers which texts of the
// call were searched for secrets.
func (w *Workspace) WithSource(ctx context.Context) context.Context {
	ctx = withSearched(ctx)
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

// OpenMemory opens the memory, and returns a context that records the workspace's source in
// changes. Every verb begins with this call.
func (w *Workspace) OpenMemory(ctx context.Context, access Access) (context.Context, *oxbow.Memory, error) {
	m, err := w.Open(ctx, access)
	if err != nil {
		return ctx, nil, err
	}
	if w.Knowledge != nil {
		ctx = withFingerprints(ctx, w.Knowledge())
	}
	return w.WithSource(ctx), m, nil
}

// FindPlace returns the location of the memory. It fails if the memory is not in a file.
func (w *Workspace) FindPlace() (Place, error) {
	if w.Place == nil {
		return Place{}, fmt.Errorf("%w: the memory lies in no file", oxbow.ErrUnsupported)
	}
	return w.Place()
}

// OwnStorePath returns the path of the memory's file. It fails if the home has a layout other
// than oxbow's own.
func (w *Workspace) OwnStorePath(verb string) (string, error) {
	p, err := w.FindPlace()
	if err != nil || p.HasOwnLayout() {
		return p.StorePath, err
	}
	return "", Advise(
		fmt.Errorf(
			"%s works on oxbow's own layout, and %s is laid out as %s: %w",
			verb,
			p.Home,
			p.LayoutName,
			oxbow.ErrUnsupported,
		),
		"oxbow convert DIR makes a memory of oxbow's own layout from it",
	)
}

// ExistingStorePath is like OwnStorePath, but fails if the file does not exist.
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

// OpenArchive returns the archive of sessions, and a context with the workspace's source.
func (w *Workspace) OpenArchive(ctx context.Context) (context.Context, *session.Archive, error) {
	if w.Sessions == nil {
		return ctx, nil, UnservedError(
			"no sessions are kept here",
			"ask a server of the whole memory, with a token that sees all of it",
		)
	}
	a, err := w.Sessions(ctx)
	return w.WithSource(ctx), a, err
}

// SessionsWorkspace returns a workspace with the archive of sessions as its memory.
func (w *Workspace) SessionsWorkspace(ctx context.Context) (*Workspace, error) {
	_, a, err := w.OpenArchive(ctx)
	if err != nil {
		return nil, err
	}
	over := *w
	over.Open = func(context.Context, Access) (*oxbow.Memory, error) { return a.Memory, nil }
	over.Annotations = nil
	over.Vectors = nil
	over.isSessionsArchive = true
	return &over, nil
}

// NewestEntries returns up to limit entries, last written first.
func (w *Workspace) NewestEntries(ctx context.Context, limit int) ([]oxbow.Entry, error) {
	m, err := w.Open(ctx, Read)
	if err != nil {
		return nil, err
	}
	es, _, err := m.Newest(ctx, oxbow.Filter{}, 0, limit)
	return es, err
}

// OpenOnFirstUse returns an Open for a [Workspace], and a function that closes the memory if
// it was opened. The first call of Open opens the memory, and later calls return the same
// memory. If opening fails, the next call tries again.
func OpenOnFirstUse(
	open func(ctx context.Context) (*oxbow.Memory, error),
) (openOnce func(context.Context, Access) (*oxbow.Memory, error), closeFn func() error) {
	var mu sync.Mutex // guards m and closed, and is held while opening
	var m *oxbow.Memory
	closed := false
	openOnce = func(ctx context.Context, _ Access) (*oxbow.Memory, error) {
		mu.Lock()
		defer mu.Unlock()
		if closed {
			return nil, oxbow.ErrClosed
		}
		if m != nil {
			return m, nil
		}
		opened, err := open(ctx)
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

// Tidier returns the home as a [Tidier]. ok is false if the home cannot shorten its files, or if the caller sees only
// a part of the memory, because the files belong to all of it.
func (w *Workspace) Tidier(how Access) (t Tidier, ok bool, err error) {
	home, err := w.layoutHome(how)
	if err != nil || home == nil {
		return nil, false, err
	}
	t, ok = home.(Tidier)
	return t, ok, nil
}

// Compressor returns the home as a [Compressor]. ok is false if the home cannot compress periods, or if the caller sees
// only a part of the memory.
func (w *Workspace) Compressor(how Access) (c Compressor, ok bool, err error) {
	home, err := w.layoutHome(how)
	if err != nil || home == nil {
		return nil, false, err
	}
	c, ok = home.(Compressor)
	return c, ok, nil
}

func (w *Workspace) layoutHome(how Access) (LayoutHome, error) {
	if w.Home == nil {
		return nil, nil
	}
	return w.Home(how)
}
