// This file holds how edits reach the disk: one writer at a time, each file
// compared once more with what the edit was planned on, and all of them or none.

package filetree

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
	stageDir = ".oxbow-tree"
	lockFile = ".oxbow-tree.lock"

	// attempts is how often a change is planned anew because somebody else
	// changed its files while it was about to be written.
	attempts = 50

	firstWait = 50 * time.Microsecond
	lastWait  = 4 * time.Millisecond
)

// errMoved says that a file changed since the edit was planned.
var errMoved = errors.New("the file changed meanwhile")

// change plans edits and makes them durable.
func (s *Store) change(ctx context.Context, plan func(v *overlay, now time.Time) (*applied, error)) error {
	release, err := s.locked(ctx)
	if err != nil {
		return err
	}
	defer release()
	for range attempts {
		if err = s.attempt(ctx, plan); !errors.Is(err, errMoved) {
			return err
		}
	}
	return fmt.Errorf("%w: %v, over and over", oxbow.ErrBusy, err)
}

// locked makes the caller the one writer, and finishes what a crash cut off.
func (s *Store) locked(ctx context.Context) (release func(), err error) {
	if s.opts.ReadOnly {
		return nil, oxbow.ErrReadOnly
	}
	select {
	case s.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		if err != nil {
			<-s.turn
		}
	}()
	if err := s.ready(ctx); err != nil {
		return nil, err
	}
	if s.lock == nil {
		if err := s.makeDir(path.Dir(s.opts.Lock)); err != nil {
			return nil, s.describe(err)
		}
		if s.lock, err = s.fs.OpenLock(s.opts.Lock); err != nil {
			s.lock = nil
			return nil, s.describe(err)
		}
	}
	start := time.Now() // of the wait, not of anything kept
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		got, err := s.lock.TryLock()
		if err != nil {
			return nil, s.describe(err)
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
		return nil, errors.Join(err, s.lock.Unlock())
	}
	return func() {
		// The lock goes with the process at the latest.
		_ = s.lock.Unlock()
		<-s.turn
	}, nil
}

// settled waits until no change of several files is half done, and finishes one
// that a crash cut off.
func (s *Store) settled(ctx context.Context) error {
	start := time.Now() // of the wait, not of anything kept
	for wait := firstWait; s.cutOff(); wait = min(2*wait, lastWait) {
		if !s.opts.ReadOnly {
			release, err := s.locked(ctx)
			if err != nil {
				return err
			}
			release()
			return nil
		}
		if time.Since(start) >= min(s.opts.LockWait, 200*time.Millisecond) {
			return s.lookThrough()
		}
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return ctx.Err()
		case <-t.C:
		}
	}
	s.look.Lock()
	defer s.look.Unlock()
	if s.through != nil {
		s.stale(slices.Collect(maps.Keys(s.through))...)
		s.through = nil
	}
	return nil
}

// cutOff reports whether there is a journal.
func (s *Store) cutOff() bool {
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
		is, s.stage.Journal(), err, stageDir)
}

// hidden reports whether a path leads through a name that begins with a dot,
// such as .git, other than those that the layout's own directories are in.
func (s *Store) hidden(p string) bool {
	for _, d := range s.dirs {
		if rest, ok := strings.CutPrefix(p, d.veil); ok && !isHidden(rest) {
			return false
		}
	}
	return isHidden(p)
}

// isHidden reports whether a path has an element that begins with a dot.
func isHidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// veil returns the part of a directory's path up to its last hidden element,
// with a slash behind it; "" when it has none.
func veil(dir string) string {
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
func (s *Store) lookThrough() error {
	s.look.Lock()
	defer s.look.Unlock()
	s.through = nil
	j, err := s.journal()
	if err != nil || j == nil {
		return err
	}
	through := map[string]*string{}
	for i, c := range j.Write {
		staged := s.stage.File(i)
		if _, err := s.fs.Stat(staged); err == nil {
			through[c.Path] = &staged
		}
	}
	for _, r := range j.Remove {
		if sum, err := s.sum(r.Path); err == nil && sum == r.Was {
			through[r.Path] = nil
		}
	}
	s.through = through
	s.stale(slices.Collect(maps.Keys(through))...)
	return nil
}

// write is one file of a change.
type write struct {
	path   string
	text   string
	remove bool
	there  bool        // there is a file
	disk   string      // its text
	perm   fs.FileMode // that it has, or is to have
}

// attempt plans the change and writes it. The error matches errMoved when
// somebody else was faster and nothing was written.
func (s *Store) attempt(ctx context.Context, plan func(v *overlay, now time.Time) (*applied, error)) error {
	s.look.Lock()
	defer s.look.Unlock()
	if err := s.refresh(ctx, false); err != nil {
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
			s.stale(w.path)
		}
		return s.describe(err)
	}
	for p, why := range own.copies {
		s.warn("%s: %s; what they wrote is kept beside as a conflict copy", p, why)
	}
	for p, text := range own.docs {
		s.served[p] = text
		delete(s.emptied, p)
	}
	r := &reader{s: s, next: map[string]*file{}}
	for _, w := range writes {
		if s.mine(w.path) {
			r.read(w.path)
		}
	}
	s.take(r.next, own)
	return nil
}

// prepare compares what a change was planned on with what is there now, and
// returns what is to be written.
func (s *Store) prepare(v *overlay, own *applied) ([]write, error) {
	var writes []write
	taken := map[string]bool{}
	for _, p := range slices.Sorted(maps.Keys(v.files)) {
		e := v.files[p]
		if !e.changed {
			continue
		}
		w := write{path: p, text: e.text, remove: e.remove, perm: 0o644}
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
				s.stale(p)
				return nil, fmt.Errorf("%s: %w", p, errMoved)
			}
			if strings.TrimPrefix(w.disk, "\ufeff") != "" {
				if own.copies == nil {
					own.copies = map[string]string{}
				}
				own.copies[p] = "it " + known.held
			}
		case w.there != e.there || w.disk != e.base:
			s.stale(p)
			return nil, fmt.Errorf("%s: %w", p, errMoved)
		}
		if w.there && own.copies[p] != "" {
			name, err := conflictName(s.fs, p, taken)
			if err != nil {
				return nil, err
			}
			taken[name] = true
			writes = append(writes, write{path: name, text: w.disk, perm: w.perm})
		}
		if w.remove && w.there || !w.remove && !(w.there && w.disk == w.text) {
			writes = append(writes, w)
		}
	}
	return writes, nil
}

// unmoved reports, as an error matching errMoved, that a file is no longer what
// the change was planned on.
func (s *Store) unmoved(w write) error {
	text, _, err := s.readText(w.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if (err == nil) != w.there || text != w.disk {
		return fmt.Errorf("%s: %w", w.path, errMoved)
	}
	return nil
}

func (s *Store) writeOne(w write) error {
	if err := s.makeDir(path.Dir(w.path)); err != nil {
		return err
	}
	err := vfs.ReplaceFile(s.fs, w.path, []byte(w.text), w.perm, func() error { return s.unmoved(w) })
	if err == nil || errors.Is(err, errMoved) {
		return err
	}
	if text, _, rerr := s.readText(w.path); rerr != nil || text == w.text {
		// The name may lead to it, and not be durable.
		return fmt.Errorf("%w: %w", oxbow.ErrUnknownOutcome, err)
	}
	return err
}

func (s *Store) removeOne(w write) error {
	if err := s.unmoved(w); err != nil {
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
func (s *Store) writeAll(writes []write) error {
	if err := s.stage.Clean(); err != nil {
		return err
	}
	if err := s.fs.MkdirAll(stageDir, 0o755); err != nil {
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
			if err := s.unmoved(w); err != nil {
				return err
			}
		}
		return s.stage.Commit(j)
	}()
	if err != nil && !s.cutOff() {
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
func (s *Store) describe(err error) error {
	switch {
	case err == nil || errors.Is(err, errMoved) || errors.Is(err, oxbow.ErrUnknownOutcome):
		return err
	case vfs.IsFull(err):
		return fmt.Errorf("%w: nothing was written: %w", oxbow.ErrFull, err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %w", oxbow.ErrReadOnly, err)
	}
	return err
}
