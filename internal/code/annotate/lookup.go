// This file implements Lookup: it finds the annotations whose lines are now in a range of lines.

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
// that are not committed. They are sorted by position and then by time. The zero Span means the
// whole file. Then Lookup also returns, last, the annotations whose blocks are now in a different
// file, and those that are [Lost]. Archived annotations are returned if their lines exist again.
//
// To find a block, Lookup compares the file with its old version, if git still has the old version
// or the file is still the same. Otherwise it searches for the block's text and context, and then
// for similar text. Annotations of a file that was renamed or copied are found under its new name:
// by git's history, by a sidecar that was moved together with the file, or by their text, if the
// rename is not committed or there is no git.
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

// searchElsewhere searches other files for the lost annotations of a file. It does so only once.
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
	sidecars := slices.Clone(p.sidecars) // keep the original order, which resolveAll changes
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

// readSidecars reads the sidecars of the file's former names. If the file has no annotations, it
// also reads deleted files' sidecars.
func (b *Store) readSidecars(ctx context.Context, p *fileResults, own *sidecar, names *nameQuery) error {
	former, err := names.wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		p.partial = err
	}
	for _, n := range former {
		if CheckFile(n) != nil {
			continue
		}
		s, err := b.readSidecar(sidecarPath(n))
		if err != nil {
			return err
		}
		p.sidecars = append(p.sidecars, s)
		p.former++
	}
	if len(own.records) > 0 {
		return nil
	}
	_, orphans, err := b.orphanSidecars(ctx)
	for _, o := range orphans {
		if !slices.Contains(p.sidecars, o) {
			p.sidecars = append(p.sidecars, o)
		}
	}
	return err
}

// noteOrphans lists the deleted files whose annotations may belong to this file, if git failed, or
// if the clone is shallow and nothing was found.
func (b *Store) noteOrphans(ctx context.Context, p *fileResults, file string) error {
	if p.partial == nil && len(p.found) == 0 && b.isShallow() {
		p.partial = errShallow
	}
	if p.partial == nil {
		return nil
	}
	names, sidecars, err := b.orphanSidecars(ctx)
	if err != nil {
		return err
	}
	here := map[string]bool{}
	for _, f := range p.found {
		here[f.ID] = true
	}
	for i, s := range sidecars {
		if names[i] != file && slices.ContainsFunc(s.records, func(r *Record) bool { return !here[r.ID] }) {
			p.orphans = append(p.orphans, names[i])
		}
	}
	if len(p.orphans) == 0 && p.partial == errShallow {
		p.partial = nil
	}
	return nil
}

// prefetchBlobs reads in advance the blobs that are needed to resolve the file's own annotations. It
// ignores errors, because the same error occurs again when a blob is needed.
func (b *Store) prefetchBlobs(ctx context.Context, file string, p *fileResults, own *sidecar) {
	want := recordedBlobs([]*sidecar{own}, blobName(p.content, b.sha256()))
	h := b.blobHistory(file)
	defer h.mu.Unlock()
	_ = h.fetchMissing(ctx, b.history, p.head, want)
}

// nameQuery reads the former names of a file from git.
type nameQuery struct {
	names []string
	err   error
	done  chan struct{} // nil if the result is already known
	stop  func()        // cancels the query and waits until it has ended
}

// wait returns the names. If git failed, it returns the error and the names found so far.
func (q *nameQuery) wait() ([]string, error) {
	if q.done != nil {
		<-q.done
	}
	return q.names, q.err
}

// askNames sets p.head and starts a query for the file's former names. It starts none if the names
// are cached for this state of the history, or if no annotation can come from a different file.
func (b *Store) askNames(ctx context.Context, p *fileResults, file string) (q *nameQuery, known bool) {
	q = &nameQuery{stop: func() {}}
	if b.history == nil {
		return q, false
	}
	p.head, q.err = b.history.Head(ctx)
	if q.err != nil || p.head == "" {
		p.partial = q.err
		return q, false
	}
	origins, err := b.possibleOrigins(ctx, sidecarPath(file), p.content)
	if err == nil && len(origins) == 0 {
		return q, false
	}
	key := p.head + " " + file + " " + hashLines(origins)
	b.mu.Lock()
	q.names, known = b.formerNames[key]
	b.mu.Unlock()
	if known {
		return q, true
	}
	asking, cancel := context.WithCancel(ctx)
	q.done = make(chan struct{})
	q.stop = func() { cancel(); <-q.done }
	go func() {
		defer close(q.done)
		q.names, q.err = b.history.Names(asking, file, origins)
		if q.err == nil {
			b.keepNames(key, q.names)
		}
	}()
	return q, false
}

// possibleOrigins returns the files that this file may be a copy of, or whose name it may have had: files
// that do not exist any more, files with an annotation that has a line of its block or context in
// content, files whose annotations all have only short lines, and all files beyond the limit. If it
// returns an error, the list is incomplete.
func (b *Store) possibleOrigins(ctx context.Context, own string, content []byte) (files []string, err error) {
	var have map[string]bool // lines of content (nil until they are needed)
	stands := func(r *Record) bool {
		long := 0
		for _, l := range slices.Concat(r.Block, r.Before, r.After) {
			if countLetters(l) < fewLetters {
				continue
			}
			long++
			if have[bareLine(l)] {
				return true
			}
		}
		return long == 0
	}
	n := 0
	err = b.walkSidecars(ctx, func(name string) error {
		if name == own {
			return nil
		}
		file, ok := sidecarSource(name)
		n++
		if n <= maxOrigins || !ok {
			s, err := b.readSidecar(name)
			if err != nil || len(s.records) == 0 {
				return err
			}
			if have == nil {
				lines := Lines(content)
				have = (&lineIndex{lines: lines}).bareSet(0, len(lines))
			}
			file = sidecarOwner(name, s)
			if b.HasFile(file) && !slices.ContainsFunc(s.records, stands) {
				return nil
			}
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

// Limits for the number of sidecars to read: for any files, and for deleted files.
const (
	maxOrigins = 200
	maxOrphans = 200
)

// orphanSidecars returns the sidecars of files that do not exist, the first 200 by name. If the
// file was renamed without a commit, its annotations are in such a sidecar.
func (b *Store) orphanSidecars(ctx context.Context) (names []string, sidecars []*sidecar, err error) {
	err = b.walkSidecars(ctx, func(name string) error {
		file, ok := sidecarSource(name)
		if !ok || len(sidecars) == maxOrphans {
			return nil
		}
		if _, err := b.work.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		s, err := b.readSidecar(name)
		if err != nil {
			return err
		}
		names, sidecars = append(names, file), append(sidecars, s)
		return nil
	})
	return names, sidecars, err
}
