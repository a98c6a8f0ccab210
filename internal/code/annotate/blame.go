// This file implements blame, which lists the commit and the annotations of each line in a file.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/diff"
)

// BlameLine is a line of a file, with the commit and the annotations that explain it.
type BlameLine struct {
	Number int // line number, counted from 1
	Text   string

	Commit          string // commit that wrote the line, in hex ("" if the line is not committed, or without git)
	CommitLine      int    // number that the line had in the file at Commit (0 without a commit)
	Author          string
	Time            time.Time
	Summary         string
	PorcelainHeader []string // lines with author, committer and summary in the format of git blame --porcelain

	Annotations []FoundAnnotation // annotations whose block contains this line (lost annotations are excluded)
}

// Blame returns the lines of a file in the working tree. It returns the errors of [Store.Lookup].
// If the error is a [PartialLookupError], the lines are returned as well.
func (b *Store) Blame(ctx context.Context, file string) ([]BlameLine, error) {
	if err := CheckFile(file); err != nil {
		return nil, err
	}
	if _, err := b.worktree.Stat(file); err != nil {
		return nil, fmt.Errorf("blaming: %w", err)
	}
	p, err := b.findFileAnnotations(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("blaming: %w", err)
	}
	lines := SplitLines(p.content)
	out := make([]BlameLine, len(lines))
	for i, l := range lines {
		out[i] = BlameLine{Number: i + 1, Text: l}
	}
	for _, f := range p.foundAnnotations {
		for n := f.CurrentSpan.First; f.CurrentFile == file && n <= f.CurrentSpan.Last && n >= 1; n++ {
			out[n-1].Annotations = append(out[n-1].Annotations, f)
		}
	}
	if b.repo == nil || !p.hasHistory() {
		return out, p.partialError()
	}
	if err := b.blameCommits(ctx, p.headCommit, file, lines, out); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return out, &PartialLookupError{Err: err}
	}
	return out, nil
}

// blameCommits sets the fields about commits in the elements of the slice out. The slice lines contains the present
// lines of the file, and out has an element for each of these lines. blameCommits compares lines with the file in the
// commit head. For a line that this version of the file also has, it sets the commit that wrote the line. It leaves the
// elements of all other lines unchanged. It returns an error if git fails.
func (b *Store) blameCommits(ctx context.Context, head, file string, lines []string, out []BlameLine) error {
	blob, err := b.repo.BlobAt(ctx, head, file)
	if err != nil || blob == "" {
		return err
	}
	blobs, err := b.repo.ReadBlobs(ctx, []string{blob})
	if err != nil {
		return err
	}
	blamed, err := b.repo.Blame(ctx, head, file)
	if err != nil {
		return err
	}
	old := SplitLines(blobs[blob])
	if len(blamed) != len(old) {
		return errors.New("git blame counts other lines than the file has")
	}
	in := diff.LineNumberer{}
	for i, to := range new(diff.LineMapper).MapEqualLines(in.LineIDs(old), in.LineIDs(lines)) {
		if to >= 0 {
			g, l := blamed[i], &out[to]
			l.Commit = g.Commit
			l.CommitLine = g.Line
			l.Author = g.Author
			l.Time = g.Time
			l.Summary = g.Summary
			l.PorcelainHeader = g.PorcelainHeader
		}
	}
	return nil
}
