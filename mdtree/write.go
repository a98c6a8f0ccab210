// Writing the edits of a change: each file is compared once more with what the
// edit was planned on, and all files are written or none.

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

// maxAttempts is how often a change is planned again because another program
// changed its files just before they were written.
const maxAttempts = 50

// errChanged is returned for a file that changed after the edit was planned.
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

// hidden reports whether a path leads through a name that begins with a dot,
// such as .git, other than those that the layout's own directories are in.
func (s *Store) hidden(p string) bool {
	for _, d := range s.scanner.dirs {
		if rest, ok := strings.CutPrefix(p, d.hiddenPrefix); ok && !isHidden(rest) {
			return false
		}
	}
	return isHidden(p)
}

// isHidden reports whether a path has an element that begins with a dot.
func isHidden(p string) bool { return strings.HasPrefix(p, ".") || strings.Contains(p, "/.") }

// hiddenPrefix returns the part of a directory's path up to its last hidden
// element, with a slash after it; "" when it has none.
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

// fileChange is one file of a change.
type fileChange struct {
	path   string
	text   string
	remove bool
	there  bool        // there is a file
	disk   string      // its text
	perm   fs.FileMode // that it has, or is to have
}

// attempt plans the change and writes it. The error matches errChanged when
// another program was faster and nothing was written.
func (s *Store) attempt(ctx context.Context, plan func(v *overlay, now time.Time) (*outcome, error)) error {
	s.scanner.mu.Lock()
	defer s.scanner.mu.Unlock()
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
		err = s.writeAll(ctx, writes)
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
		s.served.text[p] = text
		delete(s.served.held, p)
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
		text, info, err := s.read(p, maxFile)
		switch {
		case err == nil:
			w.there, w.disk, w.perm = true, text, info.Mode().Perm()
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("reading %s before it is written: %w", p, err)
		}
		thereBefore, before := e.there, e.base
		held := s.st.files[p]
		if !e.matched || held != nil && held.held == "" {
			held = nil
		}
		if held != nil {
			thereBefore, before = true, held.disk
		}
		if w.there != thereBefore || w.disk != before {
			s.markDirty(p)
			return nil, fmt.Errorf("%s: %w", p, errChanged)
		}
		if held != nil && strings.TrimPrefix(w.disk, bom) != "" {
			own.copies[p] = "it " + held.held
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

// checkUnchanged returns an error matching errChanged when a file is no longer
// what the change was planned on.
func (s *Store) checkUnchanged(w fileChange) error {
	text, _, err := s.read(w.path, maxFile)
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
	if text, _, rerr := s.read(w.path, maxFile); rerr != nil || text == w.text {
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

// writeAll writes several files, all or none of them.
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
			j.Remove = append(j.Remove, journal.Removal{Path: w.path, Was: was})
			continue
		}
		staged = append(staged, w)
		j.Write = append(j.Write, journal.Change{Path: w.path, Was: was, Sum: journal.Sum([]byte(w.text))})
	}
	err := s.stageFiles(ctx, len(staged), func(i int, _ *[]byte) ([]byte, fs.FileMode) {
		return []byte(staged[i].text), staged[i].perm
	})
	for i := 0; err == nil && i < len(changes); i++ {
		err = s.checkUnchanged(changes[i])
	}
	if err == nil {
		err = s.stage.Commit(j)
	}
	if err != nil && !s.interrupted() {
		// Nothing is committed; what stays staged does no harm.
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

// storeError turns the errors of a file system into those of package oxbow.
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
