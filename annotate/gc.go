// This file archives annotations whose lines are gone, and brings back those
// whose lines have returned. Nothing is deleted: an archived annotation stands
// in its sidecar as before, with one line more that says so.

package annotate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow"
)

// GCReport is what [Book.GC] or [Book.UndoGC] did, or would do.
type GCReport struct {
	Run         string     // names the run; "" when there was nothing to do, and for a dry run
	Files       int        // sidecars that were looked at
	Annotations int        // in them, archived ones too
	Archived    []Standing // by path of the sidecar, then by time
	Returned    []Standing // likewise; where they stand now
	Skipped     []Skipped  // what could not be looked at, and was left as it is
}

// Skipped is a file whose annotations were left alone.
type Skipped struct {
	File string
	Err  error
}

// GC archives the annotations whose lines are neither in HEAD nor in the
// working tree, where work that is not committed counts, and brings back the
// archived ones whose lines are there again. Files are followed through renames
// that git knows. Without git, or before the first commit, the working tree
// alone counts. A dry run changes nothing.
//
// A file that cannot be looked at (binary now, too long, or gone before the
// history of a shallow clone begins) is skipped and reported. When git does not answer, nothing at all is changed and its error
// is returned: not to know is no reason to archive. Run again, GC changes
// nothing more.
func (b *Store) GC(ctx context.Context, dryRun bool) (GCReport, error) {
	var rep GCReport
	run := b.runName()
	changes := map[string][]event{}
	var order []string
	skipped, err := b.survey(ctx, true, func(name string, s *sidecar, at []Standing) error {
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
			if a.Archived = lost; lost {
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

// UndoGC takes the last run of [Book.GC] back, which was not taken back yet:
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
		if rep, err = b.takeBack(ctx, run, undone, dryRun); err != nil {
			return GCReport{}, fmt.Errorf("taking a gc back: %w", err)
		}
		if len(rep.Archived)+len(rep.Returned) > 0 {
			return rep, nil
		}
	}
	rep.Run = ""
	return rep, nil
}

// takeBack takes back what a run did and nothing else has changed since, but
// for runs that were taken back themselves.
func (b *Store) takeBack(ctx context.Context, run string, undone map[string]bool, dryRun bool) (GCReport, error) {
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
			at := Standing{Found{Record: *r, Placed: Lost}, ownerOf(name, s)}
			if at.Archived = e.back; e.back {
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

// each calls fn for each sidecar, by path.
func (b *Store) each(ctx context.Context, fn func(name string, s *sidecar) error) error {
	return b.walk(ctx, func(name string) error {
		s, err := b.read(name)
		if err != nil {
			return err
		}
		return fn(name, s)
	})
}

// ownerOf returns the file that a sidecar is of. Where the path was cut, the
// newest annotation says it.
func ownerOf(name string, s *sidecar) string {
	if file, ok := sourceOf(name); ok || len(s.records) == 0 {
		return file
	}
	return s.records[len(s.records)-1].File
}

// survey calls fn for each sidecar with where its annotations stand, by time:
// in the working tree, or, when head is wanted, else in HEAD. Files that are not
// there any more are followed to the names that git knows. It returns the files
// that could not be looked at; fn is not called for them. Without an answer of
// git's it fails.
func (b *Store) survey(ctx context.Context, head bool, fn func(name string, s *sidecar, at []Standing) error) ([]Skipped, error) {
	commit := ""
	if b.hist != nil {
		var err error
		if commit, err = b.hist.Head(ctx); err != nil {
			return nil, err
		}
	}
	var skipped []Skipped
	err := b.each(ctx, func(name string, s *sidecar) error {
		if len(s.records) == 0 {
			return fn(name, s, nil)
		}
		at, err := b.standings(ctx, commit, head, name, s)
		var no *unreadableError
		if errors.As(err, &no) {
			skipped = append(skipped, Skipped{no.file, no.err})
			return nil
		}
		if err != nil {
			return err
		}
		return fn(name, s, at)
	})
	return skipped, err
}

// unreadableError says that a file of the working tree cannot be looked at.
type unreadableError struct {
	file string
	err  error
}

func (e *unreadableError) Error() string { return e.err.Error() }
func (e *unreadableError) Unwrap() error { return e.err }

// standings finds the annotations of one sidecar.
func (b *Store) standings(ctx context.Context, commit string, head bool, name string, s *sidecar) ([]Standing, error) {
	own := ownerOf(name, s)
	at := make([]Standing, len(s.records))
	for i, r := range s.records {
		at[i] = Standing{Found{Record: *r, Placed: Lost}, own}
	}
	if CheckFile(own) != nil {
		return at, nil
	}
	// look places in a content what was not found yet.
	look := func(file string, content []byte) (all bool, err error) {
		if isBinary(content) {
			return false, &unreadableError{file, &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}}
		}
		p := &placed{content: content, head: commit, cards: []*sidecar{s}}
		if err := b.placeAll(ctx, p, file, 0); err != nil {
			return false, err
		}
		if p.partial {
			return false, errNoAnswer
		}
		found := map[string]Found{}
		for _, f := range p.found {
			if f.Placed != Lost {
				found[f.ID] = f
			}
		}
		all = true
		for i := range at {
			if f, ok := found[at[i].ID]; ok && at[i].Placed == Lost {
				at[i] = Standing{f, file}
			}
			all = all && at[i].Placed != Lost
		}
		return all, nil
	}
	files, seen := []string{own}, map[string]string{}
	for i := 0; i < len(files); i++ {
		content, err := b.content(files[i])
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if i == 0 && commit != "" {
				more, was, err := b.hist.Successors(ctx, own)
				if err != nil {
					return nil, err
				}
				if h, ok := b.hist.(interface{ Shallow() bool }); ok && !was && h.Shallow() {
					return nil, &unreadableError{own, errShallow}
				}
				for _, n := range more {
					if CheckFile(n) == nil && !slices.Contains(files, n) {
						files = append(files, n)
					}
				}
			}
			continue
		case err != nil:
			return nil, &unreadableError{files[i], err}
		}
		seen[files[i]] = blobName(content, b.hist != nil && b.hist.SHA256())
		if all, err := look(files[i], content); all || err != nil {
			return at, err
		}
	}
	if !head || commit == "" {
		return at, nil
	}
	for _, f := range files {
		blob, err := b.hist.At(ctx, commit, f)
		if err != nil {
			return nil, err
		}
		if blob == "" || blob == seen[f] {
			continue
		}
		blobs, err := b.hist.Blobs(ctx, []string{blob})
		if err != nil {
			return nil, err
		}
		content, ok := blobs[blob]
		if !ok {
			return nil, fmt.Errorf("%s of HEAD: %w", f, errNoAnswer)
		}
		if len(content) > MaxFile || isBinary(content) {
			continue
		}
		if all, err := look(f, content); all || err != nil {
			return at, err
		}
	}
	return at, nil
}

// errShallow is about a file that is not there, and of which the part of the
// history that is here does not say what became of it.
var errShallow = errors.New("is not there, and this shallow clone has not the history that says why; git fetch --unshallow gets it")

var errNoAnswer = errors.New("git did not say what the file was like")
