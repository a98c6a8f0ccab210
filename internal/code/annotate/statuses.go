// Statuses: where all annotations of a sidecar stand, also under the names that
// the file has now and in files that its lines went to.

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

// survey calls fn for each sidecar with the statuses of its annotations, by time:
// in the working tree, or, when head is wanted, else in HEAD. Files that are gone
// are followed to the names that git knows, and without a commit to the files of the
// working tree in which a lookup finds their lines. It returns the files that cannot be
// read, for which fn is not called. It fails when git does not answer.
func (b *Store) survey(ctx context.Context, head bool, fn func(name string, s *sidecar, at []Found) error) ([]Skipped, error) {
	commit := ""
	if b.history != nil {
		var err error
		commit, err = b.history.Head(ctx)
		if err != nil {
			return nil, err
		}
	}
	var names []string
	var all, gone []*locator
	err := b.each(ctx, func(name string, s *sidecar) error {
		l := &locator{store: b, commit: commit, sidecar: s}
		names, all = append(names, name), append(all, l)
		if len(s.records) == 0 {
			return nil
		}
		var err error
		own := ownerOf(name, s)
		l.at, err = b.statuses(ctx, commit, head, own, s)
		if errors.As(err, &l.no) {
			return nil
		}
		if _, err := b.work.Stat(own); commit == "" && l.left() > 0 && errors.Is(err, fs.ErrNotExist) {
			gone = append(gone, l)
		}
		return err
	})
	if err == nil {
		err = b.inOthers(ctx, gone)
	}
	var skipped []Skipped
	for i, l := range all {
		switch {
		case err != nil:
			return nil, err
		case l.no != nil:
			skipped = append(skipped, Skipped{l.no.file, l.no.err})
		default:
			err = fn(names[i], l.sidecar, l.at)
		}
	}
	return skipped, err
}

// unreadableError says that a file of the working tree cannot be looked at.
type unreadableError struct {
	file string
	err  error
}

func (e *unreadableError) Error() string { return e.err.Error() }

func (e *unreadableError) Unwrap() error { return e.err }

// errShallow is about a file that is gone, when the part of the history that is
// here does not say what became of it.
var errShallow = errors.New("this shallow clone has not the history that says what became of a file; git fetch --unshallow gets it")

var errNoAnswer = errors.New("git did not say what the file was like")

// statuses finds the annotations of the sidecar of a file.
func (b *Store) statuses(ctx context.Context, commit string, head bool, own string, s *sidecar) ([]Found, error) {
	l := &locator{store: b, commit: commit, sidecar: s, at: make([]Found, len(s.records))}
	for i, r := range s.records {
		l.at[i] = Found{Record: *r, In: own, Placed: Lost}
	}
	if CheckFile(own) != nil {
		return l.at, nil
	}
	names, seen, err := l.inTree(ctx, own)
	if err != nil || l.left() == 0 {
		return l.at, err
	}
	if head && commit != "" {
		if err := l.inHead(ctx, names, seen); err != nil || l.left() == 0 {
			return l.at, err
		}
	}
	return l.at, b.findElsewhere(ctx, own, l.at)
}

// locator looks for the annotations of one sidecar in several texts in turn.
type locator struct {
	store   *Store
	commit  string // HEAD; "" without git
	sidecar *sidecar
	at      []Found
	no      *unreadableError // says why not all was looked at; nil when it was
}

// left counts the annotations that were not found yet.
func (l *locator) left() int {
	n := 0
	for i := range l.at {
		if l.at[i].Placed == Lost {
			n++
		}
	}
	return n
}

// search places in a content what was not found yet.
func (l *locator) search(ctx context.Context, file string, content []byte) error {
	if isBinary(content) {
		return &unreadableError{file, &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}}
	}
	p := &resolved{content: content, head: l.commit, sidecars: []*sidecar{l.sidecar}}
	if err := l.store.resolveAll(ctx, p, file); err != nil {
		return err
	}
	if p.partial != nil {
		return errNoAnswer
	}
	l.take(p)
	return nil
}

// take takes over from p what was not found yet.
func (l *locator) take(p *resolved) {
	found := map[string]Found{}
	for _, f := range p.found {
		found[f.ID] = f
	}
	for i := range l.at {
		if f, ok := found[l.at[i].ID]; ok && l.at[i].Placed == Lost && f.Placed != Lost {
			l.at[i] = f
		}
	}
}

// inTree searches the file in the working tree or, when it is gone, the files
// that it was renamed to. It returns these names, and the blob names of the
// contents that it has searched.
func (l *locator) inTree(ctx context.Context, own string) (names []string, seen map[string]string, err error) {
	b := l.store
	names, seen = []string{own}, map[string]string{}
	for i := 0; i < len(names); i++ {
		content, err := b.content(names[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if i > 0 || l.commit == "" {
				continue
			}
			more, was, err := b.history.Successors(ctx, own)
			if err != nil {
				return nil, nil, err
			}
			if !was && b.shallow() {
				return nil, nil, &unreadableError{own, errShallow}
			}
			for _, n := range more {
				if CheckFile(n) == nil && !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
			continue
		case err != nil:
			return nil, nil, &unreadableError{names[i], err}
		}
		seen[names[i]] = blobName(content, b.sha256())
		if err := l.search(ctx, names[i], content); err != nil || l.left() == 0 {
			return names, seen, err
		}
	}
	return names, seen, nil
}

// inHead searches the files of HEAD that differ from those of the working tree.
func (l *locator) inHead(ctx context.Context, names []string, seen map[string]string) error {
	b := l.store
	for _, f := range names {
		blob, err := b.history.At(ctx, l.commit, f)
		if err != nil {
			return err
		}
		if blob == "" || blob == seen[f] {
			continue
		}
		blobs, err := b.history.Blobs(ctx, []string{blob})
		if err != nil {
			return err
		}
		content, ok := blobs[blob]
		if !ok {
			return fmt.Errorf("%s of HEAD: %w", f, errNoAnswer)
		}
		if len(content) > MaxFile || isBinary(content) {
			continue
		}
		if err := l.search(ctx, f, content); err != nil || l.left() == 0 {
			return err
		}
	}
	return nil
}

// maxOthers bounds the files of the working tree that may be a file that is gone.
const maxOthers = 5000

// inOthers searches the working tree for the annotations of files that are gone: each
// of its files may be one of these under another name, as a lookup there finds out.
// Where there are too many files, what was not found says so.
func (b *Store) inOthers(ctx context.Context, gone []*locator) error {
	if len(gone) == 0 {
		return nil
	}
	n := 0
	err := b.files(ctx, ".", func(name string) error {
		n++
		if n > maxOthers {
			return errTooMany
		}
		content, err := b.content(name)
		if err != nil || isBinary(content) || CheckFile(name) != nil {
			return nil // a lookup finds nothing in it
		}
		p := &resolved{content: content, sidecars: []*sidecar{noSidecar}}
		for _, l := range gone {
			p.sidecars = append(p.sidecars, l.sidecar)
		}
		if err := b.resolveAll(ctx, p, name); err != nil {
			return err
		}
		for _, l := range gone {
			l.take(p)
		}
		return nil
	})
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	for _, l := range gone {
		if l.left() > 0 {
			l.no = &unreadableError{l.at[0].In, err}
		}
	}
	return nil
}

var errTooMany = fmt.Errorf("without git, a file that is gone is looked for under other names in %d files, and here are more", maxOthers)
