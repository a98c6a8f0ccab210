// This file answers which annotations stand in a range of lines now.

package annotate

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/git"
)

// Found is an annotation and where its block stands now.
type Found struct {
	Record

	Placed Placing
	Now    Span // in the file that was asked for; zero when Placed is [Lost]

	// Confidence is 0 to 1: that the block stands there, and for [Edited] how
	// much of it is still the same. It is 0 when Placed is [Lost].
	Confidence float64

	How string // the same in words, for people; "" when Placed is [Lost]
}

// placed is what was found for all annotations of one file.
type placed struct {
	content []byte
	head    string
	cards   []*sidecar
	found   []Found // by place, the lost ones last
	lines   int
	partial bool // git did not answer: the next lookup asks again
}

// maxPlaced is the number of files whose placing is kept for the next lookup.
const maxPlaced = 64

// Lookup returns the annotations whose blocks stand in the span of the file as
// it is now, changes that were not committed included, by place and then by
// time. The zero Span is the whole file, and then also returns, last, those
// that are [Lost]. Archived ones are returned when their lines are back.
//
// A block is followed through the comparison with the file as it was, where
// git, or the file itself, still has that; else it is found by its text with
// the lines around it; else by likeness. Annotations of a file that was renamed
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
	p, err := b.place(ctx, file)
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

// place finds all annotations of a file.
func (b *Store) place(ctx context.Context, file string) (*placed, error) {
	// Git is asked first, and answers while the rest is read.
	var head string
	var headErr error
	names, known := func() ([]string, error) { return nil, nil }, false
	if b.hist != nil {
		if head, headErr = b.hist.Head(ctx); headErr == nil && head != "" {
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
	p := &placed{content: content, head: head, cards: []*sidecar{own}}
	var former []string
	if b.hist != nil {
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
		p.cards = append(p.cards, c)
	}
	if len(own.records) == 0 && !missing {
		orphans, err := b.orphans(ctx)
		if err != nil {
			return nil, err
		}
		for _, o := range orphans {
			if !slices.Contains(p.cards, o) {
				p.cards = append(p.cards, o)
			}
		}
	}
	b.mu.Lock()
	old := b.places[file]
	b.mu.Unlock()
	if old != nil && old.head == p.head && slices.Equal(old.cards, p.cards) && bytes.Equal(old.content, content) {
		return old, nil
	}
	if err := b.placeAll(ctx, p, file, len(former)); err != nil {
		return nil, err
	}
	if p.partial {
		return p, nil
	}
	b.mu.Lock()
	if len(b.places) >= maxPlaced {
		clear(b.places)
	}
	b.places[file] = p
	b.mu.Unlock()
	return p, nil
}

// prepare reads what placing the file's own annotations will need of git. What
// fails here fails again when it is needed, and is told then.
func (b *Store) prepare(ctx context.Context, file string, p *placed, own *sidecar) {
	want := map[string]bool{}
	now := blobName(p.content, b.hist.SHA256())
	for _, r := range own.records {
		if r.Blob != "" && r.Blob != now {
			want[r.Blob] = true
		}
	}
	line := b.lineage(file)
	defer line.mu.Unlock()
	_ = line.fetch(ctx, b.hist, p.head, want)
}

// names asks what the file was called before, and returns the call that waits for
// the answer, which is remembered for this state of the history: whether it was
// known already.
func (b *Store) names(ctx context.Context, head, file string) (wait func() ([]string, error), known bool) {
	key := head + " " + file
	b.mu.Lock()
	names, ok := b.called[key]
	b.mu.Unlock()
	if ok {
		return func() ([]string, error) { return names, nil }, true
	}
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		if names, err = b.hist.Names(ctx, file); err != nil {
			return
		}
		b.mu.Lock()
		if len(b.called) >= maxPlaced {
			clear(b.called)
		}
		b.called[key] = names
		b.mu.Unlock()
	}()
	return func() ([]string, error) {
		<-done
		return names, err
	}, false
}

// placeAll fills in what p is about. The first card is the file's own, the next
// renamed ones are of names that git knows, the rest only may belong to it.
func (b *Store) placeAll(ctx context.Context, p *placed, file string, renamed int) error {
	line := b.lineage(file)
	defer line.mu.Unlock()
	lines := Lines(p.content)
	p.lines = len(lines)
	blobNow := blobName(p.content, b.hist != nil && b.hist.SHA256())

	// All old texts are read in one go.
	want := map[string]bool{}
	for i, c := range p.cards {
		for _, r := range c.records {
			if i <= renamed && r.Blob != "" && r.Blob != blobNow {
				want[r.Blob] = true
			}
		}
	}
	if b.hist != nil {
		err := line.fetch(ctx, b.hist, p.head, want)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, git.ErrTooMuch) {
			p.partial = true
		}
	}
	pg := newPageIn(line.lex, lines)
	olds := map[string]*followed{}
	for n := range want {
		if old := line.old[n]; old != nil {
			olds[n] = &followed{oldText: old, diff: &line.diff}
		}
	}
	seen := map[string]bool{}
	for i, c := range p.cards {
		for _, r := range c.records {
			if seen[r.ID] {
				continue
			}
			s := gone
			switch {
			case i > renamed: // only the same text, and surely, makes it this file's
				if s = pg.byText(r, true, nil); s.sure < .9 {
					continue
				}
			default:
				s = pg.find(r, blobNow, olds[r.Blob])
			}
			// A copy, or a name of before: what is not here still is the other's.
			if s.placed == Lost && (i > 0 || r.Archived) {
				continue
			}
			seen[r.ID] = true
			if r.File != file && (s.placed == Exact || s.placed == Moved) {
				s.placed = Tracked
				s.how = "the file was called " + r.File + " then; " + s.how
			}
			p.found = append(p.found, Found{Record: *r, Placed: s.placed, Now: s.span, Confidence: s.sure, How: s.how})
		}
	}
	p.sort()
	return nil
}

// sort orders what was found by place, the lost last, and then by time.
func (p *placed) sort() {
	order := make([]*Found, len(p.found)) // a Found is long to move
	for i := range p.found {
		order[i] = &p.found[i]
	}
	slices.SortStableFunc(order, func(x, y *Found) int {
		if (x.Placed == Lost) != (y.Placed == Lost) {
			if x.Placed == Lost {
				return 1
			}
			return -1
		}
		return cmp.Or(x.Now.First-y.Now.First, x.Now.Last-y.Now.Last, x.Time.Compare(y.Time))
	})
	found := make([]Found, len(order))
	for i, f := range order {
		found[i] = *f
	}
	p.found = found
}

// find places one annotation on the page.
func (p *page) find(r *Record, blob string, old *followed) spot {
	if len(r.Block) == 0 || r.Span.Len() == 0 && len(p.lines) == 0 {
		return gone
	}
	if r.Blob != "" && r.Blob == blob && r.Span.Len() > 0 && r.Span.Last <= len(p.lines) &&
		HashLines(p.lines[r.Span.First-1:r.Span.Last]) == r.Hash {
		return spot{r.Span, Exact, 1, "the file is as it was then"}
	}
	if old != nil {
		// A sidecar can claim a blob that does not hold its block.
		if r.Span.Len() > 0 && r.Span.Last <= len(old.lines) && HashLines(old.lines[r.Span.First-1:r.Span.Last]) == r.Hash {
			return p.byDiff(r, old)
		}
	}
	if s := p.byText(r, false, nil); s.placed != Lost {
		return s
	}
	return p.byLikeness(r)
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

// maxDepth bounds the directories that walk goes into.
const maxDepth = 64

// walk calls fn for each sidecar, by path below the book's directory, sorted.
// It follows no links.
func (b *Store) walk(ctx context.Context, fn func(name string) error) error {
	var down func(dir string, depth int) error
	down = func(dir string, depth int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := b.work.ReadDir(path.Join(b.dir, dir))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("listing annotations: %w", err)
		}
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir() && depth < maxDepth:
				err = down(name, depth+1)
			case e.Type().IsRegular() && strings.HasSuffix(name, suffix):
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
