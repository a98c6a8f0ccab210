// This file implements Lookup, which finds the annotations whose lines are now in a range of lines. The steps are in
// separate files: sources.go reads the sidecars that may contain such annotations, resolve.go reads the old versions
// of the file, candidates.go finds the possible positions of a block, scores.go measures how well each position fits,
// and choice.go chooses a position.

package annotate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/oxbow-memory/oxbow"
)

// PartialError is returned together with the results if git failed. Then blocks were found only by
// their text, and annotations from former names of the file may be missing.
type PartialError struct {
	Err     error
	Orphans []string // deleted files with annotations that were not found in this file
}

func (e *PartialError) Error() string { return "git did not answer: " + e.Err.Error() }

func (e *PartialError) Unwrap() error { return e.Err }

// Lookup returns the annotations whose blocks are now in the span of the file, including changes
// that are not committed. The result is sorted by position and then by time. The zero Span means
// the whole file. Then the result ends with the annotations of the file that are now in a different
// file, and the [Lost] annotations. Archived annotations are returned if their lines exist again.
//
// To find a block, Lookup compares the file with its old version, if git still has the old version
// or the file is still the same. Otherwise it searches for the block's text and context, and then
// for similar text. Annotations of a file that was renamed or copied are found under the file's new
// name. The rename or copy is known from git's history, from a sidecar that was moved together with
// the file, or, if the rename is not committed or there is no git, from the text of the annotated
// lines.
//
// The error matches [oxbow.ErrInvalid] if the path or the lines are invalid, and [fs.ErrNotExist]
// if the file does not exist and has no annotations. If the error is a [PartialError], the results
// are returned as well.
func (b *Store) Lookup(ctx context.Context, file string, span Span) ([]Found, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	if span != (Span{}) && span.Len() == 0 {
		return nil, &oxbow.InvalidError{
			Field:  "lines",
			Value:  span.String(),
			Reason: "are no range; lines count from 1",
		}
	}
	p, err := b.resolve(ctx, file)
	if err == nil && span == (Span{}) {
		err = b.searchElsewhere(ctx, p, file)
	}
	if err != nil {
		return nil, fmt.Errorf("looking up annotations: %w", err)
	}
	if span.First > p.lines && span != (Span{}) {
		return nil, &oxbow.InvalidError{
			Field:  "lines",
			Value:  span.String(),
			Reason: fmt.Sprintf("are not in %s, which has %d", file, p.lines),
		}
	}
	var out []Found
	for _, f := range p.found {
		if span == (Span{}) || (f.In == file && f.Now.Overlaps(span)) {
			out = append(out, f)
		}
	}
	return out, p.partialError()
}

// partialError returns a [PartialError] if git failed, and nil otherwise.
func (p *fileResults) partialError() error {
	if p.partial == nil {
		return nil
	}
	return &PartialError{p.partial, p.orphans}
}

// searchElsewhere searches other files for the lost annotations of a file. It does this only once
// for each fileResults.
func (b *Store) searchElsewhere(ctx context.Context, p *fileResults, file string) error {
	b.mu.Lock()
	done := p.searched
	found := slices.Clone(p.found)
	b.mu.Unlock()
	if done {
		return nil
	}
	if err := b.findElsewhere(ctx, file, found); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.found, p.searched = found, true
	return nil
}

// resolve finds all annotations of a file.
func (b *Store) resolve(ctx context.Context, file string) (*fileResults, error) {
	own, err := b.readSidecar(sidecarPath(file))
	if err != nil {
		return nil, err
	}
	p := &fileResults{sidecars: []*sidecar{own}}
	p.content, err = b.content(file)
	// Git runs while the remaining sidecars are read.
	names, known := b.askNames(ctx, p, file)
	defer names.stop()
	if errors.Is(err, fs.ErrNotExist) && len(own.records) > 0 {
		return p, b.resolveMissing(ctx, p, file, own)
	}
	if err != nil {
		return nil, err
	}
	if isBinary(p.content) {
		return nil, &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}
	}
	if p.partial == nil && p.head != "" && !known {
		b.prefetchBlobs(ctx, file, p, own)
	}
	if err := b.readSidecars(ctx, p, own, names); err != nil {
		return nil, err
	}
	b.mu.Lock()
	old := b.resolved[file]
	b.mu.Unlock()
	if old != nil && old.head == p.head && slices.Equal(old.sidecars, p.sidecars) &&
		bytes.Equal(old.content, p.content) {
		return old, nil
	}
	sidecars := slices.Clone(p.sidecars) // resolveAll changes the order, so keep a copy of the original order
	if err := b.resolveAll(ctx, p, file); err != nil {
		return nil, err
	}
	p.sidecars = sidecars
	if err := b.noteOrphans(ctx, p, file); err != nil || p.partial != nil {
		return p, err
	}
	b.mu.Lock()
	if len(b.resolved) >= maxResolved {
		clear(b.resolved)
	}
	b.resolved[file] = p
	b.mu.Unlock()
	return p, nil
}

// resolveMissing sets p to the present positions of a deleted file's annotations.
func (b *Store) resolveMissing(ctx context.Context, p *fileResults, file string, own *sidecar) error {
	found, err := b.findStatuses(ctx, p.head, treeOnly, file, own)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.partial = err
		found = nil
		for _, r := range own.records {
			found = append(found, Found{Record: *r, In: file, Placed: Lost})
		}
	}
	p.found = slices.DeleteFunc(found, func(f Found) bool { return f.Placed == Lost && f.Archived })
	p.searched = true
	p.sort()
	return nil
}
