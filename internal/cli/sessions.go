// This file opens the archive of sessions. It also moves the hook reports in the spool into the archive.

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
	// spoolDrainTimeout is how long a command waits while hook reports are moved into the archive. The next command
	// moves the rest.
	spoolDrainTimeout = 500 * time.Millisecond

	// The archive keeps at least the last minArchivedChanges changes and the changes of the last minArchivedPeriod. It
	// removes older versions of turns by itself, because a growing turn is written again in full each time.
	minArchivedChanges = 1000
	minArchivedPeriod  = 7 * 24 * time.Hour
)

// archiveOpenerAfterSpoolDrain returns a function that returns the archive of sessions. The first call of that function
// opens the archive. Each call first moves the reports that hooks have left in the spool into the archive, unless
// isArchiveReadOnly is set. The returned archive contains only the sessions that this run may see. The archive is
// closed at the end of the run.
func (mem *lazyMemory) archiveOpenerAfterSpoolDrain() func(context.Context) (*session.Archive, error) {
	if mem.openDrainedArchive == nil {
		o := &archiveOpener{mem: mem}
		mem.openDrainedArchive, mem.openUndrainedArchive = o.openAfterSpoolDrain, o.openWithoutSpoolDrain
	}
	return mem.openDrainedArchive
}

// archiveOpenerWithoutSpoolDrain returns a function that opens the home's session archive. The returned function leaves
// waiting hook reports in the spool, where hooks store them. (Use archiveOpenerAfterSpoolDrain to move these reports
// into the archive first.) The returned function returns a nil archive if no archive exists or if the archive's index
// would have to be built first.
func (mem *lazyMemory) archiveOpenerWithoutSpoolDrain() func(context.Context) (*session.Archive, error) {
	mem.archiveOpenerAfterSpoolDrain()
	return mem.openUndrainedArchive
}

// archiveOpener opens the home's archive once. It is safe for concurrent use.
type archiveOpener struct {
	mem *lazyMemory

	mu                                sync.Mutex // guards the fields below
	unfilteredArchive, visibleArchive *session.Archive
	// The home lacks an archive. unfilteredArchive is an empty archive in memory.
	hasNoArchive bool
	spool        session.Spool
}

// openAfterSpoolDrain returns the archive of sessions. Before that, it moves the reports that hooks have left in the
// spool directory into the archive, unless isArchiveReadOnly is set. If the reports cannot be moved, it prints a
// warning.
func (o *archiveOpener) openAfterSpoolDrain(ctx context.Context) (*session.Archive, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if err := o.openOrRetryArchive(); err != nil {
		return nil, err
	}
	all := o.unfilteredArchive
	mayWrite := !o.hasNoArchive && !all.Memory.Options().ReadOnly
	if mayWrite && !o.mem.isArchiveReadOnly {
		short, cancel := context.WithTimeout(ctx, cmp.Or(o.mem.drainTimeout, spoolDrainTimeout))
		read := transcript.HookReportStore{Dir: o.spool.Dir}.NewReader(o.mem.newReportCleaner(), o.mem.env.Now)
		r, err := all.DrainSpool(short, o.spool, read)
		// Sessions for which the drain timeout leaves no time are examined later, by oxbow inbox.
		for _, t := range r.ChangedSessions {
			if short.Err() == nil {
				err = errors.Join(err, inbox.StoreLessons(short, all, t))
			}
		}
		cancel()
		if err != nil && short.Err() == nil {
			o.mem.env.printWarning("what hooks have reported is not in the archive yet: %v", err)
		}
	}
	return o.visibleArchive, nil
}

// maxUnindexedBytes is the maximum size, in bytes, of an archive that can be queried without delay even if it has no
// index file.
const maxUnindexedBytes = 4 << 20

// isArchiveQueryable reports whether the archive in a file can be queried at once. This is so if it has an index
// file, or at most maxUnindexedBytes bytes.
func isArchiveQueryable(file string) bool {
	fi, err := os.Stat(file)
	if err != nil || fi.Size() <= maxUnindexedBytes {
		return err == nil
	}
	fi, err = os.Stat(file + index.FileSuffix)
	// Report false if the index file is missing or empty, because the next query would first have to build the index.
	return err == nil && fi.Size() > 0
}

// openWithoutSpoolDrain returns the archive of sessions. Unlike openAfterSpoolDrain, it does not first move the hooks'
// reports from the spool, which is a directory, into the archive. If the archive is not open yet, and a query would
// first have to build its index, openWithoutSpoolDrain returns nil.
func (o *archiveOpener) openWithoutSpoolDrain(context.Context) (*session.Archive, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.unfilteredArchive == nil || o.hasNoArchive {
		home, err := o.mem.finder.archiveHome()
		if err != nil {
			return nil, nil // Ignore the error, because an archive exists only in a home.
		}
		if !isArchiveQueryable(filepath.Join(home, session.StoreFile)) {
			return nil, nil
		}
	}
	err := o.openOrRetryArchive()
	return o.visibleArchive, err
}

// openOrRetryArchive opens the archive. If the archive was missing, a later call tries again. The caller must hold
// o.mu.
func (o *archiveOpener) openOrRetryArchive() (err error) {
	if o.unfilteredArchive == nil || o.hasNoArchive {
		home, err := o.mem.finder.archiveHome()
		if err != nil {
			return err
		}
		o.spool.Dir = filepath.Join(home, session.SpoolDir)
		o.unfilteredArchive, o.hasNoArchive, err = o.mem.openArchive(home, o.spool)
		if err != nil {
			return err
		}
		o.visibleArchive = nil
	}
	if o.visibleArchive != nil {
		return nil
	}
	r, err := o.mem.boundProfile()
	if err != nil {
		return err
	}
	o.visibleArchive = o.unfilteredArchive
	if r != nil {
		narrow := *o.unfilteredArchive
		narrow.Memory = scope.Within(o.unfilteredArchive.Memory, r.Scope())
		o.visibleArchive = &narrow
	}
	return nil
}

// archiveHome returns the directory of the home in which a session archive can be stored. It returns an error if the
// home has another layout, is a single file, is not trusted by the user, or if its spool (the directory for incoming
// prompts) is a symbolic link.
func (finder *homeFinder) archiveHome() (string, error) {
	if err := finder.requireOxbowLayout("session"); err != nil {
		return "", err
	}
	path, err := finder.storePath()
	if err != nil {
		return "", err
	}
	home, err := finder.homePath()
	if err != nil {
		return "", err
	}
	if home == path {
		return "", &hintedError{
			errors.New("a home that is a file has no archive of sessions"),
			"give its directory as the home",
		}
	}
	if err := ownership.CheckSpoolDir(home); err != nil {
		return "", err
	}
	return finder.trustedHome()
}

// newFingerprintFile returns the file with the fingerprints of the texts that a home's sessions have read.
func newFingerprintFile(home string, now func() time.Time) *fingerprint.Store {
	p := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}.FingerprintFile(now)
	return &p
}

// openArchive opens the archive of a home. The archive is opened for writing if this is possible, and read-only
// otherwise. A spool is a directory of events that are waiting to be moved (drained) into the archive. If the archive
// does not exist, and there is no spool or mem.isArchiveReadOnly is set, openArchive returns an empty archive in
// memory, and the result isInMemory is true. The caller must not drain a spool that is created later into this archive.
func (mem *lazyMemory) openArchive(home string, spool session.Spool) (_ *session.Archive, isInMemory bool, err error) {
	src, err := mem.sourceOfChanges()
	if err != nil {
		return nil, false, err
	}
	src.Actor = oxbow.Program
	path := filepath.Join(home, session.StoreFile)
	o := &oxbow.Options{Clock: mem.env.Now, Rand: mem.env.Rand, Source: src, KeepChanges: minArchivedChanges,
		KeepFor: minArchivedPeriod, SealAfter: mem.logSealDelay}
	_, missing := os.Stat(path)
	isInMemory = missing != nil && (mem.isArchiveReadOnly || !isDir(spool.Dir))
	switch {
	case isInMemory:
		o.FS, path = vfs.NewMem(), session.StoreFile
	case mem.isArchiveReadOnly || mem.finder.host().CheckMayWrite(path) != nil:
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
			err = &hintedError{err, maintenance.ArchiveRepairAdvice(path)}
		}
		return nil, false, err
	}
	if !isInMemory {
		mem.closeAtRunEnd(m)
	}
	return &session.Archive{
		Memory:       m,
		FindProject:  findArchivedProject,
		FindCommits:  git.NewPeriodCommitFinder(mem.env.Now),
		MakeLabels:   inbox.TurnLabels,
		Redact:       mem.secretScreening().Cleaner().CleanText,
		Fingerprints: newFingerprintFile(home, mem.env.Now),
	}, isInMemory, nil
}

// newReportCleaner returns a function that cleans a text that a client reported. The function removes secrets, and the
// fenced blocks that oxbow's hooks inserted into prompts.
func (mem *lazyMemory) newReportCleaner() func(string) string {
	cleaner := mem.secretScreening().Cleaner()
	return func(s string) string { return cleaner.CleanText(session.StripInsertedBlocks(s)) }
}

// findProject returns the name and the root of the project that contains a directory. The directory may have been
// deleted, or may be a path of another operating system. If no project is found, the name is "" and the root is dir.
func findProject(dir string) (name, root string) {
	if !filepath.IsAbs(dir) {
		words := strings.FieldsFunc(project.MainWorktreeDir(strings.ReplaceAll(dir, `\`, "/")), func(r rune) bool {
			return r == '/' || r == '\\'
		})
		if len(words) == 0 {
			return "", dir
		}
		return words[len(words)-1], dir
	}
	p, err := project.FindProject(filepath.Clean(dir), os.ReadFile, isDir)
	if err != nil {
		return "", dir
	}
	return p.Name, p.RootDir
}

// findArchivedProject is like findProject, but the argument dir is the directory of an archived session, which may have
// been deleted. If dir does not exist and findProject returns dir itself as the root, findArchivedProject returns "" as
// projectRoot, because dir may have been only a part of a project. For example, dir may be a removed worktree.
func findArchivedProject(dir string) (name, projectRoot string) {
	name, projectRoot = findProject(dir)
	if projectRoot == dir && !isDir(dir) {
		projectRoot = ""
	}
	return name, projectRoot
}

// findTextsSeenBySession returns the texts that the session of a caller was shown or has read. The result is empty if
// the home cannot have sessions.
func (mem *lazyMemory) findTextsSeenBySession(ctx context.Context, c session.Caller) session.Exposure {
	home, err := mem.finder.archiveHome()
	if err != nil {
		return session.Exposure{}
	}
	x, err := session.Spool{
		Dir: filepath.Join(home, session.SpoolDir),
	}.FindTextsSeenBySession(
		ctx,
		c,
		mem.archiveOpenerAfterSpoolDrain(),
		mem.env.Now(),
	)
	if err != nil {
		mem.env.printWarning("whether the session has read what others wrote is not known: %v", err)
	}
	return x
}
