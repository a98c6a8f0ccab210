// This file declares the store and its options.

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
	"github.com/oxbow-memory/oxbow/internal/base/subscribers"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Options configure a store. Zero fields mean the default.
type Options struct {
	// Clock returns the time of new entries. It is also used to decide whether a file was changed
	// so recently that a later change may have the same modification time. The default is time.Now.
	Clock func() time.Time
	// LockWait is the maximum time to wait for other writers. The default is [vfs.DefaultLockWait].
	LockWait time.Duration
	// LockPath is the path of the lock file, for layouts that can be opened from several directories.
	// The default is .oxbow-tree.lock.
	LockPath string
	// ReadOnly makes all changes fail. No lock is acquired.
	ReadOnly bool
	// NoJournal is for a directory whose files are shared by git. A lock file must not be added to such a directory,
	// and a journal in it could come from somebody else. The store does not use a lock file, and ignores journals and
	// staged files. A change may write only one file, and leftover temporary files are deleted only if they are stale
	// (see [vfs.RemoveStaleTemps]).
	NoJournal bool
	// ScansOnlyOnRequest lets only Open, Refresh and Check scan the directory for changed files. Other methods use the
	// result of the last scan.
	ScansOnlyOnRequest bool
	// NewFilePriorityTest chooses between several files that contain an entry with the same name. The store calls
	// NewFilePriorityTest at each scan for changed files. NewFilePriorityTest returns a function. The returned function
	// reports whether the entry in a file with this path and text has priority over entries in files whose paths sort
	// before this path. Neither function may call the store. A change to such an entry changes the preferred file. By
	// default, the file whose path sorts first is used.
	NewFilePriorityTest func(ctx context.Context) func(path, text string) bool
	// MaxFileBytes is the maximum size, in bytes, of a file. The default is large enough for the longest
	// content.
	MaxFileBytes int64
	// DirectoryName is the name of the directory in messages. It is never opened.
	DirectoryName string
	// Warn receives warnings that no method returns as an error, for example that the last good
	// state of a file is used, or that a conflict copy was created. It must not call the store. If
	// Warn is nil, warnings are discarded.
	Warn func(message string)
}

// Store stores entries in a tree of files. It implements [oxbow.Store], [oxbow.Watcher],
// [oxbow.Checker] and [oxbow.Counter].
//
// When the tree is opened, IDs are assigned in the order of paths and positions in the files. New entries get the next
// IDs. IDs are stable and never reused while the store is open, and opening the same tree again results in the same
// IDs. An entry's version is a 53-bit fingerprint of its content and metadata. It is the same in every process, and
// the same again if a text is restored. The time of an update is the file's modification time, unless the layout
// parses a time.
type Store struct {
	// To read files or to use the field newTextFileByPath, lock scanner.mu. To use the field syncedDirs, acquire
	// writer.writerToken.
	fileTree
	layout  Layout
	options Options

	writer        writerState
	scanner       scanState
	servedEntries returnedEntries
	watchers      subscribers.List[oxbow.Event]

	mu     sync.RWMutex // guards the fields below (to change them, scanner.mu must also be locked)
	state  *treeState
	closed bool
}

// returnedEntries contains entries and documents that callers have received, and that other programs may have changed
// since. scanner.mu guards it.
type returnedEntries struct {
	// entries as callers received them; an entry is in the map only if another program has changed it since
	receivedEntryByName map[string]*oxbow.Entry
	documentTexts       map[string]string // texts of documents as callers received them
	// Documents that somebody made empty. The store returns their last text instead.
	documentsEmptiedOnDisk map[string]bool
}

var (
	_ oxbow.Store   = (*Store)(nil)
	_ oxbow.Watcher = (*Store)(nil)
	_ oxbow.Checker = (*Store)(nil)
	_ oxbow.Counter = (*Store)(nil)
)

func (s *Store) checkReady(ctx context.Context) error {
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
	if s.options.Warn != nil {
		s.options.Warn(fmt.Sprintf(format, args...))
	}
}

// writerState contains the data of the only goroutine in this process that may change files. Before a goroutine uses
// any other field, it puts a value into writerToken, which has room for a single value.
type writerState struct {
	writerToken         chan struct{}
	processLock         vfs.Lock // lock between processes (nil until the first change)
	hasRemovedTempFiles bool     // leftover temporary files were removed
}

// scanState contains the known facts about the directories with the entries' files, which are searched for changes by
// other programs. mu is locked during such a scan and during each change by this store. It guards the other fields,
// and the fields returnedEntries and fileTree.newTextFileByPath of the store.
type scanState struct {
	mu                 sync.Mutex
	dirs               []*layoutDirectory
	fileWatch          vfs.Watch // nil if no directory is watched
	isWatchUnsupported bool      // the file system does not support watching
	hasReadFiles       bool      // all files have been read at least once, when the store was opened
	// paths of files that must be read at the next scan even if they seem to be unchanged
	dirtyFiles map[string]bool
}

// layoutDirectory is a directory of the layout.
type layoutDirectory struct {
	path string
	// the part of path up to the last element that begins with a dot, such as ".notes/" ("" without such an element)
	hiddenPrefix   string
	watchedDirInfo fs.FileInfo // description of the watched directory (nil if it is not watched)
	fileCount      int         // number of matching files in the last listing
	// Links in the directory whose names match the layout. A watch of the directory does not report changes to their
	// targets.
	linkFiles []string
	listError string // error from listing the directory, which is reported once
}

// isHiddenPath reports whether an element of the path p starts with a dot, such as .git. The directories of the layout
// may have such elements in their own paths. If p is in such a directory, isHiddenPath ignores the elements up to the
// last hidden element of the directory's path.
func (s *Store) isHiddenPath(p string) bool {
	for _, d := range s.scanner.dirs {
		if rest, ok := strings.CutPrefix(p, d.hiddenPrefix); ok && !isHidden(rest) {
			return false
		}
	}
	return isHidden(p)
}

// isHidden reports whether the path has an element that starts with a dot.
func isHidden(filePath string) bool {
	return strings.HasPrefix(filePath, ".") || strings.Contains(filePath, "/.")
}

// pathToLastHiddenElement returns a directory's path up to its last hidden element, with a trailing
// slash. It returns "" if no element is hidden.
func pathToLastHiddenElement(dir string) string {
	i := strings.LastIndex("/"+dir, "/.")
	if i < 0 || dir == "." {
		return ""
	}
	if n := strings.IndexByte(dir[i:], '/'); n >= 0 {
		return dir[:i+n+1]
	}
	return dir + "/"
}

// convertFileSystemError converts file system errors to errors of package oxbow.
func (s *Store) convertFileSystemError(err error) error {
	switch {
	case err == nil || errors.Is(err, vfs.ErrChanged) || errors.Is(err, oxbow.ErrUnknownOutcome):
		return err
	case vfs.IsFull(err):
		return fmt.Errorf("%w: nothing was written: %w", oxbow.ErrFull, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", oxbow.ErrReadOnly, err)
	}
	return err
}

// mayHoldEntries reports whether the layout may store entries in the file.
func (s *Store) mayHoldEntries(filePath string) bool {
	base := path.Base(filePath)
	isHidden := base[0] == '.'
	isOther := strings.HasSuffix(base, ".tmp") || IsConflictCopy(base)
	if isHidden || isOther {
		return false
	}
	dir := path.Dir(filePath)
	return slices.ContainsFunc(s.scanner.dirs, func(d *layoutDirectory) bool { return d.path == dir }) &&
		s.layout.Match(filePath)
}

// opPlanEffects lists what planned operations do to entries. It does not contain the edited texts of the files.
type opPlanEffects struct {
	// Names of entries that were removed. If an entry is added again with such a name, it gets a new ID.
	removedNames map[string]bool
	// Files that another program has changed, if that change could not be merged with the operations. The value is the
	// reason. Copies of these files are kept.
	conflictReasonByFile map[string]string
	writtenVersions      []oxbow.Version // entry after each op
}
