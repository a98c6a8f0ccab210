// This file writes the files that a verb creates for the user, at a path that the user chose.

package output

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/share/trust"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/vfs"
)

// An Output is a file that a verb writes for the user.
//
// If Force is true, an existing regular file may be replaced. If oxbow did not write the present content of the file,
// a person may have edited it. In this case, oxbow keeps a copy next to the file (see [vfs.KeepCopy]). Links,
// directories, devices and pipes are never replaced.
type Output struct {
	Path          string // path in the form of the operating system
	UserPath      string // path in the form in which the user wrote it
	OperationName string // start of error messages, such as "exporting"
	Force         bool   // an existing regular file may be replaced

	AdviceForDirectory   string // advice for the user if the path is a directory (may be "")
	AdviceForSpecialFile string // advice for the user if the path is a pipe, a device or similar (may be "")

	TrustList trust.List // list in which the digest of each written file is recorded (see [verb.Host])
}

// AddEditedFileCopyNote adds a note with the path of an edited file's kept copy. If copyPath is "", it adds nothing.
func AddEditedFileCopyNote(r *report.Report, copyPath string) {
	if copyPath != "" {
		r.AddNotef("the file was edited since oxbow wrote it; a copy is kept as %s", copyPath)
	}
}

// ResolvePath returns the path of the regular file that will be written. If Path is a link, this is the path that the
// link leads to. ResolvePath returns an error if the path leads to a directory, device or pipe, because a rename would
// replace it. If Force is false, ResolvePath also returns an error if the file exists.
func (o Output) ResolvePath() (string, error) {
	fi, err := os.Stat(o.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(o.Path); err != nil {
			// Ignore the error. If the file is only missing, it can be created. For any other error, creating the file
			// fails with the same error.
			return o.Path, nil
		}
		return "", verb.Advise(
			verb.Invalidf("%s is a link to a file that is not there", o.UserPath),
			"name that file, or remove the link",
		)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", o.OperationName, err)
	case fi.IsDir():
		return "", verb.Advise(verb.Invalidf("%s is a directory", o.UserPath), "name a file in it"+o.AdviceForDirectory)
	case !fi.Mode().IsRegular():
		return "", verb.Advise(
			verb.Invalidf("%s is not a regular file", o.UserPath),
			"name another file"+o.AdviceForSpecialFile,
		)
	case !o.Force:
		return "", o.fileExistsError()
	}
	path, err := filepath.EvalSymlinks(o.Path)
	return path, verb.WrapError(o.OperationName, err)
}

// fileExistsError returns the error for an existing file that may not be replaced.
func (o Output) fileExistsError() error {
	return verb.Advise(fmt.Errorf("%s: %w: %s", o.OperationName, fs.ErrExist, o.UserPath),
		"name another file, or replace it with --force, which keeps a copy of a file that was edited")
}

// Write calls write with a temporary file and then renames this file, so that the output path never leads to an
// incomplete file. If a file is replaced, the new file has the same mode. Otherwise, the new file has the mode perm.
// If a person edited the replaced file, Write keeps a copy of it and returns the copy's path in copyPath.
func (o Output) Write(
	ctx context.Context,
	perm fs.FileMode,
	write func(io.Writer) error,
) (copyPath string, err error) {
	return o.writeToTarget(
		ctx,
		func(dir vfs.FS, name string, isOurs func(string) bool) (digest, kept string, err error) {
			return writeFile(dir, name, perm, isOurs, write)
		},
	)
}

// WriteAtomically is like Write, but the function write must itself put the complete file at the path in a single step.
// If somebody has edited the existing file since oxbow wrote it, WriteAtomically makes a copy of the file before it
// calls write. It returns the name of the copy as keptCopy. If write fails, WriteAtomically removes the copy.
func (o Output) WriteAtomically(ctx context.Context, write func() error) (keptCopy string, err error) {
	return o.writeToTarget(
		ctx,
		func(dir vfs.FS, name string, isOurs func(string) bool) (digest, kept string, err error) {
			vfs.RemoveDrafts(dir, name)
			kept, err = keepCopyIfEdited(dir, name, isOurs)
			if err != nil {
				return "", "", err
			}
			err = write()
			if err == nil {
				digest, err = fileDigest(dir, name)
			} else if kept != "" {
				err = errors.Join(err, dir.Remove(kept))
			}
			return digest, kept, err
		},
	)
}

// writeToTarget calls write with the directory and the name of the output file, and with a function that reports
// whether oxbow last wrote a text with a given digest to this file. It records the digest that write returns. If write
// has copied the old file, writeToTarget returns the full path of the copy.
func (o Output) writeToTarget(
	ctx context.Context,
	write func(dir vfs.FS, name string, isOurs func(string) bool) (digest, kept string, err error),
) (copyPath string, err error) {
	path, err := o.ResolvePath()
	if err != nil {
		return "", err
	}
	dir, err := vfs.Dir(filepath.Dir(path))
	if err != nil {
		return "", fmt.Errorf("%s: %w", o.OperationName, &fs.PathError{Op: "open", Path: path, Err: rootCause(err)})
	}
	defer dir.Close()
	digest, copyPath, err := write(dir, filepath.Base(path), func(digest string) bool {
		return o.TrustList.IsLastWrittenDigest(path, digest)
	})
	switch {
	case errors.Is(err, fs.ErrExist): // another program created the file in the meantime
		return "", o.fileExistsError()
	case err != nil:
		if p, ok := errors.AsType[*fs.PathError](err); ok && p.Path == filepath.Base(path) {
			p.Path = path
		}
		return "", fmt.Errorf("%s: %w", o.OperationName, err)
	}
	// Ignore the error: the next write to this file then keeps a copy of the file, as if a person had edited it.
	_ = o.TrustList.RecordWrittenFile(ctx, path, digest)
	if copyPath != "" {
		copyPath = filepath.Join(filepath.Dir(path), copyPath)
	}
	return copyPath, nil
}

// writeFile replaces or creates a file in a single step, so that no reader sees half of the new content. It calls the
// function write to write the new content. Before writeFile replaces a file that somebody has edited, it copies the old
// file. A file counts as edited if its content differs from the new content and the function isOurs returns false for
// the digest of the old content. writeFile returns the digest of the new content and the name of the copy (copyName),
// which is "" if no copy was made.
func writeFile(
	fsys vfs.FS,
	name string,
	perm fs.FileMode,
	isOurs func(digest string) bool,
	write func(io.Writer) error,
) (digest, copyName string, err error) {
	old, err := fsys.Stat(name)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err != nil && !isNew {
		return "", "", err
	}
	d, err := vfs.NewDraft(fsys, name, perm)
	// Report the error for the output file, because the caller does not know the name of the temporary file.
	if err != nil {
		return "", "", &fs.PathError{Op: "open", Path: name, Err: rootCause(err)}
	}
	if !isNew {
		err = d.SetMode(old.Mode())
	}
	sum := sha256.New()
	if err == nil {
		err = write(io.MultiWriter(d, sum))
	}
	if err == nil {
		digest = hex.EncodeToString(sum.Sum(nil))
		if isNew {
			err = d.CommitNew()
		} else {
			err = d.Commit(func() (err error) {
				copyName, err = keepCopyIfEdited(fsys, name, func(was string) bool {
					return was == digest ||
						isOurs(was)
				})
				return err
			})
		}
	}
	return digest, copyName, errors.Join(err, d.Discard())
}

// rootCause returns the error of the operating system that a [fs.PathError] contains. The caller puts this error into a
// new PathError, because the old PathError names a path that the user does not know, such as the path of a temporary
// file. Any other error is returned unchanged.
func rootCause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// keepCopyIfEdited copies a file unless isOurs returns true for its digest. It returns the name of the copy, or ""
// if no copy was necessary.
func keepCopyIfEdited(fsys vfs.FS, name string, isOurs func(digest string) bool) (copyName string, err error) {
	switch digest, err := fileDigest(fsys, name); {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", err
	case isOurs(digest):
		return "", nil
	}
	return vfs.KeepCopy(fsys, name)
}

// fileDigest returns the SHA-256 digest of a file.
func fileDigest(fsys vfs.FS, name string) (string, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
