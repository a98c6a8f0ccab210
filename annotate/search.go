// This file searches the reasoning, and says of each line where it is from.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/bm25"
	"github.com/oxbow-memory/oxbow/internal/rank"
)

// Hit is an annotation that a search found.
type Hit struct {
	Standing
	Score float64 // BM25, above 0
}

// Standing is an annotation of the tree and where it stands.
type Standing struct {
	Found
	In string // the file that it stands in now, or stood in
}

// Weights of a word, in sixteenths of one of the reasoning.
const (
	whyWeight      = 16
	rejectedWeight = 12
	fileWeight     = 16
	blockWeight    = 2
)

// Search returns the annotations of the whole tree that fit the words best, at
// most limit, archived ones too: by BM25 over the reasoning, the alternatives,
// the file's path and, weighing little, the lines themselves.
func (b *Book) Search(ctx context.Context, question string, limit int) ([]Hit, error) {
	a := rank.NewAnalyzer()
	x := bm25.New(bm25.Params{})
	var all []Hit
	seen := map[string]bool{}
	err := b.walk(ctx, func(name string) error {
		c, err := b.read(name)
		if err != nil {
			return err
		}
		file, known := sourceOf(name)
		for _, r := range c.records {
			in := r.File
			if known {
				in = file
			}
			if seen[in+"\x00"+r.ID] {
				continue
			}
			seen[in+"\x00"+r.ID] = true
			x.Put(uint64(len(all)), r.Time.UnixMilli(), a.Doc([]rank.Field{
				{Name: "why", Text: r.Why, Weight: whyWeight},
				{Name: "rejected", Text: strings.Join(r.Rejected, "\n"), Weight: rejectedWeight},
				{Name: "file", Text: in, Weight: fileWeight},
				{Name: "block", Text: strings.Join(r.Block, "\n"), Weight: blockWeight},
			}))
			all = append(all, Hit{Standing: Standing{Found{Record: *r, Placed: Lost}, in}})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("searching annotations: %w", err)
	}
	words, _ := a.Question(question)
	terms := make([]string, len(words))
	for i, w := range words {
		terms[i] = w.Term
	}
	var hits []Hit
	for _, h := range x.Search(bm25.Query{Terms: bm25.Any(terms), Limit: limit}) {
		hit := all[h.ID]
		hit.Score = h.Score
		p, err := b.place(ctx, hit.In)
		switch {
		case err == nil:
			for _, f := range p.found {
				if f.ID == hit.ID {
					hit.Found = f
				}
			}
		case ctx.Err() != nil:
			return nil, ctx.Err()
		}
		// A file that cannot be looked at any more does not hide why it was so.
		hits = append(hits, hit)
	}
	return hits, nil
}

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
func (b *Book) Blame(ctx context.Context, file string) ([]Line, error) {
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
	in := interner{}
	for i, to := range matchLines(in.lines(old), in.lines(lines)) {
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
func (b *Book) IsTree() bool {
	if b.repo != nil {
		return true
	}
	_, err := b.work.Stat(b.dir)
	return !errors.Is(err, fs.ErrNotExist)
}
