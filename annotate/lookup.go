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
	"github.com/oxbow-memory/oxbow/internal/git"
)

// Lookup returns the annotations whose blocks stand in the span of the file as
// it is now, changes that were not committed included, by place and then by
// time. The zero Span is the whole file, and then also returns, last, those
// that are [Lost]. Archived ones are returned when their lines are back.
//
// A block is followed through the comparison with the file as it was, where
// git, or the file itself, still has that; else it is found by its text with
// the lines around it; else by similarity. Annotations of a file that was renamed
// or copied are found under its new name, by git's history, by a sidecar that
// was moved along, and before a rename is committed by their text.
//
// Errors match [oxbow.ErrInvalid] for a path or lines that cannot be, and
// [fs.ErrNotExist] for a file that is not there and has no annotations.
func (b *Store) Lookup(ctx context.Context, file string, span Span) ([]Found, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	if span != (Span{}) && span.Len() == 0 {
		return nil, &oxbow.InvalidError{Field: "lines", Value: span.String(), Reason: "are no range; lines count from 1"}
	}
	p, err := b.resolve(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("looking up annotations: %w", err)
	}
	if span.First > p.lines && span != (Span{}) {
		return nil, &oxbow.InvalidError{Field: "lines", Value: span.String(), Reason: fmt.Sprintf("are not in %s, which has %d", file, p.lines)}
	}
	var out []Found
	for _, f := range p.found {
		if span == (Span{}) || f.Now.Overlaps(span) {
			out = append(out, f)
		}
	}
	return out, nil
}

// resolve finds all annotations of a file.
func (b *Store) resolve(ctx context.Context, file string) (*resolved, error) {
	// Git is asked first, and answers while the rest is read.
	var head string
	var headErr error
	names, known := func() ([]string, error) { return nil, nil }, false
	if b.history != nil {
		if head, headErr = b.history.Head(ctx); headErr == nil && head != "" {
			asking, stop := context.WithCancel(ctx)
			names, known = b.names(asking, head, file)
			defer func() { stop(); _, _ = names() }()
		}
	}
	own, err := b.read(sidecarOf(file))
	if err != nil {
		return nil, err
	}
	content, err := b.content(file)
	missing := errors.Is(err, fs.ErrNotExist) && len(own.records) > 0
	if err != nil && !missing {
		return nil, err
	}
	if isBinary(content) {
		return nil, &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}
	}
	p := &resolved{content: content, head: head, sidecars: []*sidecar{own}}
	var former []string
	if b.history != nil {
		// Without an answer of git's, the text still says much.
		err := headErr
		if err == nil && head != "" {
			if !known {
				b.prepare(ctx, file, p, own)
			}
			former, err = names()
		}
		p.partial = err != nil
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	for _, n := range former {
		if CheckFile(n) != nil {
			continue
		}
		c, err := b.read(sidecarOf(n))
		if err != nil {
			return nil, err
		}
		p.sidecars = append(p.sidecars, c)
	}
	if len(own.records) == 0 && !missing {
		orphans, err := b.orphans(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range orphans {
			if !slices.Contains(p.sidecars, o) {
				p.sidecars = append(p.sidecars, o)
			}
		}
	}
	b.mu.Lock()
	old := b.resolved[file]
	b.mu.Unlock()
	if old != nil && old.head == p.head && slices.Equal(old.sidecars, p.sidecars) && bytes.Equal(old.content, content) {
		return old, nil
	}
	if err := b.resolveAll(ctx, p, file, len(former)); err != nil {
		return nil, err
	}
	if p.partial {
		return p, nil
	}
	b.mu.Lock()
	if len(b.resolved) >= maxResolved {
		clear(b.resolved)
	}
	b.resolved[file] = p
	b.mu.Unlock()
	return p, nil
}

// prepare reads what placing the file's own annotations will need of git. What
// fails here fails again when it is needed, and is reported then.
func (b *Store) prepare(ctx context.Context, file string, p *resolved, own *sidecar) {
	want := map[string]bool{}
	now := blobName(p.content, b.history.SHA256())
	for _, r := range own.records {
		if r.Blob != "" && r.Blob != now {
			want[r.Blob] = true
		}
	}
	line := b.blobHistory(file)
	defer line.mu.Unlock()
	_ = line.fetch(ctx, b.history, p.head, want)
}

// names asks what the file was called before, and returns the call that waits for
// the answer, which is remembered for this state of the history: whether it was
// known already.
func (b *Store) names(ctx context.Context, head, file string) (wait func() ([]string, error), known bool) {
	key := head + " " + file
	b.mu.Lock()
	names, ok := b.formerNames[key]
	b.mu.Unlock()
	if ok {
		return func() ([]string, error) { return names, nil }, true
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if names, err = b.history.Names(ctx, file); err != nil {
			return
		}
		b.mu.Lock()
		if len(b.formerNames) >= maxResolved {
			clear(b.formerNames)
		}
		b.formerNames[key] = names
		b.mu.Unlock()
	}()
	return func() ([]string, error) {
		<-done
		return names, err
	}, false
}

// maxPlaced is the number of files whose placing is kept for the next lookup.
const maxResolved = 64

// resolveAll fills in what p is about. The first sidecar is the file's own, the next
// renamed ones are of names that git knows, the rest only may belong to it.
func (b *Store) resolveAll(ctx context.Context, p *resolved, file string, renamed int) error {
	line := b.blobHistory(file)
	defer line.mu.Unlock()
	lines := Lines(p.content)
	p.lines = len(lines)
	blobNow := blobName(p.content, b.history != nil && b.history.SHA256())

	// All old texts are read in one go.
	want := map[string]bool{}
	for i, c := range p.sidecars {
		for _, r := range c.records {
			if i <= renamed && r.Blob != "" && r.Blob != blobNow {
				want[r.Blob] = true
			}
		}
	}
	if b.history != nil {
		err := line.fetch(ctx, b.history, p.head, want)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, git.ErrTooMuch) {
			p.partial = true
		}
	}
	pg := newLineIndex(line.in, lines)
	olds := map[string]*oldVersion{}
	for n := range want {
		if old := line.texts[n]; old != nil {
			olds[n] = &oldVersion{oldText: old, mapper: &line.mapper}
		}
	}
	seen := map[string]bool{}
	for i, c := range p.sidecars {
		for _, r := range c.records {
			if seen[r.ID] {
				continue
			}
			s := notFound
			switch {
			case i > renamed: // only the same text, and surely, makes it this file's
				if s = pg.byUniqueText(r); s.confidence < .9 {
					continue
				}
			default:
				s = pg.find(r, blobNow, olds[r.Blob])
			}
			// A copy, or a name of before: what is not here still is the other's.
			if s.placing == Lost && (i > 0 || r.Archived) {
				continue
			}
			seen[r.ID] = true
			if r.File != file && (s.placing == Exact || s.placing == Moved) {
				s.placing = Tracked
				s.how = "the file was called " + r.File + " then; " + s.how
			}
			p.found = append(p.found, Found{Record: *r, Placed: s.placing, Now: s.span, Confidence: s.confidence, How: s.how})
		}
	}
	p.sort()
	return nil
}

// maxOrphans bounds how many sidecars without a source are looked at.
const maxOrphans = 200

// orphans returns the sidecars whose source is not there, the first 200 by
// name: of a file that was renamed and not yet committed, the annotations are
// among them.
func (b *Store) orphans(ctx context.Context) ([]*sidecar, error) {
	var out []*sidecar
	err := b.walk(ctx, func(name string) error {
		file, ok := sourceOf(name)
		if !ok || len(out) == maxOrphans {
			return nil
		}
		if _, err := b.work.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		c, err := b.read(name)
		if err != nil {
			return err
		}
		out = append(out, c)
		return nil
	})
	return out, err
}
