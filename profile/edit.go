// This file holds what an edit of a profile needs: its text, what another text
// would come to, and writing it.

package profile

import (
	"fmt"
	"io/fs"
	"path"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Trial returns a set in which the file of that profile holds data, to see what
// it would come to before it is written.
func (s *Set) Trial(name string, data []byte) (*Set, error) {
	f, err := s.find(name)
	return &Set{Places: s.Places, Zone: s.Zone, trial: &trial{f, data}}, err
}

// Text returns the bytes of the profile's file, right or wrong.
func (s *Set) Text(name string) ([]byte, error) {
	f, err := s.find(name)
	if err != nil {
		return nil, err
	}
	b, err := s.bytes(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.shown(f), err)
	}
	return b, nil
}

// Replace writes the file of a profile, all or nothing, in the place of what was
// read. When it holds something else by now, nothing is written and the error
// matches [oxbow.ErrConflict]. A link is not replaced.
func (s *Set) Replace(name string, was, data []byte) error {
	f, err := s.find(name)
	if err != nil {
		return err
	}
	fsys := s.Places[f.place].FS
	list, err := fsys.ReadDir(path.Dir(f.path))
	if err != nil {
		return fmt.Errorf("writing %s: %w", s.shown(f), err)
	}
	mode := fs.FileMode(0o600)
	for _, e := range list {
		if e.Name() != path.Base(f.path) {
			continue
		}
		fi, err := e.Info()
		if err == nil && !fi.Mode().IsRegular() {
			err = &oxbow.InvalidError{Field: "the file", Value: s.shown(f), Reason: "is a link; edit the file that it leads to"}
		}
		if err != nil {
			return fmt.Errorf("writing profile %q: %w", name, err)
		}
		mode = fi.Mode().Perm()
	}
	return vfs.ReplaceFile(fsys, f.path, data, mode, func() error {
		now, err := readFile(fsys, f.path, MaxFile)
		if err == nil && string(now) != string(was) {
			err = &oxbow.NameError{Name: s.shown(f), Err: oxbow.ErrConflict}
		}
		return err
	})
}
