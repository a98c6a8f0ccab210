// This file finishes, or takes back, a change of several files that was cut off.

package mdtree

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/journal"
	"github.com/oxbow-memory/oxbow/vfs"
)

// recover finishes a change that a crash cut off, and removes what it left. The
// lock is held.
func (s *Store) recover() error {
	s.scanMu.Lock()
	defer s.scanMu.Unlock()
	if s.interrupted() {
		j, err := s.journal()
		if err != nil {
			return err
		}
		if j != nil {
			// Nothing may follow from a journal that is not durable itself.
			for p := storeStageDir; ; p = path.Dir(p) {
				if err := s.fs.SyncDir(p); err != nil {
					return s.storeError(err)
				}
				if p == "." {
					break
				}
			}
			if err := s.finish(j); err != nil {
				return fmt.Errorf("finishing a change that was cut off: %w", s.storeError(err))
			}
			for _, c := range j.Write {
				s.markDirty(c.Path)
			}
			for _, r := range j.Remove {
				s.markDirty(r.Path)
			}
		}
	}
	if s.cleaned {
		return nil
	}
	s.cleaned = true
	if err := s.stage.Clean(); err != nil {
		return s.storeError(err)
	}
	dirs := map[string]bool{}
	for _, d := range s.dirs {
		dirs[d.path] = true
	}
	for p := range s.servedText {
		dirs[path.Dir(p)] = true
	}
	for dir := range dirs {
		items, err := s.fs.ReadDir(dir)
		if err != nil {
			continue // it is not there, or whoever lists it next says why
		}
		for _, it := range items {
			if isTemp(it.Name()) {
				// One that cannot be removed is only in the way of the eye.
				_ = s.fs.Remove(path.Join(dir, it.Name()))
			}
		}
	}
	return nil
}

// isTemp reports whether a name is one that [vfs.WriteFile] gives to a temporary
// file: a name, a number of 16 digits in hex, and .tmp.
func isTemp(name string) bool {
	rest, ok := strings.CutSuffix(name, ".tmp")
	if !ok || len(rest) < 18 || rest[len(rest)-17] != '.' {
		return false
	}
	return strings.Trim(rest[len(rest)-16:], "0123456789abcdef") == ""
}

// sum returns the hash of a file, "" when there is none.
func (s *Store) sum(p string) (string, error) {
	text, _, err := s.readText(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	}
	return journal.Sum([]byte(text)), nil
}

// finish puts the files of a committed change in place. It may be repeated. A
// file that a person changed since is moved aside as a conflict copy.
func (s *Store) finish(j *journal.Journal) error {
	dirs := map[string]bool{}
	for _, c := range j.Write {
		if dir := path.Dir(c.Path); !dirs[dir] {
			dirs[dir] = true
			if err := s.makeDir(dir); err != nil {
				return err
			}
		}
	}
	aside := func(p string) error {
		name, err := conflictName(s.fs, p, nil)
		if err != nil {
			return err
		}
		if err := s.fs.Rename(p, name); err != nil {
			return err
		}
		s.warn("%s was changed while it was being written; that text is kept beside as %s", p, name)
		return nil
	}
	for _, r := range j.Remove {
		dirs[path.Dir(r.Path)] = true
		sum, err := s.sum(r.Path)
		switch {
		case err != nil:
			return err
		case sum == r.Was:
			err = s.fs.Remove(r.Path)
		case sum != "":
			err = aside(r.Path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for i, c := range j.Write {
		staged := s.stage.File(i)
		if _, err := s.fs.Stat(staged); errors.Is(err, fs.ErrNotExist) {
			continue // it is in place
		} else if err != nil {
			return err
		}
		sum, err := s.sum(c.Path)
		if err != nil {
			return err
		}
		if sum != "" && sum != c.Was && sum != c.Sum {
			if err := aside(c.Path); err != nil {
				return err
			}
		}
		if err := s.fs.Rename(staged, c.Path); err != nil {
			// The file may be on another file system than the staging
			// directory.
			if cerr := s.copyOver(staged, c.Path); cerr != nil {
				return fmt.Errorf("%w; copying it instead: %w", err, cerr)
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if err := s.fs.SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return s.stage.Drop()
}

func (s *Store) copyOver(from, to string) error {
	info, err := s.fs.Stat(from)
	if err != nil {
		return err
	}
	data, err := vfs.ReadFile(s.fs, from, maxFile)
	if err != nil {
		return err
	}
	if err := vfs.WriteFile(s.fs, to, data, info.Mode().Perm()); err != nil {
		return err
	}
	return s.fs.Remove(from)
}
