// Files that verbs write for the user, at a path that the user chose.

package tool

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// Output is a file that a verb writes for the user.
type Output struct {
	Path  string // by the operating system
	Name  string // as the user gave it
	Doing string // what errors begin with, such as "exporting"
	Force bool   // a regular file that is there may be replaced

	Dir   string // what to do when it is a directory; may be ""
	Other string // what to do when it is a pipe, a device or the like; may be ""
}

// Place returns the path of the regular file to write: where a link leads, when it is
// one. Anything else that is there is refused, since a rename would replace it, and so
// is a regular file without Force.
func (o Output) Place() (string, error) {
	fi, err := os.Stat(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(o.Path); err != nil {
			return o.Path, nil // or the error that creating it meets, too
		}
		return "", Advise(Invalidf("%s is a link to a file that is not there", o.Name), "name that file, or remove the link")
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", o.Doing, err)
	case fi.IsDir():
		return "", Advise(Invalidf("%s is a directory", o.Name), "name a file in it"+o.Dir)
	case !fi.Mode().IsRegular():
		return "", Advise(Invalidf("%s is not a regular file", o.Name), "name another file"+o.Other)
	case !o.Force:
		return "", Advise(fmt.Errorf("%s: %w: %s", o.Doing, fs.ErrExist, o.Name), "name another file, or replace it with --force")
	}
	path, err := filepath.EvalSymlinks(o.Path)
	return path, Wrapped(o.Doing, err)
}

// Write writes the file under another name first, so that its own never leads to half
// of it. A file that is replaced keeps its mode; a new one gets perm.
func (o Output) Write(perm fs.FileMode, write func(io.Writer) error) (err error) {
	path, err := o.Place()
	if err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(path), "."+text.Clip(filepath.Base(path), 200)+"."+rand.Text()+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		p.Path = path // the caller knows no other name
	}
	if err != nil {
		return fmt.Errorf("%s: %w", o.Doing, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp)
			err = fmt.Errorf("%s: %w", o.Doing, err)
		}
	}()
	if fi, serr := os.Stat(path); serr == nil {
		err = f.Chmod(fi.Mode().Perm())
	}
	if err == nil {
		err = write(f)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}
