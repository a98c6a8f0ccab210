// This file counts the annotations of a tree.

package annotate

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Stats contains numbers about the annotations of a tree.
type Stats struct {
	AnnotatedFiles int // number of source files with annotations
	// number of annotations (an annotation counts once even if several file copies have it)
	Annotations int
	// number of annotations by how they were found in the working tree, without those counted in ArchivedCount
	CountByPlacement map[PlacementKind]int
	ArchivedCount    int            // number of archived annotations whose lines do not exist
	CountByAuthor    map[string]int // number of annotations by their author's kind: person, agent, tool, import, or ""

	// times at which the oldest, the median and the newest annotation were written (zero without annotations)
	OldestTime, MedianTime, NewestTime time.Time

	SidecarBytes     int64 // total size of all sidecars, in bytes
	DamagedLines     int   // number of sidecar lines that cannot be read (see [Store.CheckSidecars])
	NewerFormatLines int   // number of lines that a newer program version wrote
	SkippedFiles     []SkippedFile
}

// Stats counts the annotations of the tree and finds their present positions.
func (b *Store) Stats(ctx context.Context) (Stats, error) {
	st := Stats{CountByPlacement: map[PlacementKind]int{}, CountByAuthor: map[string]int{}}
	best := map[string]FoundAnnotation{}
	var order []string
	skipped, err := b.surveySidecars(
		ctx,
		searchWorkingTreeOnly,
		func(name string, s *sidecar, at []FoundAnnotation) error {
			b.mu.Lock()
			if c := b.cachedSidecars[name]; c != nil {
				st.SidecarBytes += c.size
			}
			b.mu.Unlock()
			st.DamagedLines += len(s.damagedLines)
			st.NewerFormatLines += s.newerFormatLineCount
			if len(at) > 0 {
				st.AnnotatedFiles++
			}
			for _, a := range at {
				was, ok := best[a.ID]
				if !ok {
					order = append(order, a.ID)
				}
				isOnlyHere := was.Placement == NotPlaced && a.Placement != NotPlaced
				if !ok || isOnlyHere {
					best[a.ID] = a
				}
			}
			return nil
		},
	)
	if err != nil {
		return Stats{}, fmt.Errorf("counting annotations: %w", err)
	}
	st.Annotations, st.SkippedFiles = len(best), skipped
	var times []time.Time
	for _, id := range order {
		a := best[id]
		if a.Placement == NotPlaced && a.Archived {
			st.ArchivedCount++
		} else {
			st.CountByPlacement[a.Placement]++
		}
		st.CountByAuthor[string(a.Author)]++
		times = append(times, a.Time)
	}
	if n := len(times); n > 0 {
		slices.SortFunc(times, time.Time.Compare)
		st.OldestTime = times[0]
		st.MedianTime = times[n/2]
		st.NewestTime = times[n-1]
	}
	return st, nil
}
