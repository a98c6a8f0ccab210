// This file counts annotations.

package annotate

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Stats contains the numbers of a store.
type Stats struct {
	Files int // number of source files with annotations
	// number of annotations. If copies of a file have the same annotation, the annotation counts
	// once
	Annotations int
	// number of annotations by their state in the working tree, excluding the archived annotations
	// in Archived
	Placed   map[Placing]int
	Archived int            // number of archived annotations whose lines do not exist
	By       map[string]int // number by author: person, agent, tool, import, or ""

	Oldest, Median, Newest time.Time // times of the annotations, zero if there are no annotations

	Bytes   int64 // total size of the sidecars
	Damaged int   // number of sidecar lines that cannot be read (see [Store.Check])
	Newer   int   // number of lines written by a newer program version
	Skipped []SkippedFile
}

// Stats counts the annotations of the tree and finds their present positions.
func (b *Store) Stats(ctx context.Context) (Stats, error) {
	st := Stats{Placed: map[Placing]int{}, By: map[string]int{}}
	best := map[string]Found{}
	var order []string
	skipped, err := b.surveySidecars(ctx, treeOnly, func(name string, s *sidecar, at []Found) error {
		b.mu.Lock()
		if c := b.cached[name]; c != nil {
			st.Bytes += c.size
		}
		b.mu.Unlock()
		st.Damaged += len(s.damaged)
		st.Newer += s.newer
		if len(at) > 0 {
			st.Files++
		}
		for _, a := range at {
			was, ok := best[a.ID]
			if !ok {
				order = append(order, a.ID)
			}
			isOnlyHere := was.Placed == Lost && a.Placed != Lost
			if !ok || isOnlyHere {
				best[a.ID] = a
			}
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("counting annotations: %w", err)
	}
	st.Annotations, st.Skipped = len(best), skipped
	var times []time.Time
	for _, id := range order {
		a := best[id]
		if a.Placed == Lost && a.Archived {
			st.Archived++
		} else {
			st.Placed[a.Placed]++
		}
		st.By[string(a.By)]++
		times = append(times, a.Time)
	}
	if n := len(times); n > 0 {
		slices.SortFunc(times, time.Time.Compare)
		st.Oldest = times[0]
		st.Median = times[n/2]
		st.Newest = times[n-1]
	}
	return st, nil
}
