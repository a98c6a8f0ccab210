// This file finds the present positions of all annotations for one file, either in the file
// itself or in other files to which its lines were moved.

package annotate

import (
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// resolveAll searches p.content, the file's content, for the annotations of p.sidecars and sets
// p.found. Annotations from the sidecar of a deleted file are found only if that file was
// probably renamed to this file, or if their text is the same and distinctive.
func (b *Store) resolveAll(ctx context.Context, p *fileResults, file string) error {
	h := b.blobHistory(file)
	defer h.mu.Unlock()
	lines := SplitLines(p.content)
	p.lines = len(lines)
	now := blobName(p.content, b.sha256())
	fetch := func(sidecars []*sidecar) error { // fetch reads all old texts at once
		if b.history == nil {
			return nil
		}
		err := h.fetchMissing(ctx, b.history, p.head, recordedBlobs(sidecars, now))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && !errors.Is(err, git.ErrTooMuch) {
			p.partial = err
		}
		return nil
	}
	own := p.sidecars[:min(1+p.former, len(p.sidecars))]
	if err := fetch(own); err != nil {
		return err
	}
	x := newLineIndex(h.in, lines)
	adopted := 0
	for i, s := range p.sidecars[len(own):] {
		if x.isSuccessor(s, now) {
			p.sidecars[len(own)+i], p.sidecars[len(own)+adopted] = p.sidecars[len(own)+adopted], s
			adopted++
		}
	}
	if err := fetch(p.sidecars[len(own) : len(own)+adopted]); err != nil {
		return err
	}
	olds := map[string]*oldVersion{}
	seen := map[string]bool{}
	for i, s := range p.sidecars {
		for _, r := range s.records {
			if seen[r.ID] {
				continue
			}
			m := notFound
			if i < len(own)+adopted {
				if old := h.texts[r.Blob]; old != nil && olds[r.Blob] == nil && r.Blob != now {
					olds[r.Blob] = &oldVersion{oldText: old, mapper: &h.mapper}
				}
				m = x.find(r, now, olds[r.Blob])
			} else {
				m = x.byUniqueText(r)
				if m.confidence < .9 {
					// an annotation of a different file counts only if its text is the same and the
					// confidence is high
					continue
				}
			}
			// An annotation with a different file name that is lost here belongs to that file, if
			// that file exists.
			if m.placing == Lost && (r.Archived || (i > 0 && (i >= len(own) || b.HasFile(r.File)))) {
				continue
			}
			seen[r.ID] = true
			f := Found{Record: *r}
			f.setPosition(file, m)
			p.found = append(p.found, f)
		}
	}
	p.sort()
	return nil
}

// recordedBlobs returns the names of the contents for which the annotations were written, except now, the
// present content.
func recordedBlobs(sidecars []*sidecar, now string) map[string]bool {
	want := map[string]bool{}
	for _, s := range sidecars {
		for _, r := range s.records {
			if r.Blob != "" && r.Blob != now {
				want[r.Blob] = true
			}
		}
	}
	return want
}

// isSuccessor reports whether the deleted file of a sidecar has probably become this text: an annotation
// was written for exactly this content, or at least half of the blocks, and at least two, occur
// here in their order.
func (p *lineIndex) isSuccessor(s *sidecar, now string) bool {
	votes := 0
	last := 0
	all := 0
	order := slices.Clone(s.records)
	slices.SortStableFunc(order, func(a, b *Record) int { return a.Span.First - b.Span.First })
	for _, r := range order {
		if r.Blob != "" && r.Blob == now {
			return true
		}
		if r.Archived {
			continue
		}
		all++
		if m := p.byText(r, nil); m.placing != Lost && m.span.First >= last {
			votes, last = votes+1, m.span.First
		}
	}
	return votes >= 2 && 2*votes >= all
}

// Limits of [Store.findElsewhere].
const (
	maxElsewhere  = 50  // number of files that are searched
	maxSince      = 3   // number of commits about which git is asked
	sureElsewhere = .85 // minimum confidence for a block in another file
)

// findElsewhere searches for the lost blocks of a file in the files that were changed by the same
// commits since, for example because the file was split. A block is found only if its text is
// distinctive and occurs exactly once. If git fails, the blocks stay lost.
func (b *Store) findElsewhere(ctx context.Context, file string, found []Found) error {
	var lost []*Found
	var since []string
	for i := range found {
		if f := &found[i]; f.Placed == Lost && f.Commit != "" && isDistinctive(f.Block) {
			lost = append(lost, f)
			since = append(since, f.Commit)
		}
	}
	if len(lost) == 0 || b.history == nil {
		return nil
	}
	slices.Sort(since)
	since = slices.Compact(since)
	var files []string
	for _, commit := range since[:min(len(since), maxSince)] {
		names, err := b.history.Alongside(ctx, commit, file)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil { // ignore the error, because, for example, a rebase may have removed the commit
			files = append(files, names...)
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	for _, name := range files[:min(len(files), maxElsewhere)] {
		if name == file || CheckFile(name) != nil {
			continue
		}
		content, err := b.content(name)
		if err != nil || isBinary(content) {
			continue
		}
		x := newLineIndex(newInterner(), SplitLines(content))
		for _, f := range lost {
			if m := x.byUniqueText(&f.Record); m.confidence >= sureElsewhere && m.confidence > f.Confidence {
				f.In = name
				f.Placed = Moved
				f.Now = m.span
				f.Confidence = m.confidence
				f.How = "its lines went to another file; " + m.how
			}
		}
	}
	return nil
}
