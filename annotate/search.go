// This file searches the reasoning, and says of each line where it is from.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/diff"
)

// Hit is an annotation that a search found.
type Hit struct {
	Standing
	Score   float64 // higher is better; 0 when the query had no words
	ByLines bool    // the lines hold the words, and the reasoning does not
}

// Standing is an annotation of the tree and where it stands.
type Standing struct {
	Found
	In string // the file that it stands in now, or stood in
}

// Search returns the annotations of the whole tree that fit the query, best
// first, archived ones too: it ranks the reasoning and the alternatives as
// [oxbow.Memory.Recall] ranks entries, and takes the same filters. In these, an
// annotation is an entry whose name is its ID, of kind note, created at its
// time, with the labels file (as it is called now), agent, model, profile and,
// when it is archived, archived:true. Behind those that say the words come, if
// there is room, those whose lines do; a query without words selects, newest
// first.
func (b *Store) Search(ctx context.Context, q oxbow.Query) ([]Hit, error) {
	all, err := b.all(ctx)
	if err != nil {
		return nil, fmt.Errorf("searching annotations: %w", err)
	}
	if q.Limit == 0 {
		q.Limit = oxbow.DefaultLimit
	}
	var hits []Hit
	seen := map[uint64]bool{}
	take := func(content func(*Record) string, lines bool) error {
		found, err := oxbow.New(&shelf{all, content}, nil).Recall(ctx, q)
		if err != nil {
			return err
		}
		for _, f := range found {
			if !seen[f.Entry.ID] && len(hits) < q.Limit {
				seen[f.Entry.ID] = true
				hits = append(hits, Hit{Standing: all[f.Entry.ID-1], Score: f.Score, ByLines: lines})
			}
		}
		return nil
	}
	if err = take(said, false); err == nil && len(hits) < q.Limit && strings.TrimSpace(q.Text) != "" {
		err = take(block, true)
	}
	if err != nil {
		return nil, fmt.Errorf("searching annotations: %w", err)
	}
	for i := range hits {
		p, err := b.place(ctx, hits[i].In)
		switch {
		case err == nil:
			for _, f := range p.found {
				if f.ID == hits[i].ID {
					hits[i].Found = f
				}
			}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		// A file that cannot be looked at any more does not hide why it was so.
	}
	return hits, nil
}

// Diagnose says why a search finds nothing.
func (b *Store) Diagnose(ctx context.Context, q oxbow.Query) (oxbow.Diagnosis, error) {
	all, err := b.all(ctx)
	if err != nil {
		return oxbow.Diagnosis{}, fmt.Errorf("searching annotations: %w", err)
	}
	return oxbow.New(&shelf{all, said}, nil).Diagnose(ctx, q)
}

// all returns all annotations, as they were written, by the path of their
// sidecar and then by time.
func (b *Store) all(ctx context.Context) ([]Standing, error) {
	var all []Standing
	seen := map[string]bool{}
	left := maxRenamed
	err := b.each(ctx, func(name string, s *sidecar) error {
		file, known := sourceOf(name)
		if _, err := b.work.Stat(file); known && left > 0 && errors.Is(err, fs.ErrNotExist) && len(s.records) > 0 {
			left--
			file = b.nowCalled(ctx, file)
		}
		for _, r := range s.records {
			in := r.File
			if known {
				in = file
			}
			if !seen[in+"\x00"+r.ID] {
				seen[in+"\x00"+r.ID] = true
				all = append(all, Standing{Found{Record: *r, Placed: Lost}, in})
			}
		}
		return nil
	})
	return all, err
}

// maxRenamed bounds the files of one search that git is asked about, because
// they are not there any more.
const maxRenamed = 50

// nowCalled returns the name in the working tree of a file that is not there
// under its own, or that name where there is no other. What git says is
// remembered for this state of the history.
func (b *Store) nowCalled(ctx context.Context, file string) string {
	if b.hist == nil {
		return file
	}
	head, err := b.hist.Head(ctx)
	if err != nil || head == "" {
		return file
	}
	key := head + ">" + file
	b.mu.Lock()
	names, ok := b.called[key]
	b.mu.Unlock()
	if !ok {
		if names, _, err = b.hist.Successors(ctx, file); err != nil {
			return file // it is found all the same, under the name that it had
		}
		b.mu.Lock()
		if len(b.called) >= maxPlaced {
			clear(b.called)
		}
		b.called[key] = names
		b.mu.Unlock()
	}
	for _, n := range slices.Backward(names) {
		if CheckFile(n) != nil {
			continue
		}
		if _, err := b.work.Stat(n); err == nil {
			return n
		}
	}
	return file
}

// said is what the reasoning of an annotation is found by.
func said(r *Record) string {
	return strings.Join(append([]string{r.Why}, r.Rejected...), "\n")
}

// block is what its lines are found by.
func block(r *Record) string { return strings.Join(r.Block, "\n") }

// shelf is the annotations as a store to recall from. An ID is a place in all,
// from 1.
type shelf struct {
	all     []Standing
	content func(*Record) string
}

// Entries yields the selected annotations.
func (s *shelf) Entries(ctx context.Context, f oxbow.Filter) iter.Seq2[oxbow.Entry, error] {
	return func(yield func(oxbow.Entry, error) bool) {
		for i := range s.all {
			if err := ctx.Err(); err != nil {
				yield(oxbow.Entry{}, err)
				return
			}
			if e := s.entry(i); f.Match(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

func (s *shelf) entry(i int) oxbow.Entry {
	r := &s.all[i].Record
	e := oxbow.Entry{ID: uint64(i) + 1, Name: r.ID, Content: s.content(r), Created: r.Time, Updated: r.Time,
		Source: oxbow.Source{Time: r.Time, Actor: r.By, Session: r.Session, Profile: r.Profile}}
	for _, l := range []oxbow.Label{{Key: oxbow.LabelFile, Value: s.all[i].In}, {Key: "agent", Value: r.Agent}, {Key: "model", Value: r.Model}, {Key: "profile", Value: r.Profile}} {
		if l.Value != "" {
			e.Labels = append(e.Labels, l)
		}
	}
	if r.Archived {
		e.Labels = append(e.Labels, oxbow.Label{Key: "archived", Value: "true"})
	}
	e.Labels = oxbow.SortLabels(e.Labels)
	return e
}

// Get returns the annotation of that ID.
func (s *shelf) Get(_ context.Context, name string) (oxbow.Entry, error) {
	for i := range s.all {
		if s.all[i].ID == name {
			return s.entry(i), nil
		}
	}
	return oxbow.Entry{}, oxbow.ErrNotFound
}

// Apply refuses: annotations are written by [Book.Add].
func (s *shelf) Apply(context.Context, ...oxbow.Op) error { return oxbow.ErrReadOnly }

// Close does nothing.
func (s *shelf) Close() error { return nil }

// Line is one line of a file, where it is from, and why it is so.
type Line struct {
	Number int // from 1
	Text   string

	Commit  string // in hex; "" when the line is not committed, or there is no git
	From    int    // its number in the file of that commit, 0 without one
	Author  string
	Time    time.Time
	Summary string

	Why []Found // annotations that stand there; not those that are lost
}

// Blame returns the lines of a file as it is in the working tree. Errors are
// those of [Book.Lookup].
func (b *Store) Blame(ctx context.Context, file string) ([]Line, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	if _, err := b.work.Stat(file); err != nil {
		return nil, fmt.Errorf("blaming: %w", err)
	}
	p, err := b.place(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("blaming: %w", err)
	}
	lines := Lines(p.content)
	out := make([]Line, len(lines))
	for i, l := range lines {
		out[i] = Line{Number: i + 1, Text: l}
	}
	for _, f := range p.found {
		for n := f.Now.First; n <= f.Now.Last && n >= 1; n++ {
			out[n-1].Why = append(out[n-1].Why, f)
		}
	}
	if b.repo == nil || p.head == "" {
		return out, nil
	}
	blob, err := b.repo.At(ctx, p.head, file)
	if err != nil || blob == "" {
		return out, err
	}
	blobs, err := b.repo.Blobs(ctx, []string{blob})
	if err != nil {
		return nil, err
	}
	blamed, err := b.repo.Blame(ctx, p.head, file)
	if err != nil {
		return nil, err
	}
	old := Lines(blobs[blob])
	if len(blamed) != len(old) {
		return nil, errors.New("blaming: git counts other lines than the file has")
	}
	in := diff.Interner{}
	for i, to := range new(diff.Mapper).Map(in.Lines(old), in.Lines(lines)) {
		if to >= 0 {
			g := blamed[i]
			l := &out[to]
			l.Commit, l.From, l.Author, l.Time, l.Summary = g.Commit, g.Line, g.Author, g.Time, g.Summary
		}
	}
	return out, nil
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
