// Search through the reasoning of all annotations.

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

// Hit is an annotation that a search found.
type Hit struct {
	Found
	Score   float64 // higher is better; 0 when the query had no words
	ByLines bool    // the lines hold the words, and the reasoning does not
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
	rank := func(content func(*Record) string, lines bool) error {
		found, err := oxbow.New(&recordStore{all, content}, nil).Recall(ctx, q)
		for _, f := range found {
			if !seen[f.Entry.ID] && len(hits) < q.Limit {
				seen[f.Entry.ID] = true
				hits = append(hits, Hit{Found: all[f.Entry.ID-1], Score: f.Score, ByLines: lines})
			}
		}
		return err
	}
	err = rank(reasoningText, false)
	if err == nil && len(hits) < q.Limit && strings.TrimSpace(q.Text) != "" {
		err = rank(blockText, true)
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

// locateHit sets where the lines of a hit are now. The hit of a file that cannot
// be read stays as it is.
func (b *Store) locateHit(ctx context.Context, h *Hit) {
	p, err := b.resolve(ctx, h.In)
	if err != nil {
		return
	}
	for _, f := range p.found {
		if f.ID == h.ID {
			h.Found = f
		}
	}
}

// Diagnose says why a search finds nothing.
func (b *Store) Diagnose(ctx context.Context, q oxbow.Query) (oxbow.Diagnosis, error) {
	all, err := b.all(ctx)
	if err != nil {
		return oxbow.Diagnosis{}, fmt.Errorf("searching annotations: %w", err)
	}
	return oxbow.New(&recordStore{all, reasoningText}, nil).Diagnose(ctx, q)
}

// all returns all annotations, as they were written, by the path of their
// sidecar and then by time.
func (b *Store) all(ctx context.Context) ([]Found, error) {
	var all []Found
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
				all = append(all, Found{Record: *r, In: in, Placed: Lost})
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
	if b.history == nil {
		return file
	}
	head, err := b.history.Head(ctx)
	if err != nil || head == "" {
		return file
	}
	key := head + ">" + file
	b.mu.Lock()
	names, ok := b.formerNames[key]
	b.mu.Unlock()
	if !ok {
		names, _, err = b.history.Successors(ctx, file)
		if err != nil {
			return file // it is found all the same, under the name that it had
		}
		b.keepNames(key, names)
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
