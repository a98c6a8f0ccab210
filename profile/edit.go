// This file reads and writes profile files, and tries a new text of a profile before the text is written.

package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Trial returns a set that contains a changed profile. In the returned set, the file of the profile called name
// contains the bytes in data instead of its present content. A caller can use the returned set to examine the effect of
// a new text before the text is written to the file. If the profile does not exist, Trial returns an error.
func (s *Set) Trial(name string, data []byte) (*Set, error) {
	f, err := s.findFile(name)
	return &Set{Places: s.Places, Zone: s.Zone, trialProfile: &trialProfileFile{f, data}}, err
}

// Text returns the content of a profile's file. The content need not be valid.
func (s *Set) Text(name string) ([]byte, error) {
	f, err := s.findFile(name)
	if err != nil {
		return nil, err
	}
	b, err := s.readFile(f)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", s.displayPath(f), err)
	}
	return b, nil
}

// Replace atomically replaces the content of a profile's file. The new content is in the argument data. The argument
// oldData is the content that the caller has read from the file before. If the file has a different content now,
// Replace does not write the file, and the error matches [oxbow.ErrConflict]. Replace also returns an error if the file
// is a symbolic link.
func (s *Set) Replace(name string, oldData, data []byte) error {
	f, err := s.findFile(name)
	if err != nil {
		return err
	}
	fsys := s.Places[f.placeIndex].FS
	list, err := fsys.ReadDir(path.Dir(f.pathInPlace))
	if err != nil {
		return fmt.Errorf("writing %s: %w", s.displayPath(f), err)
	}
	mode := fs.FileMode(0o600)
	for _, e := range list {
		if e.Name() != path.Base(f.pathInPlace) {
			continue
		}
		fi, err := e.Info()
		if err == nil && !fi.Mode().IsRegular() {
			err = &oxbow.InvalidError{
				Field:  "the file",
				Value:  s.displayPath(f),
				Reason: "is a link; edit the file that it leads to",
			}
		}
		if err != nil {
			return fmt.Errorf("writing profile %q: %w", name, err)
		}
		mode = fi.Mode().Perm()
	}
	err = vfs.ReplaceUnchanged(fsys, f.pathInPlace, append([]byte{}, oldData...), data, mode)
	if errors.Is(err, vfs.ErrChanged) {
		err = &oxbow.NameError{Name: s.displayPath(f), Err: oxbow.ErrConflict}
	}
	return err
}

// An ExistsError is returned if the profile to create already exists. It matches [oxbow.ErrExists].
type ExistsError struct{ File string }

func (e *ExistsError) Error() string { return "there is one in " + e.File }

// Is reports whether the target is [oxbow.ErrExists].
func (*ExistsError) Is(target error) bool { return target == oxbow.ErrExists }

// Create writes a new profile into the first directory in the first element of s.Places, and returns the file's path
// for messages. It never replaces a file. If a profile with this name exists and does not belong to a project, the
// error is an [*ExistsError]. A project's profile with the same name is no obstacle. If the data is not a valid
// profile, the error is a [Diagnostics].
func (s *Set) Create(name string, data []byte) (string, error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	home := s.Places[0]
	f := profileFile{name: name, pathInPlace: path.Join(home.Dirs[0], name+".yaml")}
	if _, err := parse(s.displayPath(f), data, s.Zone); err != nil {
		return "", err
	}
	if old, err := s.Read(name); err == nil && !old.Project {
		return "", &ExistsError{old.File}
	}
	if err := home.FS.MkdirAll(home.Dirs[0], 0o700); err != nil {
		return "", fmt.Errorf("making the directory of profiles: %w", err)
	}
	err := vfs.ReplaceFile(home.FS, f.pathInPlace, data, 0o600, func() error {
		list, err := home.FS.ReadDir(home.Dirs[0])
		for _, e := range list {
			if e.Name() == path.Base(f.pathInPlace) {
				return &ExistsError{s.displayPath(f)}
			}
		}
		return err
	})
	return s.displayPath(f), err
}
