// Opens the archive of sessions, and drains the spool of hooks into it.

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/inbox"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/care/label"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/screening/secret"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// drainWait is how long a command waits for what hooks have reported to be in
	// the archive. What is not, the next one takes.
	drainWait = 500 * time.Millisecond

	// The archive compacts itself: a turn is written again as it goes on.
	archiveChanges = 1000
	archiveAge     = 7 * 24 * time.Hour
)

// archive returns a function that opens the archive of the home at its first call,
// drains the spool at each, unless it is read as it is, and returns what the run may
// see. The archive is closed at the end of the run.
func (a *app) archive() func(context.Context) (*session.Archive, error) {
	if a.sessions == nil {
		o := &archiveOpener{app: a}
		a.sessions, a.kept = o.drained, o.kept
	}
	return a.sessions
}

// archiveAsIs is archive without the drain. The archive is nil where there is none that
// answers at once.
func (a *app) archiveAsIs() func(context.Context) (*session.Archive, error) {
	a.archive()
	return a.kept
}

// archiveOpener opens the archive of the home once. It is safe for concurrent use.
type archiveOpener struct {
	app *app

	mu        sync.Mutex // guards the following
	all, seen *session.Archive
	none      bool // all is of no file
	spool     session.Spool
}

// drained returns the archive with what hooks have reported up to now, unless the run
// reads it as it is.
func (o *archiveOpener) drained(ctx context.Context) (*session.Archive, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.open(); err != nil {
		return nil, err
	}
	if all := o.all; !o.app.asItIs && !o.none && !all.Memory.Options().ReadOnly {
		short, cancel := context.WithTimeout(ctx, drainWait)
		r, err := all.Drain(short, o.spool, transcript.Reader(func(s string) string {
			return all.Redact(session.Strip(s))
		}, nil))
		for _, t := range r.Sessions { // oxbow inbox does the rest
			if short.Err() == nil {
				err = errors.Join(err, inbox.Learn(short, all, t))
			}
		}
		cancel()
		if err != nil && short.Err() == nil {
			o.app.warn("what hooks have reported is not in the archive yet: %v", err)
		}
	}
	return o.seen, nil
}

// maxUnindexed is the bytes of an archive that answers at once without an index.
const maxUnindexed = 4 << 20

// answersNow reports whether there is an archive that does not have to be read whole.
func answersNow(file string) bool {
	fi, err := os.Stat(file)
	if err != nil || fi.Size() <= maxUnindexed {
		return err == nil
	}
	fi, err = os.Stat(file + index.FileSuffix)
	return err == nil && fi.Size() > 0 // else the next query makes it
}

// kept returns the archive as it is; nil where there is none that answers at once.
func (o *archiveOpener) kept(context.Context) (*session.Archive, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil || o.none {
		home, err := o.app.archiveHome()
		if err != nil || !answersNow(filepath.Join(home, session.StoreFile)) { // or it can have none
			return nil, nil
		}
	}
	err := o.open()
	return o.seen, err
}

// open opens the archive, until there is one. o.mu is held.
func (o *archiveOpener) open() (err error) {
	if o.all == nil || o.none {
		home, err := o.app.archiveHome()
		if err != nil {
			return err
		}
		o.spool.Dir = filepath.Join(home, session.SpoolDir)
		o.all, o.none, err = o.app.openArchive(home, o.spool)
		if err != nil {
			return err
		}
		o.seen = nil
	}
	if o.seen != nil {
		return nil
	}
	r, err := o.app.bound()
	if err != nil {
		return err
	}
	o.seen = o.all
	if r != nil {
		narrow := *o.all
		narrow.Memory = scope.Within(o.all.Memory, r.Scope())
		o.seen = &narrow
	}
	return nil
}

// archiveHome returns the home, where it can have an archive.
func (a *app) archiveHome() (string, error) {
	if err := a.ownOnly("session"); err != nil {
		return "", err
	}
	path, err := a.storePath()
	if err != nil {
		return "", err
	}
	home, err := a.home()
	if err != nil {
		return "", err
	}
	if home == path {
		return "", &hinted{
			errors.New("a home that is a file has no archive of sessions"),
			"give its directory as the home",
		}
	}
	if err := verb.CheckSpool(home); err != nil {
		return "", err
	}
	return a.trustedHome()
}

// prints returns the fingerprints of what the sessions of a home have read.
func prints(home string, now func() time.Time) *fingerprint.File {
	p := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.Prints(now)
	return &p
}

// openArchive opens the archive: to be written to where that is possible and there
// is one, or something for it. Without either it is none: an empty one of no file,
// which must take nothing out of a spool that came since.
func (a *app) openArchive(home string, spool session.Spool) (_ *session.Archive, none bool, err error) {
	src, err := a.source()
	if err != nil {
		return nil, false, err
	}
	src.Actor = oxbow.Program
	path := filepath.Join(home, session.StoreFile)
	o := &oxbow.Options{Clock: a.env.Now, Rand: a.env.Rand, Source: src, KeepChanges: archiveChanges,
		KeepFor: archiveAge, SealAfter: a.sealAfter}
	_, missing := os.Stat(path)
	none = missing != nil && (a.asItIs || !isDir(spool.Dir))
	switch {
	case none:
		o.FS, path = vfs.NewMem(), session.StoreFile
	case a.asItIs || a.host().MayWrite(path) != nil:
		o.ReadOnly = true
	default:
		if err := maintenance.WriteGitignore(home); err != nil {
			o.ReadOnly = true
		}
	}
	m, err := oxbow.Open(path, o)
	if err != nil {
		err = fmt.Errorf("opening the archive of sessions: %w", err)
		if errors.Is(err, oxbow.ErrCorrupt) || errors.Is(err, oxbow.ErrNotStore) {
			err = &hinted{err, maintenance.MendSessions(path)}
		}
		return nil, false, err
	}
	if !none {
		a.closeAtEnd(m)
	}
	return &session.Archive{Memory: m, Project: archivedProject, Commits: git.CommitsOf(a.env.Now),
		Label: inbox.Label, Redact: redactor(home), Prints: prints(home, a.env.Now)}, none, nil
}

// cleaner returns what takes secrets and the fences of hooks out of a text.
func cleaner(home string) func(string) string {
	redact := redactor(home)
	return func(s string) string { return redact(session.Strip(s)) }
}

// redactor returns what takes secrets out of a text.
func redactor(home string) func(string) string {
	r := secret.NewRedactor(home)
	return func(s string) string {
		s, _ = r.Redact(s)
		return s
	}
}

// projectOf returns the name and root of the project of a directory, which may be
// gone, or of another system.
func projectOf(dir string) (name, root string) {
	if !filepath.IsAbs(dir) {
		words := strings.FieldsFunc(label.MainTree(strings.ReplaceAll(dir, `\`, "/")), func(r rune) bool {
			return r == '/' || r == '\\'
		})
		if len(words) == 0 {
			return "", dir
		}
		return words[len(words)-1], dir
	}
	p, err := label.ProjectOf(filepath.Clean(dir), os.ReadFile, isDir)
	if err != nil {
		return "", dir
	}
	return p.Name, p.Root
}

// archivedProject is projectOf for a directory in which a session ran. If the directory is
// gone, such as a worktree that was removed, its name is a guess, and there is no root.
func archivedProject(dir string) (name, root string) {
	name, root = projectOf(dir)
	if root == dir && !isDir(dir) {
		root = ""
	}
	return name, root
}

// exposureOf returns what stood before the model of a caller's session; nothing in a
// home without sessions.
func (a *app) exposureOf(ctx context.Context, c session.Caller) session.Exposure {
	home, err := a.archiveHome()
	if err != nil {
		return session.Exposure{}
	}
	x, err := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.Exposure(ctx, c, a.archive(), a.env.Now())
	if err != nil {
		a.warn("whether the session has read what others wrote is not known: %v", err)
	}
	return x
}
