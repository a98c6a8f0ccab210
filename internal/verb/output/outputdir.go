// This file creates the directories that a verb makes for the user, at a path that the user chose.

package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// An OutputDir is a directory that a verb creates as a whole for the user. An example is a new home.
type OutputDir struct {
	Path          string // absolute path in the form of the operating system
	Name          string // path of the directory in the form in which the user wrote it
	OperationName string // start of error messages, such as "making the new home"
}

// CheckEmpty returns an error if the path exists and is not an empty directory. It returns nil if the path does not
// exist.
func (o OutputDir) CheckEmpty() error {
	entries, err := os.ReadDir(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", o.OperationName, err)
	case len(entries) > 0:
		return verb.Advise(
			fmt.Errorf("%s: %s is not empty: %w", o.OperationName, o.Name, fs.ErrExist),
			"name a directory that does not exist yet",
		)
	}
	return nil
}

// BuildInPlace calls the function write with the path of a new, empty directory. When this function has returned
// without an error, BuildInPlace renames the directory to the output path. If write fails or the process is killed, the
// output path does not change: it does not exist or is an empty directory. If an earlier run was interrupted and left a
// temporary directory, BuildInPlace removes this directory and returns its path in clearedPath. Otherwise clearedPath
// is "".
func (o OutputDir) BuildInPlace(write func(dir string) error) (clearedPath string, err error) {
	target := o.Path
	if real, err := filepath.EvalSymlinks(target); err == nil {
		target = real // If the path is a link, replace the directory to which it points.
	}
	if wd, err := os.Stat("."); err == nil {
		if fi, err := os.Stat(target); err == nil && os.SameFile(wd, fi) {
			return "", verb.Advise(
				verb.Invalidf("%s is the working directory, which a new directory cannot replace", o.Name),
				"name a directory that does not exist yet",
			)
		}
	}
	parent := filepath.Dir(target)
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", fmt.Errorf("%s: %w", o.OperationName, err)
	}
	fsys, err := vfs.Dir(parent)
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.OperationName, err)
	}
	defer func() { err = errors.Join(err, fsys.Close()) }()
	draft, err := vfs.NewDraftDir(fsys, filepath.Base(target), 0o700)
	switch {
	case errors.Is(err, vfs.ErrBusy):
		return "", verb.Advise(
			fmt.Errorf("%s: %w", o.OperationName, err),
			"wait for that run, or name another directory",
		)
	case errors.Is(err, fs.ErrExist):
		return "", verb.Advise(fmt.Errorf("%s: %w", o.OperationName, err), "name a directory that does not exist yet")
	case err != nil:
		return "", fmt.Errorf("%s: %w", o.OperationName, err)
	}
	if name := draft.Cleared(); name != "" {
		clearedPath = filepath.Join(parent, name)
	}
	err = write(filepath.Join(parent, filepath.FromSlash(draft.Dir())))
	if err == nil {
		err = verb.WrapError(o.OperationName, draft.Commit())
	}
	return clearedPath, errors.Join(err, draft.Discard())
}
