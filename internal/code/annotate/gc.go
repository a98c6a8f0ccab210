// Archiving annotations whose lines are gone, and bringing back those whose lines
// have returned. Nothing is deleted: an archived annotation stands in its sidecar
// as before, with one line more that says so.

package annotate

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// GCReport is what [Store.GC] or [Store.UndoGC] did, or would do.
type GCReport struct {
	Run         string    // names the run; "" when there was nothing to do, and for a dry run
	Files       int       // sidecars that were looked at
	Annotations int       // in them, archived ones too
	Archived    []Found   // by path of the sidecar, then by time
	Returned    []Found   // likewise; where they stand now
	Skipped     []Skipped // what could not be looked at, and was left as it is
}

// GC archives the annotations whose lines are neither in HEAD nor in the
// working tree, where work that is not committed counts, and brings back the
// archived ones whose lines are there again. Files are followed through renames
// that git knows. Without git, or before the first commit, the working tree
// alone counts: a file that is gone is looked for in its other files, as
// [Store.Lookup] does in one. A dry run changes nothing.
//
// A file that cannot be looked at (binary now, too long, gone before the history
// of a shallow clone begins, or without git from a tree of more than 5,000 files)
// is skipped and reported. When git does not answer, nothing at all is changed and
// its error is returned: not to know is no reason to archive. Run again, GC changes
// nothing more.
func (b *Store) GC(ctx context.Context, dryRun bool) (GCReport, error) {
	var rep GCReport
	run := b.runName()
	changes := map[string][]event{}
	var order []string
	skipped, err := b.survey(ctx, true, func(name string, s *sidecar, at []Found) error {
		rep.Files++
		rep.Annotations += len(at)
		for _, a := range at {
			lost := a.Placed == Lost
			if lost == a.Archived {
				continue
			}
			if changes[name] == nil {
				order = append(order, name)
			}
			changes[name] = append(changes[name], event{id: a.ID, back: !lost, time: b.opts.Clock(), run: run})
			a.Archived = lost
			if lost {
				rep.Archived = append(rep.Archived, a)
			} else {
				rep.Returned = append(rep.Returned, a)
			}
		}
		return nil
	})
	if err != nil {
		return GCReport{}, fmt.Errorf("archiving annotations: %w", err)
	}
	rep.Skipped = skipped
	if dryRun || len(order) == 0 {
		return rep, nil
	}
	rep.Run = run
	for _, name := range order {
		if err := b.append(ctx, name, nil, changes[name]); err != nil {
			return GCReport{}, fmt.Errorf("archiving annotations: %w", err)
		}
	}
	return rep, nil
}

// runName names a run by its time.
func (b *Store) runName() string { return "gc-" + b.opts.Clock().UTC().Format("20060102T150405.000Z") }

// UndoGC takes the last run of [Store.GC] back, which was not taken back yet:
// what it archived returns, and what it brought back is archived again, unless
// something else has happened to it since. Called again, it takes back the run
// before that, and passes over runs of which nothing is left to take back. Run is "" when there is none. A dry run changes nothing.
func (b *Store) UndoGC(ctx context.Context, dryRun bool) (GCReport, error) {
	var rep GCReport
	runs, undone := map[string]event{}, map[string]bool{}
	err := b.each(ctx, func(_ string, s *sidecar) error {
		for _, e := range s.events {
			switch was, ok := runs[e.run]; {
			case e.run == "":
			case e.undo != "":
				undone[e.undo] = true
			case !ok || e.time.After(was.time):
				runs[e.run] = e
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
		rep, err = b.undoRun(ctx, run, undone, dryRun)
		if err != nil {
			return GCReport{}, fmt.Errorf("taking a gc back: %w", err)
		}
		if len(rep.Archived)+len(rep.Returned) > 0 {
			return rep, nil
		}
	}
	rep.Run = ""
	return rep, nil
}

// undoRun takes back what a run did and nothing else has changed since, but
// for runs that were taken back themselves.
func (b *Store) undoRun(ctx context.Context, run string, undone map[string]bool, dryRun bool) (GCReport, error) {
	rep := GCReport{Run: run}
	err := b.each(ctx, func(name string, s *sidecar) error {
		rep.Files++
		rep.Annotations += len(s.records)
		counts := map[string]event{}
		for _, e := range s.events {
			if e.undo == "" && !undone[e.run] {
				counts[e.id] = e
			}
		}
		var events []event
		for _, r := range s.records {
			e, ok := counts[r.ID]
			if !ok || e.run != run || r.Archived == e.back {
				continue
			}
			events = append(events, event{id: r.ID, back: !e.back, time: b.opts.Clock(), run: "undo-" + run, undo: run})
			at := Found{Record: *r, In: ownerOf(name, s), Placed: Lost}
			at.Archived = e.back
			if e.back {
				rep.Archived = append(rep.Archived, at)
			} else {
				rep.Returned = append(rep.Returned, at)
			}
		}
		if dryRun || len(events) == 0 {
			return nil
		}
		return b.append(ctx, name, nil, events)
	})
	return rep, err
}
