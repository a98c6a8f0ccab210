// This file holds how edits reach the disk: one writer at a time, each file
// compared once more with what the edit was planned on, and all of them or none.

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
	"github.com/oxbow-memory/oxbow/internal/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

const (
	storeStageDir = ".oxbow-tree"
	storeLockFile = ".oxbow-tree.lock"

	// attempts is how often a change is planned anew because somebody else
	// changed its files while it was about to be written.
	maxAttempts = 50

	firstWait = 50 * time.Microsecond
	lastWait  = 4 * time.Millisecond
)

// errMoved says that a file changed since the edit was planned.
var errChanged = errors.New("the file changed meanwhile")

// change plans edits and makes them durable.
func (s *Store) change(ctx context.Context, plan func(v *overlay, now time.Time) (*outcome, error)) error {
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	for range maxAttempts {
		if err = s.attempt(ctx, plan); !errors.Is(err, errChanged) {
			return err
		}
	}
	return fmt.Errorf("%w: %v, over and over", oxbow.ErrBusy, err)
}

// locked makes the caller the one writer, and finishes what a crash cut off.
func (s *Store) acquire(ctx context.Context) (release func(), err error) {
	if s.opts.ReadOnly {
		return nil, oxbow.ErrReadOnly
	}
	select {
	case s.writeLock <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		if err != nil {
			<-s.writeLock
		}
	}()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if s.fileLock == nil {
		if err := s.makeDir(path.Dir(s.opts.Lock)); err != nil {
			return nil, s.storeError(err)
		}
		if s.fileLock, err = s.fs.OpenLock(s.opts.Lock); err != nil {
			s.fileLock = nil
			return nil, s.storeError(err)
		}
	}
	start := time.Now() // of the wait, not of anything kept
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		got, err := s.fileLock.TryLock()
		if err != nil {
			return nil, s.storeError(err)
		}
		if got {
			break
		}
		if waited := time.Since(start); waited >= s.opts.LockWait {
			return nil, &oxbow.BusyError{Path: path.Join(s.opts.Path, s.opts.Lock), Waited: waited}
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return nil, ctx.Err()
		case <-t.C:
		}
	}
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, s.fileLock.Unlock())
	}
	return func() {
		// The lock goes with the process at the latest.
		_ = s.fileLock.Unlock()
		<-s.writeLock
	}, nil
}

// settled waits until no change of several files is half done, and finishes one
// that a crash cut off.
func (s *Store) waitIdle(ctx context.Context) error {
	start := time.Now() // of the wait, not of anything kept
	for wait := firstWait; s.interrupted(); wait = min(2*wait, lastWait) {
		if !s.opts.ReadOnly {
			release, err := s.acquire(ctx)
			if err != nil {
				return err
			}
			release()
			return nil
		}
		if time.Since(start) >= min(s.opts.LockWait, 200*time.Millisecond) {
			return s.loadJournalOverlay()
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
	s.scanMu.Lock()
	defer s.scanMu.Unlock()
	if s.journalOverlay != nil {
		s.markDirty(slices.Collect(maps.Keys(s.journalOverlay))...)
		s.journalOverlay = nil
	}
	return nil
}

// cutOff reports whether there is a journal.
func (s *Store) interrupted() bool {
	_, err := s.fs.Stat(s.stage.Journal())
	return err == nil
}

func (s *Store) journal() (*journal.Journal, error) {
	j, err := s.stage.Load(func(p string, _ bool) bool {
		// What no change may write, nobody's journal may either.
		return !fs.ValidPath(p) || p == "." || s.hidden(p)
	})
	if err == nil {
		return j, nil
	}
	is := oxbow.ErrCorrupt
	if errors.Is(err, journal.ErrVersion) {
		is = oxbow.ErrVersion
	}
	return nil, fmt.Errorf("%w: reading %s: %v; look at the files in %s and remove it when they are as they should be",
		is, s.stage.Journal(), err, storeStageDir)
}

// hidden reports whether a path leads through a name that begins with a dot,
// such as .git, other than those that the layout's own directories are in.
func (s *Store) hidden(p string) bool {
	for _, d := range s.dirs {
		if rest, ok := strings.CutPrefix(p, d.hiddenPrefix); ok && !isHidden(rest) {
			return false
		}
	}
	return isHidden(p)
}

// isHidden reports whether a path has an element that begins with a dot.
func isHidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// veil returns the part of a directory's path up to its last hidden element,
// with a slash behind it; "" when it has none.
func hiddenPrefix(dir string) string {
	i := strings.LastIndex("/"+dir, "/.")
	if i < 0 || dir == "." {
		return ""
	}
	if n := strings.IndexByte(dir[i:], '/'); n >= 0 {
		return dir[:i+n+1]
	}
	return dir + "/"
}

// lookThrough makes a store that may not write see the files as the journal
// will leave them.
func (s *Store) loadJournalOverlay() error {
	s.scanMu.Lock()
	defer s.scanMu.Unlock()
	s.journalOverlay = nil
	j, err := s.journal()
	if err != nil || j == nil {
		return err
	}
	overlay := map[string]*string{}
	for i, c := range j.Write {
		staged := s.stage.File(i)
		if _, err := s.fs.Stat(staged); err == nil {
			overlay[c.Path] = &staged
		}
	}
	for _, r := range j.Remove {
		if sum, err := s.sum(r.Path); err == nil && sum == r.Was {
			overlay[r.Path] = nil
		}
	}
	s.journalOverlay = overlay
	s.markDirty(slices.Collect(maps.Keys(overlay))...)
	return nil
}

// write is one file of a change.
type fileChange struct {
	path   string
	text   string
	remove bool
	there  bool        // there is a file
	disk   string      // its text
	perm   fs.FileMode // that it has, or is to have
}

// attempt plans the change and writes it. The error matches errMoved when
// somebody else was faster and nothing was written.
func (s *Store) attempt(ctx context.Context, plan func(v *overlay, now time.Time) (*outcome, error)) error {
	s.scanMu.Lock()
	defer s.scanMu.Unlock()
	if err := s.scan(ctx, false); err != nil {
		return err
	}
	v := newOverlay(s)
	own, err := plan(v, s.opts.Clock())
	if err != nil {
		return err
	}
	writes, err := s.prepare(v, own)
	if err != nil {
		return err
	}
	switch {
	case len(writes) == 1 && writes[0].remove:
		err = s.removeOne(writes[0])
	case len(writes) == 1:
		err = s.writeOne(writes[0])
	case len(writes) > 1:
		err = s.writeAll(writes)
	}
	if err != nil {
		for _, w := range writes {
			s.markDirty(w.path)
		}
		return s.storeError(err)
	}
	for p, why := range own.copies {
		s.warn("%s: %s; what they wrote is kept beside as a conflict copy", p, why)
	}
	for p, text := range own.docs {
		s.servedText[p] = text
		delete(s.emptyHeld, p)
	}
	r := &fileScan{s: s, next: map[string]*file{}}
	for _, w := range writes {
		if s.matches(w.path) {
			r.read(w.path)
		}
	}
	s.applyFiles(r.next, own)
	return nil
}

// prepare compares what a change was planned on with what is there now, and
// returns what is to be written.
func (s *Store) prepare(v *overlay, own *outcome) ([]fileChange, error) {
	var writes []fileChange
	taken := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(v.files)) {
		e := v.files[p]
		if !e.changed {
			continue
		}
		w := fileChange{path: p, text: e.text, remove: e.remove, perm: 0o644}
		text, info, err := s.readText(p)
		switch {
		case err == nil:
			w.there, w.disk, w.perm = true, text, info.Mode().Perm()
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("reading %s before it is written: %w", p, err)
		}
		known := s.st.files[p]
		switch {
		case e.matched && known != nil && known.held != "":
			if !w.there || w.disk != known.disk {
				s.markDirty(p)
				return nil, fmt.Errorf("%s: %w", p, errChanged)
			}
			if strings.TrimPrefix(w.disk, "\ufeff") != "" {
				if own.copies == nil {
					own.copies = map[string]string{}
				}
				own.copies[p] = "it " + known.held
			}
		case w.there != e.there || w.disk != e.base:
			s.markDirty(p)
			return nil, fmt.Errorf("%s: %w", p, errChanged)
		}
		if w.there && own.copies[p] != "" {
			name, err := conflictName(s.fs, p, taken)
			if err != nil {
				return nil, err
			}
			taken[name] = true
			writes = append(writes, fileChange{path: name, text: w.disk, perm: w.perm})
		}
		if w.remove && w.there || !w.remove && !(w.there && w.disk == w.text) {
			writes = append(writes, w)
		}
	}
	return writes, nil
}

// unmoved reports, as an error matching errMoved, that a file is no longer what
// the change was planned on.
func (s *Store) checkUnchanged(w fileChange) error {
	text, _, err := s.readText(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if (err == nil) != w.there || text != w.disk {
		return fmt.Errorf("%s: %w", w.path, errChanged)
	}
	return nil
}

func (s *Store) writeOne(w fileChange) error {
	if err := s.makeDir(path.Dir(w.path)); err != nil {
		return err
	}
	err := vfs.ReplaceFile(s.fs, w.path, []byte(w.text), w.perm, func() error { return s.checkUnchanged(w) })
	if err == nil || errors.Is(err, errChanged) {
		return err
	}
	if text, _, rerr := s.readText(w.path); rerr != nil || text == w.text {
		// The name may lead to it, and not be durable.
		return fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, err)
	}
	return err
}

func (s *Store) removeOne(w fileChange) error {
	if err := s.checkUnchanged(w); err != nil {
		return err
	}
	if err := s.fs.Remove(w.path); err != nil {
		return err
	}
	if err := s.fs.SyncDir(path.Dir(w.path)); err != nil {
		return fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, err)
	}
	return nil
}

// makeDir makes a directory and those above it, and makes them durable: also
// those that are there, once, since who made them may not have come to it. The
// root is the caller's own: what makes that durable is above it. The caller has
// the turn.
func (s *Store) makeDir(dir string) error {
	if dir == "." {
		return nil
	}
	if _, err := s.fs.Stat(dir); err != nil {
		delete(s.durable, dir)
	}
	if s.durable[dir] {
		return nil
	}
	if err := s.fs.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for p := dir; p != "."; p = path.Dir(p) {
		if err := s.fs.SyncDir(path.Dir(p)); err != nil {
			return err
		}
	}
	s.durable[dir] = true
	return nil
}

// writeAll writes several files, all or none of them.
func (s *Store) writeAll(writes []fileChange) error {
	if err := s.stage.Clean(); err != nil {
		return err
	}
	if err := s.fs.MkdirAll(storeStageDir, 0o755); err != nil {
		return err
	}
	j := &journal.Journal{Version: journal.Version}
	err := func() error {
		for _, w := range writes {
			was := ""
			if w.there {
				was = journal.Sum([]byte(w.disk))
			}
			if w.remove {
				j.Remove = append(j.Remove, journal.Removal{Path: w.path, Was: was})
				continue
			}
			if err := s.stage.Put(s.stage.File(len(j.Write)), []byte(w.text), w.perm); err != nil {
				return err
			}
			j.Write = append(j.Write, journal.Change{Path: w.path, Was: was, Sum: journal.Sum([]byte(w.text))})
		}
		for _, w := range writes {
			if err := s.checkUnchanged(w); err != nil {
				return err
			}
		}
		return s.stage.Commit(j)
	}()
	if err != nil && !s.interrupted() {
		// Nothing counts; what is staged is in nobody's way.
		_ = s.stage.Clean()
		return err
	}
	if err == nil {
		err = s.finish(j)
	}
	if err != nil {
		return fmt.Errorf("%w: it is recorded, and the next call will try to finish it: %w", oxbow.ErrUnknownOutcome, err)
	}
	return nil
}

// describe turns the errors of a file system into those of package oxbow.
func (s *Store) storeError(err error) error {
	switch {
	case err == nil || errors.Is(err, errChanged) || errors.Is(err, oxbow.ErrUnknownOutcome):
		return err
	case vfs.IsFull(err):
		return fmt.Errorf("%w: nothing was written: %w", oxbow.ErrFull, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", oxbow.ErrReadOnly, err)
	}
	return err
}
