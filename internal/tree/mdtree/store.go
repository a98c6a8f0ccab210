// The store: its options and its state.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/watch"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options change how a tree is opened. Zero fields mean the default.
type Options struct {
	// Clock stamps new entries. It also tells whether a file was changed so
	// shortly ago that a later change may have the same time; time.Now by
	// default.
	Clock func() time.Time
	// LockWait bounds the wait for other writers; [vfs.DefaultLockWait] by
	// default.
	LockWait time.Duration
	// Lock is the path of the lock file, for a layout that can be opened from
	// several directories; .oxbow-tree.lock by default.
	Lock string
	// ReadOnly refuses every change and takes no lock.
	ReadOnly bool
	// Manual leaves the search for edits to Open, Refresh and Check: other calls
	// answer from what these read.
	Manual bool
	// Prefer is called by each scan, and returns what reports whether the claim of a file
	// to a name counts before those of files that come earlier by path. That is called for
	// names that several files claim, and must not call the store. It is for a store that
	// is ReadOnly; by default the first file by path counts.
	Prefer func(ctx context.Context) func(path, text string) bool
	// MaxFile is the most bytes that are read of a file; by default, what one
	// with the longest content may have.
	MaxFile int64
	// Path is the directory in messages. It is never opened.
	Path string
	// Warn receives what a person should know and no call can return: a file
	// that is held at its last good state, a new conflict copy. It must not
	// call the store. Nil discards.
	Warn func(message string)
}

// Store is a tree of files as a store of entries. It is an [oxbow.Store], and
// an [oxbow.Watcher], [oxbow.Checker] and [oxbow.Counter].
//
// IDs are assigned in order of path and position in the file when the tree is
// opened, and counted on from there: they are stable and never reused while the
// store is open, and the same tree gives the same IDs when it is opened again.
// The version of an entry is a fingerprint of 53 bits of what it says: the same
// in every process, and the same again when a text is restored. The time of an
// update is that of its file, unless the layout reads one.
type Store struct {
	tree   // its overlay and reads are guarded by scanner.mu, durable by writer
	layout Layout
	opts   Options

	writer   writer
	scanner  scanner
	served   served
	watchers watch.List[oxbow.Event]

	mu     sync.RWMutex // guards the following; changed only with scanner.mu held
	st     *state
	closed bool
}

// served is what callers last received and other programs may have changed
// since. It is guarded by scanner.mu.
type served struct {
	base map[string]*oxbow.Entry // of entries that changed since
	text map[string]string       // of documents
	held map[string]bool         // documents that became empty
}

var (
	_ oxbow.Store   = (*Store)(nil)
	_ oxbow.Watcher = (*Store)(nil)
	_ oxbow.Checker = (*Store)(nil)
	_ oxbow.Counter = (*Store)(nil)
)

func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return oxbow.ErrClosed
	}
	return nil
}

func (s *Store) warn(format string, args ...any) {
	if s.opts.Warn != nil {
		s.opts.Warn(fmt.Sprintf(format, args...))
	}
}

// writer is the state of the one writer of a process. Sem is held by the
// writer and guards the rest.
type writer struct {
	sem     chan struct{}
	lock    vfs.Lock // between processes, nil until the first change
	cleaned bool     // what a crash left was removed
}

// scanner is what is known of the directories. Mu is held during a scan and
// during a change of files; it guards the rest, the overlay of the tree, and
// what was served.
type scanner struct {
	mu                sync.Mutex
	dirs              []*directory
	notify            vfs.Watch       // nil without one
	notifyUnsupported bool            // the file system has none
	opened            bool            // the first scan is done
	dirty             map[string]bool // files to read in any case, see markDirty
}

// directory is one of the layout's directories.
type directory struct {
	path         string
	hiddenPrefix string      // the hidden part of the path, see hiddenPrefix
	info         fs.FileInfo // of the watched one, nil when it is not watched
	files        int         // matched when it was listed last
	links        []string    // those of them that are links, whose files are not watched
	listError    string      // why it could not be listed, reported once
}

// errChanged is returned for a file that changed after the edit was planned.
var errChanged = errors.New("the file changed meanwhile")

// hidden reports whether a path leads through a name that begins with a dot,
// such as .git, other than those that the layout's own directories are in.
func (s *Store) hidden(p string) bool {
	for _, d := range s.scanner.dirs {
		if rest, ok := strings.CutPrefix(p, d.hiddenPrefix); ok && !isHidden(rest) {
			return false
		}
	}
	return isHidden(p)
}

// isHidden reports whether a path has an element that begins with a dot.
func isHidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// hiddenPrefix returns the part of a directory's path up to its last hidden
// element, with a slash after it; "" when it has none.
func hiddenPrefix(dir string) string {
	i := strings.LastIndex("/"+dir, "/.")
	if i < 0 || dir == "." {
		return ""
	}
	if n := strings.IndexByte(dir[i:], '/'); n >= 0 {
		return dir[:i+n+1]
	}
	return dir + "/"
}

// storeError turns the errors of a file system into those of package oxbow.
func (s *Store) storeError(err error) error {
	switch {
	case err == nil || errors.Is(err, errChanged) || errors.Is(err, oxbow.ErrUnknownOutcome):
		return err
	case vfs.IsFull(err):
		return fmt.Errorf("%w: nothing was written: %w", oxbow.ErrFull, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", oxbow.ErrReadOnly, err)
	}
	return err
}

// matches reports whether the layout may hold entries in the file of that path.
func (s *Store) matches(p string) bool {
	base := path.Base(p)
	if base[0] == '.' || strings.HasSuffix(base, ".tmp") || IsConflict(base) {
		return false
	}
	dir := path.Dir(p)
	return slices.ContainsFunc(s.scanner.dirs, func(d *directory) bool { return d.path == dir }) && s.layout.Match(p)
}

// outcome is what a change does in addition to its edits.
type outcome struct {
	removed map[string]bool   // names that were removed, maybe to come back as other entries
	copies  map[string]string // files that are kept as conflict copies, and why
	written []oxbow.Version   // what each op leaves
}
