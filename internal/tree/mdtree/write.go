// This file writes the edits of a change. Before writing, it compares each file again with the
// text for which the edit was planned. It writes all files or none.

package mdtree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/tree/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// maxAttempts is the number of attempts to make a change if another program changes the files just
// before they are written.
const maxAttempts = 50

// change plans edits, writes the new files and syncs them. It returns the outcome of the plan that
// was carried out.
func (s *Store) change(ctx context.Context, plan func(v *overlay, now time.Time) (*outcome, error)) (*outcome, error) {
	release, err := s.acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	for range maxAttempts {
		var own *outcome
		own, err = s.attempt(ctx, plan)
		if !errors.Is(err, vfs.ErrChanged) {
			return own, err
		}
	}
	return nil, fmt.Errorf("%w: %v, over and over", oxbow.ErrBusy, err)
}

// fileChange is the change of a file.
type fileChange struct {
	path   string
	text   string
	remove bool
	there  bool        // the file exists
	disk   string      // present text of the file
	perm   fs.FileMode // mode of the file
}

// attempt plans a change and makes it. If another program changed a file in the meantime, nothing
// is written and the error matches vfs.ErrChanged.
func (s *Store) attempt(ctx context.Context, plan func(v *overlay, now time.Time) (*outcome, error)) (*outcome, error) {
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
	if err := s.scan(ctx); err != nil {
		return nil, err
	}
	v := newOverlay(s)
	own, err := plan(v, s.opts.Clock())
	if err != nil {
		return nil, err
	}
	changes, err := s.prepare(v, own)
	if err != nil {
		return nil, err
	}
	switch {
	case len(changes) > 1 && s.opts.NoJournal:
		return nil, fmt.Errorf("%w: a change of several files in a directory without a journal", oxbow.ErrUnsupported)
	case len(changes) == 1 && changes[0].remove:
		err = s.removeOne(changes[0])
	case len(changes) == 1:
		err = s.writeOne(changes[0])
	case len(changes) > 1:
		err = s.writeAll(ctx, changes)
	}
	if err != nil {
		for _, w := range changes {
			s.markDirty(w.path)
		}
		return nil, s.storeError(err)
	}
	for p, why := range own.copies {
		s.warn("%s: %s; what they wrote is kept beside as a conflict copy", p, why)
	}
	r := &fileScan{s: s, next: map[string]*file{}}
	for _, w := range changes {
		if s.mayHoldEntries(w.path) {
			r.readFile(w.path)
		} else if _, ok := s.served.text[w.path]; ok {
			s.served.text[w.path] = w.text
			delete(s.served.held, w.path)
		}
	}
	s.applyFiles(r.next, own)
	s.complete(own.written)
	return own, nil
}

// complete adds IDs and times to the entries that a change wrote. If another program has changed an
// entry again, only the ID is added. scanner.mu must be held.
func (s *Store) complete(written []oxbow.Version) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for i := range written {
		v := &written[i]
		c := s.st.names[v.Entry.Name]
		switch {
		case v.Verb == oxbow.VerbRemove || c == nil:
		case c.entry.Version == v.Entry.Version:
			v.Entry, v.Source = *c.entry, c.entry.Source
		default:
			v.Entry.ID = c.entry.ID
		}
	}
}

// prepare compares the present files with the texts for which a change was planned, and returns the
// files to write.
func (s *Store) prepare(v *overlay, own *outcome) ([]fileChange, error) {
	var changes []fileChange
	taken := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(v.files)) {
		e := v.files[p]
		if !e.changed {
			continue
		}
		w := fileChange{path: p, text: e.text, remove: e.remove, perm: 0o644}
		if err := s.readBefore(&w, e, own); err != nil {
			return nil, err
		}
		if w.there && own.copies[p] != "" {
			name, err := conflictName(s.fs, p, taken)
			if err != nil {
				return nil, err
			}
			taken[name] = true
			changes = append(changes, fileChange{path: name, text: w.disk, perm: w.perm})
		}
		isWritten := w.there && w.disk == w.text
		isDone := (w.remove && !w.there) || (!w.remove && isWritten)
		if !isDone {
			changes = append(changes, w)
		}
	}
	return changes, nil
}

// readBefore reads the present state of a file into w. If it differs from the state for which the
// change was planned, the error matches vfs.ErrChanged. If the last good state of the file was used,
// the present text is kept as a conflict copy.
func (s *Store) readBefore(w *fileChange, e *pendingFile, own *outcome) error {
	text, info, err := s.readText(w.path, maxFile)
	switch {
	case err == nil:
		w.there = true
		w.disk = text
		w.perm = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("reading %s before it is written: %w", w.path, err)
	}
	there, before := e.there, e.base
	f := s.st.files[w.path]
	held := e.matched && f != nil && f.held != ""
	if held {
		there, before = true, f.disk
	}
	if w.there != there || w.disk != before {
		s.markDirty(w.path)
		return fmt.Errorf("%s: %w", w.path, vfs.ErrChanged)
	}
	if held && strings.TrimPrefix(w.disk, bom) != "" {
		own.copies[w.path] = "it " + f.held
	}
	return nil
}

// contentBefore returns the file's content from when the change was prepared, or nil if the file
// did not exist.
func (w *fileChange) contentBefore() []byte {
	if !w.there {
		return nil
	}
	return append([]byte{}, w.disk...)
}

func (s *Store) writeOne(w fileChange) error {
	if err := s.makeDir(path.Dir(w.path)); err != nil {
		return err
	}
	err := vfs.ReplaceUnchanged(s.fs, w.path, w.contentBefore(), []byte(w.text), w.perm)
	if err == nil || errors.Is(err, vfs.ErrChanged) {
		return err
	}
	if text, _, rerr := s.readText(w.path, maxFile); rerr != nil || text == w.text {
		// The new file may be in place without being synced.
		return fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, err)
	}
	return err
}

func (s *Store) removeOne(w fileChange) error {
	err := vfs.RemoveUnchanged(s.fs, w.path, w.contentBefore())
	if err == nil || errors.Is(err, vfs.ErrChanged) {
		return err
	}
	if _, _, rerr := s.readText(w.path, maxFile); errors.Is(rerr, fs.ErrNotExist) {
		// The file was removed, but the removal may not be durable.
		return fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, err)
	}
	return err
}

// writeAll changes several files. It changes either all or none.
func (s *Store) writeAll(ctx context.Context, changes []fileChange) error {
	if err := s.stage.Clean(); err != nil {
		return err
	}
	j := &journal.Journal{Version: journal.Version}
	var staged []fileChange
	for _, w := range changes {
		was := ""
		if w.there {
			was = journal.Sum([]byte(w.disk))
		}
		if w.remove {
			j.Remove = append(j.Remove, journal.Deletion{Path: w.path, Was: was})
			continue
		}
		staged = append(staged, w)
		j.Write = append(j.Write, journal.Change{Path: w.path, Was: was, Sum: journal.Sum([]byte(w.text))})
	}
	err := s.stageFiles(ctx, len(staged), func(i int, _ *[]byte) (newFile, error) {
		return newFile{s.stage.File(i), []byte(staged[i].text), staged[i].perm}, nil
	})
	for i := 0; err == nil && i < len(changes); i++ {
		err = vfs.CheckUnchanged(s.fs, changes[i].path, changes[i].contentBefore())
	}
	if err == nil {
		err = s.stage.Commit(j)
	}
	if err != nil && !s.hasJournal() {
		// Nothing has been committed. Ignore the error, because leftover staged files do no harm.
		_ = s.stage.Clean()
		return err
	}
	if err == nil {
		err = s.finish(j)
	}
	if err != nil {
		return fmt.Errorf(
			"%w: it is recorded, and the next call will try to finish it: %w",
			oxbow.ErrUnknownOutcome,
			err,
		)
	}
	return nil
}
