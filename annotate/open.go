// This file opens the book of a directory of the operating system.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/git"
	"github.com/oxbow-memory/oxbow/vfs"
)

// OpenDir opens the book of the working tree that holds the directory: that of
// its git repository, or without one the directory itself. Options.History is
// set to the repository's, unless it is given. Files are opened below the root
// of the tree only. The caller closes the book.
func OpenDir(_ context.Context, dir string, o *Options) (*Book, error) {
	var opts Options
	if o != nil {
		opts = *o
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	repo, err := git.Find(root, nil)
	switch {
	case err == nil:
		root = repo.Root()
		if opts.History == nil {
			opts.History = repo
		}
	case !errors.Is(err, git.ErrNone) && !errors.Is(err, git.ErrOwner):
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	work, err := vfs.Dir(root)
	if err != nil {
		return nil, fmt.Errorf("opening annotations: %w", err)
	}
	b, err := Open(work, &opts)
	if err != nil {
		return nil, errors.Join(err, work.Close())
	}
	b.root, b.repo, b.shut = root, repo, work.Close
	return b, nil
}

// Root returns the path of the tree's root, or "" when [OpenDir] did not open
// the book.
func (b *Book) Root() string { return b.root }

// File returns the path below the root of the tree, as records have it, of a
// path of the operating system that is absolute or relative to dir.
func (b *Book) File(dir, name string) (string, error) {
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	// The tree may have been reached through a link.
	at, err := filepath.EvalSymlinks(filepath.Dir(name))
	if err == nil {
		name = filepath.Join(at, filepath.Base(name))
	}
	root := b.root
	if r, err := filepath.EvalSymlinks(root); err == nil {
		root = r
	}
	rel, err := filepath.Rel(root, name)
	if err != nil {
		rel = name
	}
	rel = filepath.ToSlash(rel)
	return rel, CheckFile(rel)
}
