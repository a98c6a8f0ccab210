// Lookup: which annotations stand in a range of lines now.

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

// PartialError is returned next to what a lookup has found when git did not
// answer: blocks were placed by their text alone, and annotations that the file
// has from another name may be missing.
type PartialError struct {
	Err     error
	Orphans []string // files that are gone and have annotations that were not found in this file
}

func (e *PartialError) Error() string { return "git did not answer: " + e.Err.Error() }

func (e *PartialError) Unwrap() error { return e.Err }

// Lookup returns the annotations whose blocks stand in the span of the file as
// it is now, changes that were not committed included, by place and then by
// time. The zero Span is the whole file, and then also returns, last, the
// annotations that stand in another file now, and those that are [Lost].
// Archived ones are returned when their lines are back.
//
// A block is followed through the comparison with the file as it was, where
// git, or the file itself, still has that; else it is found by its text with
// the lines around it; else by similarity. Annotations of a file that was renamed
// or copied are found under its new name, by git's history, by a sidecar that
// was moved along, and before a rename is committed, or without git, by their
// text.
//
// Errors match [oxbow.ErrInvalid] for a path or lines that cannot be, and
// [fs.ErrNotExist] for a file that is not there and has no annotations. With a
// [PartialError], what was found is returned as well.
func (b *Store) Lookup(ctx context.Context, file string, span Span) ([]Found, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	if span != (Span{}) && span.Len() == 0 {
		return nil, &oxbow.InvalidError{Field: "lines", Value: span.String(), Reason: "are no range; lines count from 1"}
	}
	p, err := b.resolve(ctx, file)
	if err == nil && span == (Span{}) {
		err = b.searchElsewhere(ctx, p, file)
	}
	if err != nil {
		return nil, fmt.Errorf("looking up annotations: %w", err)
	}
	if span.First > p.lines && span != (Span{}) {
		return nil, &oxbow.InvalidError{Field: "lines", Value: span.String(), Reason: fmt.Sprintf("are not in %s, which has %d", file, p.lines)}
	}
	var out []Found
	for _, f := range p.found {
		if span == (Span{}) || (f.In == file && f.Now.Overlaps(span)) {
			out = append(out, f)
		}
	}
	return out, p.incomplete()
}

// incomplete returns the [PartialError] of what was found, or nil.
func (p *resolved) incomplete() error {
	if p.partial == nil {
		return nil
	}
	return &PartialError{p.partial, p.orphans}
}

// searchElsewhere looks for the lost annotations of a file in other files, once.
func (b *Store) searchElsewhere(ctx context.Context, p *resolved, file string) error {
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
func (b *Store) resolve(ctx context.Context, file string) (*resolved, error) {
	own, err := b.read(sidecarOf(file))
	if err != nil {
		return nil, err
	}
	p := &resolved{sidecars: []*sidecar{own}}
	p.content, err = b.content(file)
	// Git answers while the rest is read.
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
		b.prepare(ctx, file, p, own)
	}
	if err := b.readSidecars(ctx, p, own, names); err != nil {
		return nil, err
	}
	b.mu.Lock()
	old := b.resolved[file]
	b.mu.Unlock()
	if old != nil && old.head == p.head && slices.Equal(old.sidecars, p.sidecars) && bytes.Equal(old.content, p.content) {
		return old, nil
	}
	sidecars := slices.Clone(p.sidecars) // as they were read; resolving brings them into another order
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

// resolveMissing fills in where the annotations of a file that is gone stand.
func (b *Store) resolveMissing(ctx context.Context, p *resolved, file string, own *sidecar) error {
	found, err := b.statuses(ctx, p.head, false, file, own)
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

// readSidecars reads the sidecars of former names, and those of files that are gone
// when the file has none of its own.
func (b *Store) readSidecars(ctx context.Context, p *resolved, own *sidecar, names *nameQuery) error {
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
		s, err := b.read(sidecarOf(n))
		if err != nil {
			return err
		}
		p.sidecars = append(p.sidecars, s)
		p.former++
	}
	if len(own.records) > 0 {
		return nil
	}
	_, orphans, err := b.orphans(ctx)
	for _, o := range orphans {
		if !slices.Contains(p.sidecars, o) {
			p.sidecars = append(p.sidecars, o)
		}
	}
	return err
}

// noteOrphans names the files that are gone when the history does not say what
// became of them, and nothing was found here.
func (b *Store) noteOrphans(ctx context.Context, p *resolved, file string) error {
	if p.partial == nil && len(p.found) == 0 && b.shallow() {
		p.partial = errShallow
	}
	if p.partial == nil {
		return nil
	}
	names, sidecars, err := b.orphans(ctx)
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

// prepare reads what resolving the file's own annotations will need of git. What
// fails here fails again when it is needed, and is reported then.
func (b *Store) prepare(ctx context.Context, file string, p *resolved, own *sidecar) {
	want := blobsOf([]*sidecar{own}, blobName(p.content, b.sha256()))
	h := b.blobHistory(file)
	defer h.mu.Unlock()
	_ = h.fetch(ctx, b.history, p.head, want)
}

// nameQuery reads from git what a file was called before.
type nameQuery struct {
	names []string
	err   error
	done  chan struct{} // nil when the answer is there
	stop  func()        // ends the query, and waits for its end
}

// wait returns the names; with an error, those that git gave before it failed.
func (q *nameQuery) wait() ([]string, error) {
	if q.done != nil {
		<-q.done
	}
	return q.names, q.err
}

// askNames fills in p's HEAD and finds what the file was called before, unless that
// is known for this state of the history, or no annotation can be from another file.
func (b *Store) askNames(ctx context.Context, p *resolved, file string) (q *nameQuery, known bool) {
	q = &nameQuery{stop: func() {}}
	if b.history == nil {
		return q, false
	}
	p.head, q.err = b.history.Head(ctx)
	if q.err != nil || p.head == "" {
		p.partial = q.err
		return q, false
	}
	origins, err := b.origins(ctx, sidecarOf(file), p.content)
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

// origins returns the files with annotations that a file of that content may be a copy
// of, or have been called before: each that is gone, each of whose annotations a line, or
// one next to it, stands in the content or all are too short to say, and what is beyond
// the bound. With an error, these are not all.
func (b *Store) origins(ctx context.Context, own string, content []byte) (files []string, err error) {
	var have map[string]bool // the lines of the content; nil until they are needed
	stands := func(r *Record) bool {
		long := 0
		for _, l := range slices.Concat(r.Block, r.Before, r.After) {
			if letters(l) < fewLetters {
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
	err = b.walk(ctx, func(name string) error {
		if name == own {
			return nil
		}
		file, ok := sourceOf(name)
		n++
		if n <= maxOrigins || !ok {
			s, err := b.read(name)
			if err != nil || len(s.records) == 0 {
				return err
			}
			if have == nil {
				lines := Lines(content)
				have = (&lineIndex{lines: lines}).bareSet(0, len(lines))
			}
			file = ownerOf(name, s)
			if b.HasFile(file) && !slices.ContainsFunc(s.records, stands) {
				return nil
			}
		}
		files = append(files, file)
		return nil
	})
	return files, err
}

// Bounds of how many sidecars of other files are read: of all, and of files that are gone.
const (
	maxOrigins = 200
	maxOrphans = 200
)

// orphans returns the sidecars whose source is gone, the first 200 by name: of a
// file that was renamed and not yet committed, the annotations are among them.
func (b *Store) orphans(ctx context.Context) (names []string, sidecars []*sidecar, err error) {
	err = b.walk(ctx, func(name string) error {
		file, ok := sourceOf(name)
		if !ok || len(sidecars) == maxOrphans {
			return nil
		}
		if _, err := b.work.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		s, err := b.read(name)
		if err != nil {
			return err
		}
		names, sidecars = append(names, file), append(sidecars, s)
		return nil
	})
	return names, sidecars, err
}
