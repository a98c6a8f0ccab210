// This file implements the annotation store. The store reads and writes the sidecars of one working tree. A sidecar is
// a file with the annotations of one source file.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/code/git"
	"github.com/oxbow-memory/oxbow/vfs"
)

// defaultLockWait is the default time for which an append waits for other processes that write.
const defaultLockWait = 5 * time.Second

// Options are the options of [Open] and [OpenDir]. A field that is nil or zero means the default.
type Options struct {
	// Dir is the sidecars' directory, relative to the root of the tree and with slashes. The default is
	// [DefaultDir]. The layout of CodeRhapsody uses .cr/annotations.
	Dir string

	// GitHistory reads the git history of the tree. If GitHistory is nil, old versions of files are unknown, and blocks
	// are found only by their text.
	History GitHistory

	Clock    func() time.Time // returns the time for a record without a time; the default is time.Now
	LockWait time.Duration    // maximum time for which Add waits for other writers; the default is 5 s

	// MachineKey returns the key of this machine. CreateMachineKey also creates the key if necessary. Without
	// MachineKey, no annotation counts as written by this machine (see [Store.FindUnreviewedAnnotations]).
	MachineKey       func() []byte
	CreateMachineKey func(ctx context.Context) []byte

	// ReviewedCommit returns the commit of the reviewed branch, or "" if no branch is reviewed.
	ReviewedCommit func(ctx context.Context, repo *git.Repo) (string, error)
}

// Store reads and writes the annotations of one working tree. Several goroutines may use a Store at the same
// time, and several processes may open the same tree.
type Store struct {
	worktree           vfs.FS
	sidecarDir         string
	history            GitHistory
	opts               Options
	closeDir           func() error
	root               string    // the tree's root as a path of the operating system ("" if it is not known)
	repo               *git.Repo // git repository of the tree (nil without git)
	noWorkingTreeError error     // error to return for a repository without a working tree

	// The first annotation that is added makes all annotations private, so that git ignores them.
	shouldStartPrivate bool
	maxReadSize        int64 // maximum size, in bytes, of a sidecar that is read (0 means no limit)

	mu              sync.Mutex                  // guards the fields below
	cachedSidecars  map[string]*cachedSidecar   // by the path of the sidecar
	resultsByFile   map[string]*fileAnnotations // annotations that the last lookups found, by file
	formerFileNames map[string][]string         // former names of files, by HEAD and file

	oldVersionCaches map[string]*oldVersionCache // old versions of files, by file
}

// Open returns a store for a working tree. worktree is the file system at the root of the tree. Open reads and creates
// no files.
func Open(worktree vfs.FS, o *Options) (*Store, error) {
	b := &Store{worktree: worktree}
	if o != nil {
		b.opts = *o
	}
	if b.opts.Dir == "" {
		b.opts.Dir = DefaultDir
	}
	if b.opts.Clock == nil {
		b.opts.Clock = time.Now
	}
	if b.opts.LockWait == 0 {
		b.opts.LockWait = defaultLockWait
	}
	b.sidecarDir, b.history = b.opts.Dir, b.opts.History
	if err := CheckFile(b.sidecarDir); err != nil {
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	b.clearCaches()
	return b, nil
}

// clearCaches removes everything from the caches.
func (b *Store) clearCaches() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cachedSidecars = map[string]*cachedSidecar{}
	b.resultsByFile = map[string]*fileAnnotations{}
	b.formerFileNames = map[string][]string{}
	b.oldVersionCaches = map[string]*oldVersionCache{}
}

// Close closes the files that [OpenDir] opened.
func (b *Store) Close() error {
	if b.closeDir == nil {
		return nil
	}
	return b.closeDir()
}

// cachedSidecar is a parsed sidecar, which is a file with annotations. size and modTime are the size and the
// modification time of this file.
type cachedSidecar struct {
	size    int64
	modTime time.Time
	sidecar *sidecar
}

// isCurrent reports whether the sidecar was parsed from the file's present content, as far as size and time tell.
func (c *cachedSidecar) isCurrent(fi fs.FileInfo) bool {
	return c.size == fi.Size() && c.modTime.Equal(fi.ModTime())
}

// maxSidecarBytes is the maximum size, in bytes, of a sidecar.
const maxSidecarBytes = 256 << 20

// SkipLargeSidecars makes the store ignore sidecars of more than maxBytes bytes. Hooks need this because they must
// answer quickly, and reading a large sidecar takes long. Call it before any other method.
func (b *Store) SkipLargeSidecars(maxBytes int64) { b.maxReadSize = maxBytes }

var missingSidecar = &sidecar{} // missingSidecar is the result for a file without a sidecar. It must not be changed.

// readSidecar reads a sidecar, which is the file with the annotations of one file. name is the path relative to the
// sidecar directory. If the sidecar does not exist, or is larger than b.maxReadSize, readSidecar returns
// missingSidecar. The caller must not change the result, because the result is cached.
func (b *Store) readSidecar(name string) (*sidecar, error) {
	full := path.Join(b.sidecarDir, name)
	fi, err := b.worktree.Stat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return missingSidecar, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	if b.maxReadSize > 0 && fi.Size() > b.maxReadSize {
		return missingSidecar, nil
	}
	b.mu.Lock()
	c := b.cachedSidecars[name]
	b.mu.Unlock()
	if c != nil && c.isCurrent(fi) {
		return c.sidecar, nil
	}
	data, err := vfs.ReadFile(b.worktree, full, maxSidecarBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return missingSidecar, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	c = &cachedSidecar{size: int64(len(data)), modTime: fi.ModTime(), sidecar: parseSidecar(data)}
	b.mu.Lock()
	b.cachedSidecars[name] = c
	b.mu.Unlock()
	return c.sidecar, nil
}

// usesSHA256 reports whether blobs are named by SHA-256.
func (b *Store) usesSHA256() bool { return b.history != nil && b.history.IsSHA256() }

// CheckSparseCheckout returns an error if the working tree lacks the sidecar directory although git's index contains
// annotations. This is the case in a sparse checkout without this directory.
func (b *Store) CheckSparseCheckout() error {
	if b.repo == nil {
		return nil
	}
	if _, err := b.worktree.Stat(b.sidecarDir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if names, err := git.ListTrackedFiles(filepath.Join(b.root, filepath.FromSlash(b.sidecarDir))); err != nil ||
		len(names) == 0 {
		return nil // Git's index cannot be read, or it contains no annotations.
	}
	return fmt.Errorf(
		"the annotations of this repository are not checked out; git sparse-checkout add %s gets them, or git "+
			"restore %[1]s",
		path.Dir(b.sidecarDir),
	)
}

// isShallowClone reports whether the repository is a shallow clone.
func (b *Store) isShallowClone() bool {
	h, ok := b.history.(interface{ IsShallow() bool })
	return ok && h.IsShallow()
}

// maxCachedFiles is the maximum number of files for which results or former names are cached.
const maxCachedFiles = 64

// ReadRecords returns the annotations in a file's sidecar, the oldest first, including archived annotations. Each
// annotation has the line numbers that it was written with. [Store.Lookup] finds the present lines.
func (b *Store) ReadRecords(_ context.Context, file string) ([]Record, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	s, err := b.readSidecar(sidecarPath(file))
	if err != nil {
		return nil, err
	}
	rs := make([]Record, len(s.records))
	for i, r := range s.records {
		rs[i] = *r
	}
	return rs, nil
}

// readContent returns the content of a file in the working tree.
func (b *Store) readContent(file string) ([]byte, error) {
	if b.noWorkingTreeError != nil {
		return nil, b.noWorkingTreeError
	}
	data, err := vfs.ReadFile(b.worktree, file, MaxFileBytes)
	if errors.Is(err, vfs.ErrTooLarge) {
		return nil, &oxbow.InvalidError{
			Field:  "file",
			Value:  file,
			Reason: fmt.Sprintf("is longer than %d MiB, too long to annotate", MaxFileBytes>>20),
		}
	}
	return data, err
}

// lockOldVersionCache returns the cache of a file's old versions, with the cache's mutex locked. The caller must unlock
// the mutex. If the file's cache has become too large, it is emptied. If there is no cache for the file, but already
// maxCachedHistories caches for other files, all of these caches are discarded.
func (b *Store) lockOldVersionCache(file string) *oldVersionCache {
	b.mu.Lock()
	l := b.oldVersionCaches[file]
	if l == nil {
		if len(b.oldVersionCaches) >= maxCachedHistories {
			clear(b.oldVersionCaches)
		}
		l = newOldVersionCache()
		b.oldVersionCaches[file] = l
	}
	b.mu.Unlock()
	l.mu.Lock()
	if l.cachedBytes > maxOldFileTextBytes || len(l.numberer.lineIDs) > maxInternedLines {
		l.numberer = newLineAndWordNumberer()
		l.oldFileTexts = map[string]*oldFileText{}
		l.missingAtHead = map[string]string{}
		l.cachedBytes = 0
	}
	return l
}

// maxDirDepth is the maximum depth of the directories that walkFiles visits.
const maxDirDepth = 64

// walkSidecars calls fn for each sidecar, in the order of their paths. name is the path relative to the sidecar
// directory.
func (b *Store) walkSidecars(ctx context.Context, fn func(name string) error) error {
	return b.walkFiles(ctx, b.sidecarDir, func(name string) error {
		if !strings.HasSuffix(name, sidecarSuffix) {
			return nil
		}
		return fn(name)
	})
}

// walkFiles calls fn for each regular file below the directory root, in the order of their paths. name is the path
// relative to root. walkFiles does not follow symbolic links. It skips the sidecar directory, unless root is the
// sidecar directory.
func (b *Store) walkFiles(ctx context.Context, root string, fn func(name string) error) error {
	var down func(dir string, depth int) error
	down = func(dir string, depth int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := b.worktree.ReadDir(path.Join(root, dir))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing files: %w", err)
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir() && depth < maxDirDepth && path.Join(root, name) != b.sidecarDir:
				err = down(name, depth+1)
			case e.Type().IsRegular():
				err = fn(name)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
	return down(".", 0)
}

// eachSidecar calls fn for each sidecar with its parsed content, sorted by path.
func (b *Store) eachSidecar(ctx context.Context, fn func(name string, s *sidecar) error) error {
	return b.walkSidecars(ctx, func(name string) error {
		s, err := b.readSidecar(name)
		if err != nil {
			return err
		}
		return fn(name, s)
	})
}

// AllRecords returns the annotations of all files, sorted by sidecar path and then by time. Each annotation has the
// line numbers that it was written with. An ID occurs at most once in each sidecar.
func (b *Store) AllRecords(ctx context.Context) ([]Record, error) {
	var all []Record
	err := b.walkSidecars(ctx, func(name string) error {
		c, err := b.readSidecar(name)
		if err != nil {
			return err
		}
		for _, r := range c.records {
			all = append(all, *r)
		}
		return nil
	})
	return all, err
}

// FileLines reads a file of the working tree and splits its content with [SplitLines]. The error matches
// [oxbow.ErrInvalid] if the file cannot be annotated, and an error of package io/fs if reading the file fails.
func (b *Store) FileLines(file string) ([]string, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	data, err := b.readContent(file)
	if err != nil {
		return nil, fmt.Errorf("reading a file: %w", err)
	}
	if isBinary(data) {
		return nil, binaryFileError(file)
	}
	return SplitLines(data), nil
}

// HasFile reports whether the working tree contains the file.
func (b *Store) HasFile(file string) bool {
	fi, err := b.worktree.Stat(file)
	return err == nil && fi.Mode().IsRegular()
}

// isBlobName reports whether a text has the form of a blob name in this repository.
func (b *Store) isBlobName(name string) bool {
	return git.IsHash(name) && (len(name) == 64) == b.usesSHA256()
}

// BlobName computes the name that git gives to a blob with this content. Git need not have the blob.
func (b *Store) BlobName(content []byte) string {
	return blobName(content, b.usesSHA256())
}

// HasRepoOrAnnotations reports whether the tree is a git repository or has annotations.
func (b *Store) HasRepoOrAnnotations() bool {
	if b.repo != nil {
		return true
	}
	_, err := b.worktree.Stat(b.sidecarDir)
	return !errors.Is(err, fs.ErrNotExist)
}
