// This file implements the search in all annotations of a tree.

package annotate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// SearchHit is an annotation that a search found.
type SearchHit struct {
	FoundAnnotation
	Score                float64 // rank of the hit; a higher score is better (0 if the query contains no words)
	MatchesOnlyCodeLines bool    // the annotated lines contain the words of the query, but the reasoning does not
}

// Search returns the annotations of the whole tree that match the query, including archived annotations. The best
// annotation comes first.
//
// Search first ranks the annotations by reasoning and rejected alternatives, as [oxbow.Memory.Recall] ranks entries. If
// this search finds fewer annotations than the query's limit, Search appends annotations whose annotated lines of code
// match the query. If the query contains no words, Search returns all annotations that match the filters, the newest
// first.
//
// Search supports the filters of [oxbow.Memory.Recall]. A filter compares an annotation as if it were a note:
//
//   - the note's name is the annotation's ID
//   - the note's creation time is the annotation's time
//   - the note has four labels with the keys "file" (whose value is the file's present name), "agent", "model" and
//     "profile"
//   - an archived annotation also has the label archived:true
func (b *Store) Search(ctx context.Context, q oxbow.Query) ([]SearchHit, error) {
	all, err := b.unlocatedAnnotations(ctx)
	if err != nil {
		return nil, fmt.Errorf("searching annotations: %w", err)
	}
	if q.Limit == 0 {
		q.Limit = oxbow.DefaultLimit
	}
	var hits []SearchHit
	seen := map[uint64]bool{}
	rank := func(content func(*Record) string) error {
		found, err := oxbow.New(&foundAnnotationStore{all, content}, nil).Recall(ctx, q)
		for _, f := range found {
			if !seen[f.Entry.ID] && len(hits) < q.Limit {
				seen[f.Entry.ID] = true
				hits = append(hits, SearchHit{FoundAnnotation: all[f.Entry.ID-1], Score: f.Score})
			}
		}
		return err
	}
	err = rank(reasoningSearchText)
	wantsMore := len(hits) < q.Limit && strings.TrimSpace(q.Text) != ""
	if err == nil && wantsMore {
		byReasoning := len(hits)
		err = rank(annotatedBlockText)
		for i := byReasoning; i < len(hits); i++ {
			hits[i].MatchesOnlyCodeLines = true
		}
	}
	if err != nil {
		return nil, fmt.Errorf("searching annotations: %w", err)
	}
	for i := range hits {
		b.locateHit(ctx, &hits[i])
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return hits, nil
}

// locateHit finds the present position of a hit. If the file cannot be read, it leaves the hit unchanged.
func (b *Store) locateHit(ctx context.Context, h *SearchHit) {
	p, err := b.findFileAnnotations(ctx, h.CurrentFile)
	if err != nil {
		return
	}
	for _, f := range p.foundAnnotations {
		if f.ID == h.ID {
			h.FoundAnnotation = f
		}
	}
}

// Diagnose explains why a search for q finds nothing.
func (b *Store) Diagnose(ctx context.Context, q oxbow.Query) (oxbow.Diagnosis, error) {
	all, err := b.unlocatedAnnotations(ctx)
	if err != nil {
		return oxbow.Diagnosis{}, fmt.Errorf("searching annotations: %w", err)
	}
	return oxbow.New(&foundAnnotationStore{all, reasoningSearchText}, nil).Diagnose(ctx, q)
}

// unlocatedAnnotations returns all annotations without finding their present positions, because that takes long. Each
// annotation has the position at which it was written, and the placement NotPlaced. The annotations are sorted by the
// path of the sidecar (the file in which they are stored) and then by time.
//
// If the annotated file no longer exists, unlocatedAnnotations finds out whether the file was renamed, and sets
// CurrentFile to the new name. It does so for at most maxRenameQueries files. If a file has several annotations with
// the same ID, only the first annotation is returned.
func (b *Store) unlocatedAnnotations(ctx context.Context) ([]FoundAnnotation, error) {
	var all []FoundAnnotation
	seen := map[string]bool{}
	left := maxRenameQueries
	err := b.eachSidecar(ctx, func(name string, s *sidecar) error {
		file, known := fileOfSidecarPath(name)
		mayBeRenamed := known && len(s.records) > 0
		if mayBeRenamed && left > 0 {
			if _, err := b.worktree.Stat(file); errors.Is(err, fs.ErrNotExist) {
				left--
				file = b.currentName(ctx, file)
			}
		}
		for _, r := range s.records {
			in := r.File
			if known {
				in = file
			}
			if !seen[in+"\x00"+r.ID] {
				seen[in+"\x00"+r.ID] = true
				all = append(all, FoundAnnotation{Record: *r, CurrentFile: in, Placement: NotPlaced})
			}
		}
		return nil
	})
	return all, err
}

// maxRenameQueries is the maximum number of missing files in one search. The search asks git for the new name of each
// such file.
const maxRenameQueries = 50

// currentName returns the present name of a file that is missing in the working tree. If the file was renamed several
// times, this is the newest name that exists in the working tree. If no such name is known, or if git fails,
// currentName returns the old name. It caches the names from git until HEAD changes.
func (b *Store) currentName(ctx context.Context, file string) string {
	if b.history == nil {
		return file
	}
	head, err := b.history.HeadCommit(ctx)
	if err != nil || head == "" {
		return file
	}
	key := head + ">" + file
	b.mu.Lock()
	names, ok := b.formerFileNames[key]
	b.mu.Unlock()
	if !ok {
		names, _, err = b.history.LaterNames(ctx, file)
		if err != nil {
			// If git fails, use the old name of the file, because a lookup under the old name still finds the
			// annotation.
			return file
		}
		b.cacheFormerNames(key, names)
	}
	for _, n := range slices.Backward(names) {
		if CheckFile(n) != nil {
			continue
		}
		if _, err := b.worktree.Stat(n); err == nil {
			return n
		}
	}
	return file
}
