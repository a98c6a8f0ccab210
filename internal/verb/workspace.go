// The Workspace: the world that a verb works on, and how it is opened.

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
	"github.com/oxbow-memory/oxbow/internal/agent/subagent"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/screening/secret"
)

// Access is what a verb does with the memory.
type Access int

const (
	Read   Access = iota // change nothing; the entries of team files are seen, too
	Own                  // change nothing, and see the memory's own entries alone
	Write                // change what is there
	Create               // change, and make the memory where it is missing
)

// Unless returns the access, or [Own] for a dry run.
func (a Access) Unless(dry bool) Access {
	if dry {
		return Own
	}
	return a
}

// Workspace is what a verb works on. A door wires it once. It is shared by all
// calls of that door, and no call changes it.
type Workspace struct {
	// Open returns the memory for such an access, the same one each time. A
	// server, which opens it once, tells [Read] from the others alone. The caller of the verbs
	// closes it. [OpenOnFirstUse] makes such a function.
	Open func(ctx context.Context, how Access) (*oxbow.Memory, error)

	// Now is the clock by which dates such as 2026-04-18 are read, in the
	// time zone of what it returns. Nil means time.Now.
	Now func() time.Time

	// Knowledge returns what decides whether a text repeats others, for verbs that write
	// files. Nil decides nothing.
	Knowledge func() Knowledge

	// Annotations returns the annotations of the working tree. The verbs of
	// [Code] need it, and entries that cite files are checked against its tree;
	// nil where there is none. It is called only when there is something to
	// look at.
	Annotations func(ctx context.Context) (*annotate.Store, error)

	// Sessions returns the archive of sessions, with what hooks have reported up to
	// now. Nil where none is kept.
	Sessions func(ctx context.Context) (*session.Archive, error)

	// Kept returns the archive as it is, without what hooks have reported since it
	// was last looked at, and a nil archive where there is none that answers at once.
	// Nil where none is kept.
	Kept func(ctx context.Context) (*session.Archive, error)

	// Place returns where the memory lies, and Host describes what is around it.
	// Verbs that look after the files need both; nil where there are none.
	Place func() (Place, error)
	Host  *Host

	// Words writes what notes refer to, in texts that an answer has as strings.
	// Nil writes for models.
	Words func(Reference) string

	// Unbounded is true where the reader scrolls: answers are cut only to the
	// budgets that are given.
	Unbounded bool
	// Vectors rank next to the words; nil for none.
	Vectors *Vectors

	// Page is the most bytes of an answer that the reader's client shows it whole;
	// 0 for no bound. What is longer and has no budget of tokens comes in pages.
	Page int

	// SubAgents starts sub-agents. Only the verb of [SubAgents] uses it; nil
	// where that is not served.
	SubAgents *subagent.Service

	// Loader resolves the profiles and skills that a session may load, and the
	// profile that binds it. Only the verbs of profiles and handoffs use it.
	Loader func() (*handoff.Loader, error)

	// Dir is the working directory, in which the files that handoffs name are
	// looked for.
	Dir string

	// Project returns the project of the working tree, or "". Nil means that it
	// is not known.
	Project func() string

	// Profiles are the memory profiles that may be loaded, and Loaded those that
	// the caller's session has loaded; nil where it has no session, and handles
	// are given. Only the verbs of [WithProfiles] look at them.
	Profiles *Profiles
	Loaded   *LoadedProfiles

	// Secrets decide what becomes of secrets in what is written. An agent's are
	// replaced in the arguments of every call, before anything is made of them.
	Secrets Secrets

	// Written lists the texts that tools of a home without a history wrote; nil for none.
	Written *Written

	// Source is stamped on every change whose context carries none.
	Source oxbow.Source

	overTurns bool // the memory is the archive: contents are those of turns
}

func (w *Workspace) Time() time.Time {
	if w.Now == nil {
		return time.Now()
	}
	return w.Now()
}

// Date shows a moment in the time zone of the clock.
func (w *Workspace) Date(t time.Time) string {
	return t.In(w.Time().Location()).Format("2006-01-02 15:04")
}

// Say returns a note in the words of the door.
func (w *Workspace) Say(n Note) string {
	if w.Words == nil {
		return n.String()
	}
	return n.In(w.Words)
}

// Stamped returns the context that carries the workspace's source, unless it
// carries another already. What a caller says of itself is kept without secrets.
func (w *Workspace) Stamped(ctx context.Context) context.Context {
	s, ok := oxbow.SourceFrom(ctx)
	if !ok {
		s = w.Source
	}
	was := s
	for _, t := range []*string{&s.Session, &s.Ref, &s.Claimed.Client, &s.Claimed.Agent} {
		*t = w.Secrets.Redact(*t, new([]secret.Finding))
	}
	if ok && s == was {
		return ctx
	}
	return oxbow.WithSource(ctx, s)
}

// Memory opens the memory, and returns the context that stamps changes with
// the workspace's source. Every verb begins with it.
func (w *Workspace) Memory(ctx context.Context, how Access) (context.Context, *oxbow.Memory, error) {
	m, err := w.Open(ctx, how)
	if err != nil {
		return ctx, nil, err
	}
	if w.Knowledge != nil {
		ctx = withPrints(ctx, w.Knowledge())
	}
	return w.Stamped(ctx), m, nil
}

// Located returns where the memory lies.
func (w *Workspace) Located() (Place, error) {
	if w.Place == nil {
		return Place{}, fmt.Errorf("%w: the memory lies in no file", oxbow.ErrUnsupported)
	}
	return w.Place()
}

// OwnStore returns the path of the memory's file, for a verb that works on oxbow's
// own layout alone.
func (w *Workspace) OwnStore(verb string) (string, error) {
	p, err := w.Located()
	if err != nil || p.Own() {
		return p.Store, err
	}
	return "", Advise(fmt.Errorf("%s works on oxbow's own layout, and %s is laid out as %s: %w", verb, p.Home, p.Layout, oxbow.ErrUnsupported),
		"oxbow convert makes a memory of oxbow's own layout from it")
}

// ExistingStore is OwnStore for a verb that needs one to be there.
func (w *Workspace) ExistingStore(verb string) (string, error) {
	store, err := w.OwnStore(verb)
	if err != nil {
		return "", err
	}
	missing, err := StoreMissing(store)
	if missing {
		return "", NoMemory(filepath.Dir(store))
	}
	return store, err
}

// Archive returns the archive of sessions.
func (w *Workspace) Archive(ctx context.Context) (context.Context, *session.Archive, error) {
	if w.Sessions == nil {
		return ctx, nil, unserved("no sessions are kept here", "ask a server of the whole memory, with a token that sees all of it")
	}
	a, err := w.Sessions(ctx)
	return w.Stamped(ctx), a, err
}

// OverSessions returns a workspace whose memory is the archive.
func (w *Workspace) OverSessions(ctx context.Context) (*Workspace, error) {
	_, a, err := w.Archive(ctx)
	if err != nil {
		return nil, err
	}
	over := *w
	over.Open = func(context.Context, Access) (*oxbow.Memory, error) { return a.Memory, nil }
	over.Annotations = nil
	over.Vectors = nil
	over.overTurns = true
	return &over, nil
}

// AnnotationStore is Memory for the annotations of the working tree.
func (w *Workspace) AnnotationStore(ctx context.Context) (context.Context, *annotate.Store, error) {
	if w.Annotations == nil {
		return ctx, nil, unserved("no working tree is served here", "start the server inside the working tree of the code, and ask with a token that sees the whole memory")
	}
	s, err := w.Annotations(ctx)
	if err != nil {
		return ctx, nil, err
	}
	return w.Stamped(ctx), s, nil
}

// Newest returns entries of the memory, the last written first.
func (w *Workspace) Newest(ctx context.Context, most int) ([]oxbow.Entry, error) {
	m, err := w.Open(ctx, Read)
	if err != nil {
		return nil, err
	}
	es, _, err := m.Newest(ctx, oxbow.Filter{}, 0, most)
	return es, err
}

// OpenOnFirstUse returns an Open for a [Workspace] that opens the memory at its first call
// and keeps it, and the function that closes it if it was opened. A failure is
// not kept: the next call tries again.
func OpenOnFirstUse(open func(ctx context.Context) (*oxbow.Memory, error)) (get func(context.Context, Access) (*oxbow.Memory, error), closeFn func() error) {
	var mu sync.Mutex // guards m and closed, and lets one caller open at a time
	var m *oxbow.Memory
	closed := false
	get = func(ctx context.Context, _ Access) (*oxbow.Memory, error) {
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
	return get, closeFn
}

// StatsOf returns the numbers of the store.
func StatsOf(ctx context.Context, m *oxbow.Memory) (oxbow.Stats, error) {
	c, ok := m.Store().(oxbow.Counter)
	if !ok {
		return oxbow.Stats{}, fmt.Errorf("counting: %w", oxbow.ErrUnsupported)
	}
	s, err := c.Stats(ctx)
	return s, Wrapped("counting", err)
}
