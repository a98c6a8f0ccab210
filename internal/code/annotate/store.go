// The store of annotations: the sidecars of one working tree.

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

// defaultLockWait is how long an append waits for another process.
const defaultLockWait = 5 * time.Second

// Options change how a store is opened. Nil and zero fields mean the default.
type Options struct {
	// Dir holds the sidecars, slash-separated, below the root of the tree:
	// [DefaultDir], or .cr/annotations as CodeRhapsody has it.
	Dir string

	// History is what git knows of the tree. Nil means that there is no git:
	// annotations are then placed by their text alone.
	History History

	Clock    func() time.Time // stamps records without a time; time.Now by default
	LockWait time.Duration    // bounds the wait for other writers; 5 s by default

	// Key returns the key of this machine, and MakeKey creates it if necessary. Without
	// them no annotation is known as this machine's own; see [Store.Unreviewed].
	Key     func() []byte
	MakeKey func(ctx context.Context) []byte

	// ReviewedCommit returns the commit of the branch whose annotations others have
	// reviewed, and "" if there is none.
	ReviewedCommit func(ctx context.Context, repo *git.Repo) (string, error)
}

// Store is the annotations of one working tree. It is safe for concurrent use,
// and several processes may have stores of one tree open.
type Store struct {
	work     vfs.FS
	dir      string
	history  History
	opts     Options
	closeDir func() error
	root     string    // of the tree, by the operating system; "" when it is not known
	repo     *git.Repo // nil when there is none
	bare     error     // says that the root is a repository without a working tree

	private   bool  // the first annotation starts as private
	skipAbove int64 // bytes of a sidecar that is not read; 0 for none

	mu          sync.Mutex                // guards all below
	cached      map[string]*cachedSidecar // by path of the sidecar
	resolved    map[string]*resolved      // by file
	formerNames map[string][]string       // former names, by HEAD and file

	histories map[string]*blobHistory // by file
}

// Open opens the store of the tree whose root is work. It reads and makes
// nothing yet.
func Open(work vfs.FS, o *Options) (*Store, error) {
	b := &Store{work: work}
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
	b.dir, b.history = b.opts.Dir, b.opts.History
	if err := CheckFile(b.dir); err != nil {
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	b.dropCaches()
	return b, nil
}

// dropCaches drops what was read.
func (b *Store) dropCaches() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cached = map[string]*cachedSidecar{}
	b.resolved = map[string]*resolved{}
	b.formerNames = map[string][]string{}
	b.histories = map[string]*blobHistory{}
}

// Close closes what [OpenDir] opened.
func (b *Store) Close() error {
	if b.closeDir == nil {
		return nil
	}
	return b.closeDir()
}

// cachedSidecar is a sidecar that was read, and the state of the file then.
type cachedSidecar struct {
	size    int64
	mod     time.Time
	sidecar *sidecar
}

// maxSidecar is the most bytes of a sidecar that are read.
const maxSidecar = 256 << 20

// SkipLarge makes the store treat files with more than so many bytes of annotations as
// files without annotations. It is for callers that must answer soon: reading takes time in
// proportion to the size. It is called before the store is used.
func (b *Store) SkipLarge(size int64) { b.skipAbove = size }

var noSidecar = &sidecar{} // of a file without one; never changed

// read returns what the sidecar of that path below the directory of annotations holds;
// nothing when there is none, the same nothing each time. What it returns is shared and not to be changed.
func (b *Store) read(name string) (*sidecar, error) {
	full := path.Join(b.dir, name)
	fi, err := b.work.Stat(full)
	if errors.Is(err, fs.ErrNotExist) {
		return noSidecar, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	if b.skipAbove > 0 && fi.Size() > b.skipAbove {
		return noSidecar, nil
	}
	b.mu.Lock()
	c := b.cached[name]
	b.mu.Unlock()
	if c != nil && c.size == fi.Size() && c.mod.Equal(fi.ModTime()) {
		return c.sidecar, nil
	}
	data, err := vfs.ReadFile(b.work, full, maxSidecar)
	if errors.Is(err, fs.ErrNotExist) {
		return noSidecar, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	c = &cachedSidecar{size: int64(len(data)), mod: fi.ModTime(), sidecar: parse(data)}
	b.mu.Lock()
	b.cached[name] = c
	b.mu.Unlock()
	return c.sidecar, nil
}

// sha256 reports whether blobs are named by SHA-256.
func (b *Store) sha256() bool { return b.history != nil && b.history.SHA256() }

// CheckedOut returns an error when the tree is without the annotations that git's
// index has, as in a sparse checkout. The index is read only where there are none.
func (b *Store) CheckedOut() error {
	if b.repo == nil {
		return nil
	}
	if _, err := b.work.Stat(b.dir); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if names, err := git.Tracked(filepath.Join(b.root, filepath.FromSlash(b.dir))); err != nil || len(names) == 0 {
		return nil // what cannot be read says nothing
	}
	return fmt.Errorf("the annotations of this repository are not checked out; git sparse-checkout add %s gets them, or git restore %[1]s", path.Dir(b.dir))
}

// shallow reports whether the history ends before its beginning.
func (b *Store) shallow() bool {
	h, ok := b.history.(interface{ Shallow() bool })
	return ok && h.Shallow()
}

// keepNames remembers what git said of a name, which the key holds with its HEAD.
func (b *Store) keepNames(key string, names []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.formerNames) >= maxResolved {
		clear(b.formerNames)
	}
	b.formerNames[key] = names
}

// maxResolved is the number of files whose annotations, or names, are kept for the
// next lookup.
const maxResolved = 64

// Records returns the annotations in the sidecar of a file, oldest first,
// archived ones too. They are as they were written; [Store.Lookup] says where
// they stand now.
func (b *Store) Records(_ context.Context, file string) ([]Record, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	s, err := b.read(sidecarOf(file))
	if err != nil {
		return nil, err
	}
	rs := make([]Record, len(s.records))
	for i, r := range s.records {
		rs[i] = *r
	}
	return rs, nil
}

// content returns the file of the working tree.
func (b *Store) content(file string) ([]byte, error) {
	if b.bare != nil {
		return nil, b.bare
	}
	data, err := vfs.ReadFile(b.work, file, MaxFile)
	if errors.Is(err, vfs.ErrTooLarge) {
		return nil, &oxbow.InvalidError{Field: "file", Value: file, Reason: fmt.Sprintf("is longer than %d MiB, too long to annotate", MaxFile>>20)}
	}
	return data, err
}

// blobHistory returns the history of a file, with its lock held.
func (b *Store) blobHistory(file string) *blobHistory {
	b.mu.Lock()
	l := b.histories[file]
	if l == nil {
		if len(b.histories) >= maxHistories {
			clear(b.histories)
		}
		l = newBlobHistory()
		b.histories[file] = l
	}
	b.mu.Unlock()
	l.mu.Lock()
	if l.bytes > maxKept || len(l.in.lines) > maxLines {
		l.in = newInterner()
		l.texts = map[string]*oldText{}
		l.missing = map[string]string{}
		l.bytes = 0
	}
	return l
}

// maxDepth bounds the directories that walk goes into.
const maxDepth = 64

// walk calls fn for each sidecar, by path below the directory of annotations, sorted.
func (b *Store) walk(ctx context.Context, fn func(name string) error) error {
	return b.files(ctx, b.dir, func(name string) error {
		if !strings.HasSuffix(name, suffix) {
			return nil
		}
		return fn(name)
	})
}

// files calls fn for each file of a directory of the tree, by path below it, sorted. It
// follows no links, and of the whole tree leaves the annotations out.
func (b *Store) files(ctx context.Context, root string, fn func(name string) error) error {
	var down func(dir string, depth int) error
	down = func(dir string, depth int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := b.work.ReadDir(path.Join(root, dir))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing files: %w", err)
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir() && depth < maxDepth && path.Join(root, name) != b.dir:
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

// each calls fn for each sidecar, by path.
func (b *Store) each(ctx context.Context, fn func(name string, s *sidecar) error) error {
	return b.walk(ctx, func(name string) error {
		s, err := b.read(name)
		if err != nil {
			return err
		}
		return fn(name, s)
	})
}

// All returns the records of all sidecars as they were written, by sidecar and
// then by time, each ID of a sidecar once.
func (b *Store) All(ctx context.Context) ([]Record, error) {
	var all []Record
	err := b.walk(ctx, func(name string) error {
		c, err := b.read(name)
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

// Text returns the lines of a file of the working tree, as [Lines] gives them.
// Errors match [oxbow.ErrInvalid] for a file that cannot be annotated, or those
// of package io/fs.
func (b *Store) Text(file string) ([]string, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	data, err := b.content(file)
	if err != nil {
		return nil, fmt.Errorf("reading a file: %w", err)
	}
	if isBinary(data) {
		return nil, &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}
	}
	return Lines(data), nil
}

// HasFile reports whether the tree has the file.
func (b *Store) HasFile(file string) bool {
	fi, err := b.work.Stat(file)
	return err == nil && fi.Mode().IsRegular()
}

// BlobName returns git's name for a content in the repository of the tree,
// whether or not git has it.
func (b *Store) BlobName(content []byte) string {
	return blobName(content, b.sha256())
}

// IsTree reports whether the directory is in a git repository, or has
// annotations: whether there is code here to annotate.
func (b *Store) IsTree() bool {
	if b.repo != nil {
		return true
	}
	_, err := b.work.Stat(b.dir)
	return !errors.Is(err, fs.ErrNotExist)
}
