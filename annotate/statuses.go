// Statuses of all annotations of a sidecar, also under the names that the file has now.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// ownerOf returns the file that a sidecar is of. Where the path was cut, the
// newest annotation says it.
func ownerOf(name string, s *sidecar) string {
	if file, ok := sourceOf(name); ok || len(s.records) == 0 {
		return file
	}
	return s.records[len(s.records)-1].File
}

// Skipped is a file whose annotations were left alone.
type Skipped struct {
	File string
	Err  error
}

// survey calls fn for each sidecar with where its annotations stand, by time:
// in the working tree, or, when head is wanted, else in HEAD. Files that are not
// there any more are followed to the names that git knows. It returns the files
// that could not be looked at; fn is not called for them. Without an answer of
// git's it fails.
func (b *Store) survey(ctx context.Context, head bool, fn func(name string, s *sidecar, at []Status) error) ([]Skipped, error) {
	commit := ""
	if b.history != nil {
		var err error
		if commit, err = b.history.Head(ctx); err != nil {
			return nil, err
		}
	}
	var skipped []Skipped
	err := b.each(ctx, func(name string, s *sidecar) error {
		if len(s.records) == 0 {
			return fn(name, s, nil)
		}
		at, err := b.statuses(ctx, commit, head, name, s)
		var no *unreadableError
		if errors.As(err, &no) {
			skipped = append(skipped, Skipped{no.file, no.err})
			return nil
		}
		if err != nil {
			return err
		}
		return fn(name, s, at)
	})
	return skipped, err
}

// unreadableError says that a file of the working tree cannot be looked at.
type unreadableError struct {
	file string
	err  error
}

func (e *unreadableError) Error() string { return e.err.Error() }

func (e *unreadableError) Unwrap() error { return e.err }

// statuses finds the annotations of one sidecar.
func (b *Store) statuses(ctx context.Context, commit string, head bool, name string, s *sidecar) ([]Status, error) {
	own := ownerOf(name, s)
	at := make([]Status, len(s.records))
	for i, r := range s.records {
		at[i] = Status{Found{Record: *r, Placed: Lost}, own}
	}
	if CheckFile(own) != nil {
		return at, nil
	}
	// search places in a content what was not found yet.
	look := func(file string, content []byte) (all bool, err error) {
		if isBinary(content) {
			return false, &unreadableError{file, &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}}
		}
		p := &resolved{content: content, head: commit, sidecars: []*sidecar{s}}
		if err := b.resolveAll(ctx, p, file, 0); err != nil {
			return false, err
		}
		if p.partial {
			return false, errNoAnswer
		}
		found := map[string]Found{}
		for _, f := range p.found {
			if f.Placed != Lost {
				found[f.ID] = f
			}
		}
		all = true
		for i := range at {
			if f, ok := found[at[i].ID]; ok && at[i].Placed == Lost {
				at[i] = Status{f, file}
			}
			all = all && at[i].Placed != Lost
		}
		return all, nil
	}
	files, seen := []string{own}, map[string]string{}
	for i := 0; i < len(files); i++ {
		content, err := b.content(files[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if i == 0 && commit != "" {
				more, was, err := b.history.Successors(ctx, own)
				if err != nil {
					return nil, err
				}
				if h, ok := b.history.(interface{ Shallow() bool }); ok && !was && h.Shallow() {
					return nil, &unreadableError{own, errShallow}
				}
				for _, n := range more {
					if CheckFile(n) == nil && !slices.Contains(files, n) {
						files = append(files, n)
					}
				}
			}
			continue
		case err != nil:
			return nil, &unreadableError{files[i], err}
		}
		seen[files[i]] = blobName(content, b.history != nil && b.history.SHA256())
		if all, err := look(files[i], content); all || err != nil {
			return at, err
		}
	}
	if !head || commit == "" {
		return at, nil
	}
	for _, f := range files {
		blob, err := b.history.At(ctx, commit, f)
		if err != nil {
			return nil, err
		}
		if blob == "" || blob == seen[f] {
			continue
		}
		blobs, err := b.history.Blobs(ctx, []string{blob})
		if err != nil {
			return nil, err
		}
		content, ok := blobs[blob]
		if !ok {
			return nil, fmt.Errorf("%s of HEAD: %w", f, errNoAnswer)
		}
		if len(content) > MaxFile || isBinary(content) {
			continue
		}
		if all, err := look(f, content); all || err != nil {
			return at, err
		}
	}
	return at, nil
}

// errShallow is about a file that is not there, and of which the part of the
// history that is here does not say what became of it.
var errShallow = errors.New("is not there, and this shallow clone has not the history that says why; git fetch --unshallow gets it")

var errNoAnswer = errors.New("git did not say what the file was like")
