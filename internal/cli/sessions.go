// This file opens the session archive and drains the spool of hook reports into it.

package cli

import (
	"cmp"
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
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/internal/code/project"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
	"github.com/oxbow-memory/oxbow/internal/verb/ownership"
	"github.com/oxbow-memory/oxbow/scope"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	// drainWait is how long a command waits until hook reports have been moved into the archive.
	// The next command moves the rest.
	drainWait = 500 * time.Millisecond

	// The archive compacts itself because a turn is rewritten each time it grows.
	archiveChanges = 1000
	archiveAge     = 7 * 24 * time.Hour
)

// archive returns a function that opens the archive of the home at its first call. Every call
// drains the spool, unless asItIs is set, and returns the part of the archive that the run may
// see. The archive is closed at the end of the run.
func (mem *openMemory) archive() func(context.Context) (*session.Archive, error) {
	if mem.sessions == nil {
		o := &archiveOpener{app: mem}
		mem.sessions, mem.kept = o.openDrained, o.openWithoutDrain
	}
	return mem.sessions
}

// archiveAsIs is like archive, but does not drain the spool. The returned archive is nil if there
// is none that can be queried at once.
func (mem *openMemory) archiveAsIs() func(context.Context) (*session.Archive, error) {
	mem.archive()
	return mem.kept
}

// archiveOpener opens the archive of the home once. It is safe for concurrent use.
type archiveOpener struct {
	app *openMemory

	mu        sync.Mutex // guards the fields below
	all, seen *session.Archive
	none      bool // there is no archive; all is an empty one in memory
	spool     session.Spool
}

// openDrained returns the archive after draining the hook reports into it, unless asItIs is set.
func (o *archiveOpener) openDrained(ctx context.Context) (*session.Archive, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.openArchive(); err != nil {
		return nil, err
	}
	all := o.all
	mayWrite := !o.none && !all.Memory.Options().ReadOnly
	if mayWrite && !o.app.asItIs {
		short, cancel := context.WithTimeout(ctx, cmp.Or(o.app.drainFor, drainWait))
		r, err := all.Drain(short, o.spool, transcript.Reader(o.app.cleanReport(), nil))
		for _, t := range r.Sessions { // oxbow inbox handles sessions for which the time is too short
			if short.Err() == nil {
				err = errors.Join(err, inbox.Learn(short, all, t))
			}
		}
		cancel()
		if err != nil && short.Err() == nil {
			o.app.env.warn("what hooks have reported is not in the archive yet: %v", err)
		}
	}
	return o.seen, nil
}

// maxUnindexed is the maximum size, in bytes, of an archive that can be queried at once without
// an index file.
const maxUnindexed = 4 << 20

// answersNow reports whether the archive exists and can be queried at once: it has at most
// maxUnindexed bytes, or an index file.
func answersNow(file string) bool {
	fi, err := os.Stat(file)
	if err != nil || fi.Size() <= maxUnindexed {
		return err == nil
	}
	fi, err = os.Stat(file + index.FileSuffix)
	return err == nil && fi.Size() > 0 // otherwise the next query creates the index
}

// openWithoutDrain returns the archive without draining the spool. It returns nil if there is no archive that
// can be queried at once.
func (o *archiveOpener) openWithoutDrain(context.Context) (*session.Archive, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.all == nil || o.none {
		home, err := o.app.finder.archiveHome()
		if err != nil || !answersNow(filepath.Join(home, session.StoreFile)) { // or no archive is possible
			return nil, nil
		}
	}
	err := o.openArchive()
	return o.seen, err
}

// openArchive opens the archive, and tries again in later calls if there was none. The caller must hold
// o.mu.
func (o *archiveOpener) openArchive() (err error) {
	if o.all == nil || o.none {
		home, err := o.app.finder.archiveHome()
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
	r, err := o.app.boundProfile()
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

// archiveHome returns the home, or an error if the home cannot have an archive.
func (finder *homeFinder) archiveHome() (string, error) {
	if err := finder.ownOnly("session"); err != nil {
		return "", err
	}
	path, err := finder.storePath()
	if err != nil {
		return "", err
	}
	home, err := finder.home()
	if err != nil {
		return "", err
	}
	if home == path {
		return "", &hintedError{
			errors.New("a home that is a file has no archive of sessions"),
			"give its directory as the home",
		}
	}
	if err := ownership.CheckSpool(home); err != nil {
		return "", err
	}
	return finder.trustedHome()
}

// fingerprintFile returns the file with fingerprints of the texts that a home's sessions have read.
func fingerprintFile(home string, now func() time.Time) *fingerprint.File {
	p := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.FingerprintFile(now)
	return &p
}

// openArchive opens the archive. It is opened for writing if that is possible and the archive or
// a spool exists. If neither exists, none is true and the archive is an empty one in memory. Such
// an archive must not be used to drain a spool that is created later.
func (mem *openMemory) openArchive(home string, spool session.Spool) (_ *session.Archive, none bool, err error) {
	src, err := mem.source()
	if err != nil {
		return nil, false, err
	}
	src.Actor = oxbow.Program
	path := filepath.Join(home, session.StoreFile)
	o := &oxbow.Options{Clock: mem.env.Now, Rand: mem.env.Rand, Source: src, KeepChanges: archiveChanges,
		KeepFor: archiveAge, SealAfter: mem.sealAfter}
	_, missing := os.Stat(path)
	none = missing != nil && (mem.asItIs || !isDir(spool.Dir))
	switch {
	case none:
		o.FS, path = vfs.NewMem(), session.StoreFile
	case mem.asItIs || mem.finder.host().MayWrite(path) != nil:
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
			err = &hintedError{err, maintenance.MendSessions(path)}
		}
		return nil, false, err
	}
	if !none {
		mem.closeAtEnd(m)
	}
	return &session.Archive{
		Memory:  m,
		Project: archivedProject,
		Commits: git.PeriodCommits(mem.env.Now),
		Label:   inbox.Label,
		Redact:  mem.screening().Cleaner().Text,
		Prints:  fingerprintFile(home, mem.env.Now),
	}, none, nil
}

// cleanReport returns a function that removes secrets and the fences of hooks from a text that a client reports.
func (mem *openMemory) cleanReport() func(string) string {
	cleaner := mem.screening().Cleaner()
	return func(s string) string { return cleaner.Text(session.Strip(s)) }
}

// findProject returns the name and root of the project that contains a directory. The directory may
// have been deleted, or be a path of another operating system.
func findProject(dir string) (name, root string) {
	if !filepath.IsAbs(dir) {
		words := strings.FieldsFunc(project.MainTree(strings.ReplaceAll(dir, `\`, "/")), func(r rune) bool {
			return r == '/' || r == '\\'
		})
		if len(words) == 0 {
			return "", dir
		}
		return words[len(words)-1], dir
	}
	p, err := project.Find(filepath.Clean(dir), os.ReadFile, isDir)
	if err != nil {
		return "", dir
	}
	return p.Name, p.Root
}

// archivedProject is like findProject, but for the directory of an archived session. If the
// directory has been deleted, such as a removed worktree, the name is a guess and root is "".
func archivedProject(dir string) (name, root string) {
	name, root = findProject(dir)
	if root == dir && !isDir(dir) {
		root = ""
	}
	return name, root
}

// sessionExposure returns the texts that a caller's session was shown or has read. The result is
// empty if the home cannot have sessions.
func (mem *openMemory) sessionExposure(ctx context.Context, c session.Caller) session.Exposure {
	home, err := mem.finder.archiveHome()
	if err != nil {
		return session.Exposure{}
	}
	x, err := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.Exposure(ctx, c, mem.archive(), mem.env.Now())
	if err != nil {
		mem.env.warn("whether the session has read what others wrote is not known: %v", err)
	}
	return x
}
