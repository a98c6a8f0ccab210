// This file archives annotations whose lines were deleted, and restores annotations whose lines
// exist again. Nothing is deleted: an archived annotation stays in its sidecar, with an additional
// line that says so.

package annotate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// GCReport is the result of [Store.GC] or [Store.UndoGC].
type GCReport struct {
	// name of the GC run, or of the run that UndoGC has undone ("" if nothing was changed, and for a dry run of GC)
	GCRunName        string
	ExaminedSidecars int // number of sidecars that were examined
	// number of annotations in the examined sidecars, including archived annotations
	ExaminedAnnotations int
	// annotations that were archived, sorted by the path of the sidecar, then by time
	Archived []FoundAnnotation
	// annotations that were restored, with their present positions, sorted by the path of the sidecar, then by time
	Restored     []FoundAnnotation
	SkippedFiles []SkippedFile // files that could not be examined and were not changed
}

// GC archives an annotation if its lines are neither in HEAD nor in the working tree, which includes uncommitted
// changes. GC restores an archived annotation if its lines exist again. GC follows the renames that git reports. If
// there is no git, or before the first commit, GC examines only the working tree. In this case it searches for the
// lines of a deleted file in all other files, like [Store.Lookup]. If dryRun is set, GC changes nothing and only
// returns the report.
//
// GC skips and reports files that cannot be examined. These are files that are now binary or too long, files that were
// deleted before a shallow clone's history begins, and deleted files in a tree of more than 5,000 files without git. If
// git fails, GC changes nothing and returns the error, because annotations must not be archived by mistake. A second
// run of GC without other changes in between changes nothing.
func (b *Store) GC(ctx context.Context, dryRun bool) (GCReport, error) {
	var rep GCReport
	run := b.newGCRunName()
	changes := map[string][]archiveEvent{}
	var order []string
	skipped, err := b.surveySidecars(
		ctx,
		searchWorkingTreeThenHead,
		func(name string, s *sidecar, at []FoundAnnotation) error {
			rep.ExaminedSidecars++
			rep.ExaminedAnnotations += len(at)
			for _, a := range at {
				lost := a.Placement == NotPlaced
				if lost == a.Archived {
					continue
				}
				if changes[name] == nil {
					order = append(order, name)
				}
				changes[name] = append(
					changes[name],
					archiveEvent{recordID: a.ID, isRestoration: !lost, time: b.opts.Clock(), gcRunName: run},
				)
				a.Archived = lost
				if lost {
					rep.Archived = append(rep.Archived, a)
				} else {
					rep.Restored = append(rep.Restored, a)
				}
			}
			return nil
		},
	)
	if err != nil {
		return GCReport{}, fmt.Errorf("archiving annotations: %w", err)
	}
	rep.SkippedFiles = skipped
	if dryRun || len(order) == 0 {
		return rep, nil
	}
	rep.GCRunName = run
	for _, name := range order {
		if err := b.appendNewRecords(ctx, name, nil, changes[name]); err != nil {
			return GCReport{}, fmt.Errorf("archiving annotations: %w", err)
		}
	}
	return rep, nil
}

// newGCRunName returns the name of a garbage collection that starts now.
func (b *Store) newGCRunName() string {
	return "gc-" + b.opts.Clock().UTC().Format("20060102T150405.000Z")
}

// UndoGC undoes the last run of [Store.GC] that was not undone yet. It restores the annotations that the run archived,
// and archives the annotations that the run restored. An annotation that was changed after the run is not restored or
// archived. Runs for which nothing is left to undo are skipped. If UndoGC is called again, it undoes the run before the
// run that it undid last.
//
// The field GCRunName of the report names the undone run. It is "" if no run can be undone. If dryRun is true, UndoGC
// only reports what it would do.
func (b *Store) UndoGC(ctx context.Context, dryRun bool) (GCReport, error) {
	var rep GCReport
	runs, undone := map[string]archiveEvent{}, map[string]bool{}
	err := b.eachSidecar(ctx, func(_ string, s *sidecar) error {
		for _, e := range s.archiveEvents {
			switch was, ok := runs[e.gcRunName]; {
			case e.gcRunName == "":
			case e.undoneGCRunName != "":
				undone[e.undoneGCRunName] = true
			case !ok || e.time.After(was.time):
				runs[e.gcRunName] = e
			}
		}
		return nil
	})
	if err != nil {
		return rep, fmt.Errorf("taking a gc back: %w", err)
	}
	order := slices.SortedFunc(maps.Keys(runs), func(x, y string) int {
		return cmp.Or(runs[y].time.Compare(runs[x].time), strings.Compare(y, x))
	})
	for _, run := range order {
		if undone[run] {
			continue
		}
		rep, err = b.undoGCRun(ctx, run, undone, dryRun)
		if err != nil {
			return GCReport{}, fmt.Errorf("taking a gc back: %w", err)
		}
		if len(rep.Archived)+len(rep.Restored) > 0 {
			return rep, nil
		}
	}
	rep.GCRunName = ""
	return rep, nil
}

// undoGCRun undoes the changes that a run made, except changes to annotations that a later run has changed again. The
// runs in undoneRuns were undone already, so they do not count as later runs.
func (b *Store) undoGCRun(ctx context.Context, run string, undoneRuns map[string]bool, dryRun bool) (GCReport, error) {
	rep := GCReport{GCRunName: run}
	err := b.eachSidecar(ctx, func(name string, s *sidecar) error {
		rep.ExaminedSidecars++
		rep.ExaminedAnnotations += len(s.records)
		counts := map[string]archiveEvent{}
		for _, e := range s.archiveEvents {
			if e.undoneGCRunName == "" && !undoneRuns[e.gcRunName] {
				counts[e.recordID] = e
			}
		}
		var events []archiveEvent
		for _, r := range s.records {
			e, ok := counts[r.ID]
			if !ok || e.gcRunName != run {
				continue
			}
			if r.Archived == e.isRestoration {
				continue
			}
			events = append(
				events,
				archiveEvent{
					recordID:        r.ID,
					isRestoration:   !e.isRestoration,
					time:            b.opts.Clock(),
					gcRunName:       "undo-" + run,
					undoneGCRunName: run,
				},
			)
			at := FoundAnnotation{Record: *r, CurrentFile: annotatedFileOf(name, s), Placement: NotPlaced}
			at.Archived = e.isRestoration
			if e.isRestoration {
				rep.Archived = append(rep.Archived, at)
			} else {
				rep.Restored = append(rep.Restored, at)
			}
		}
		if dryRun || len(events) == 0 {
			return nil
		}
		return b.appendNewRecords(ctx, name, nil, events)
	})
	return rep, err
}
