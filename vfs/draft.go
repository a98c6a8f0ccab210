// This file writes files atomically. It writes a file under a temporary name first, and can keep the file that had the
// final name before.

package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"time"
)

// A Draft is a new file with a temporary name. [Draft.Commit] or [Draft.CommitNew] gives the file its final name, so
// that the final name never refers to an incomplete file. A Draft must not be used by several goroutines at the same
// time.
type Draft struct {
	fsys          FS
	file          File
	name          string // final name of the file
	temporaryName string // name of the file before [Draft.Commit] renames it
	size          int64
	err           error // first error of Write
}

// NewDraft creates an empty draft of the file with the given name in the same directory. If killed processes left
// older drafts of this file, NewDraft removes them.
func NewDraft(fsys FS, name string, perm fs.FileMode) (*Draft, error) {
	RemoveDrafts(fsys, name)
	f, temp, err := CreateTemp(fsys, name, perm)
	if err != nil {
		return nil, err
	}
	return newDraft(fsys, f, name, temp), nil
}

// RemoveDrafts removes old drafts of a file. The parameter name is the path of the file. A draft is a temporary file
// with the new content of the file, and remains if the writing process is killed. For the age at which a draft is old,
// see [RemoveStaleTemps].
func RemoveDrafts(fsys FS, name string) {
	base := path.Base(shortenTempName(name))
	RemoveStaleTemps(fsys, path.Dir(name), time.Now(), func(of string) bool { return of == base })
}

func newDraft(fsys FS, f File, name, temp string) *Draft {
	return &Draft{fsys: fsys, file: f, name: name, temporaryName: temp}
}

// Write appends the bytes to the draft.
func (d *Draft) Write(b []byte) (int, error) {
	if d.err != nil {
		return 0, d.err
	}
	n, err := d.file.WriteAt(b, d.size)
	d.size += int64(n)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	d.err = err
	return n, err
}

// SetMode sets the draft's permissions, regardless of the umask. On file systems without permissions, it does nothing.
func (d *Draft) SetMode(mode fs.FileMode) error {
	c, ok := d.fsys.(interface {
		Chmod(name string, mode fs.FileMode) error
	})
	if !ok {
		return nil
	}
	return c.Chmod(d.temporaryName, mode.Perm())
}

// Size returns the number of bytes that were written to the draft so far.
func (d *Draft) Size() int64 { return d.size }

// Reader returns a reader of all bytes that were written.
func (d *Draft) Reader() io.Reader { return io.NewSectionReader(d.file, 0, d.size) }

// Sync makes the bytes that were written durable. The name of the file is not durable before a commit.
func (d *Draft) Sync() error {
	if d.err != nil {
		return d.err
	}
	return d.file.Sync()
}

// syncAndClose syncs and closes the file.
func (d *Draft) syncAndClose() error {
	if d.file == nil {
		return fs.ErrClosed
	}
	err := errors.Join(d.Sync(), d.file.Close())
	d.file = nil
	return err
}

// Commit renames the draft to its final name and makes the final name durable. If a file already has the final name,
// it is replaced. If a symbolic link has the final name, the link itself is replaced, and not the file that it leads
// to. If confirm is not nil, Commit calls it directly before the rename. If confirm returns an error, Commit returns
// this error and does not rename the draft. After an error, the caller must call [Draft.Discard], which does nothing
// if the rename succeeded.
func (d *Draft) Commit(confirm func() error) error {
	err := d.syncAndClose()
	if err == nil && confirm != nil {
		err = confirm()
	}
	if err == nil {
		err = d.fsys.Rename(d.temporaryName, d.name)
	}
	if err != nil {
		return err
	}
	d.temporaryName = ""
	return syncParentDir(d.fsys, d.name)
}

// CommitNew is like Commit, but never replaces a file. If the final name already exists, the error matches
// [fs.ErrExist].
func (d *Draft) CommitNew() error {
	if err := d.syncAndClose(); err != nil {
		return err
	}
	if err := RenameNew(d.fsys, d.temporaryName, d.name); err != nil {
		return err
	}
	d.temporaryName = ""
	return syncParentDir(d.fsys, d.name)
}

// RenameNew renames a file like [FS.Rename], but does not replace an existing file. If newname already exists, the
// error matches [fs.ErrExist]. If the file system does not support hard links, RenameNew first checks whether newname
// exists, and then renames the file. In this case, if another program creates newname between these two steps,
// RenameNew replaces the new file.
func RenameNew(fsys FS, oldname, newname string) error {
	err := link(fsys, oldname, newname)
	if err == nil {
		return fsys.Remove(oldname)
	}
	if !errors.Is(err, ErrUnsupported) {
		return err
	}
	if _, err := fsys.Stat(newname); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(&fs.PathError{Op: "rename", Path: newname, Err: fs.ErrExist}, err)
	}
	return fsys.Rename(oldname, newname)
}

// Discard removes the temporary file. If Commit already renamed it, Discard does nothing. If Discard returns an error,
// the temporary file still exists. The next [NewDraft] of the same file removes it.
func (d *Draft) Discard() error {
	if d.file != nil {
		_ = d.file.Close() // Ignore the error, because the bytes are not needed.
		d.file = nil
	}
	temp := d.temporaryName
	d.temporaryName = ""
	if temp == "" {
		return nil
	}
	return removeTemp(d.fsys, temp)
}

func syncParentDir(fsys FS, name string) error {
	if err := fsys.SyncDir(path.Dir(name)); err != nil {
		return fmt.Errorf("making the name of %s durable: %w", name, err)
	}
	return nil
}

// A hardLinker is a file system with hard links.
type hardLinker interface {
	// Link creates newname as a hard link to oldname. If newname exists, the error matches [fs.ErrExist]. If the file
	// system does not support hard links, the error matches [ErrUnsupported].
	Link(oldname, newname string) error
}

func link(fsys FS, oldname, newname string) error {
	if l, ok := fsys.(hardLinker); ok {
		return l.Link(oldname, newname)
	}
	return ErrUnsupported
}

// maxCopiesPerFile is how many copies of a file [KeepCopy] makes at most.
const maxCopiesPerFile = 10_000

// KeepCopy durably keeps a copy of a file that will be replaced, and returns the copy's name. This is the name of the
// file with ".kept" appended, or with ".kept-2" and so on if a copy already exists. If the file system supports hard
// links, the copy is a hard link and needs no space.
func KeepCopy(fsys FS, name string) (copyName string, err error) {
	copyName = name + keptCopySuffix
	for n := 2; n <= maxCopiesPerFile; n++ {
		err = link(fsys, name, copyName)
		if errors.Is(err, ErrUnsupported) {
			err = copyToNewFile(fsys, name, copyName)
		}
		switch {
		case err == nil:
			return copyName, syncParentDir(fsys, copyName)
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("keeping a copy of %s: %w", name, err)
		}
		copyName = fmt.Sprintf("%s%s-%d", name, keptCopySuffix, n)
	}
	return "", fmt.Errorf(
		"%s has %d kept copies: look at them, and remove those that are done with",
		name,
		maxCopiesPerFile,
	)
}

// keptCopySuffix is the suffix that [KeepCopy] appends to the name of a file.
const keptCopySuffix = ".kept"

// copyToNewFile copies a file to a new name. If the new name already exists, the error matches [fs.ErrExist].
func copyToNewFile(fsys FS, from, to string) error {
	if _, err := fsys.Stat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(&fs.PathError{Op: "create", Path: to, Err: fs.ErrExist}, err)
	}
	src, err := fsys.OpenFile(from, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return err
	}
	d, err := NewDraft(fsys, to, info.Mode().Perm())
	if err != nil {
		return err
	}
	defer d.Discard()
	if _, err := io.Copy(d, io.NewSectionReader(src, 0, 1<<62)); err != nil {
		return err
	}
	return d.CommitNew()
}

// WriteFile atomically replaces the content of a file. When WriteFile has returned nil, the new content is durable.
// WriteFile writes a temporary file in the same directory (the temporary name is the file's name, a number, and .tmp),
// syncs this file, renames it, and syncs the directory. If the name refers to a symbolic link, the link itself is
// replaced. The permissions of an existing file are not kept.
//
// After an error, the file has its old content, and the temporary file is removed. However, if the last sync returns
// an error, the file has its new content, which may not be durable.
func WriteFile(fsys FS, name string, data []byte, perm fs.FileMode) error {
	return ReplaceFile(fsys, name, data, perm, nil)
}

// ReplaceFile is like [WriteFile], but calls the function checkBeforeRename just before it renames the new file to
// name. At this time the new content is already durable. If the function checkBeforeRename returns an error,
// ReplaceFile does not change the file and returns this error wrapped in another error.
func ReplaceFile(fsys FS, name string, data []byte, perm fs.FileMode, checkBeforeRename func() error) error {
	f, temp, err := CreateTemp(fsys, name, perm)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	d := newDraft(fsys, f, name, temp)
	_, err = d.Write(data)
	if err == nil {
		err = d.Commit(checkBeforeRename)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, errors.Join(err, d.Discard()))
	}
	return nil
}

// ErrChanged is returned if a file does not have the content that the caller read before.
var ErrChanged = errors.New("the file was changed meanwhile")

// ReplaceUnchanged atomically replaces the content of a file, like [WriteFile], if the file still has the content that
// the caller has read. The caller passes the content that it has read as the parameter oldContent. If this parameter is
// nil, the file must not exist. If the file has a different content, because another program changed the file after the
// caller read it, ReplaceUnchanged does not change the file, and the error matches [ErrChanged]. Callers that write
// files which people also edit use ReplaceUnchanged or [RemoveUnchanged], so that no edit is overwritten.
func ReplaceUnchanged(fsys FS, name string, oldContent, data []byte, perm fs.FileMode) error {
	return ReplaceFile(fsys, name, data, perm, func() error { return CheckUnchanged(fsys, name, oldContent) })
}

// RemoveUnchanged durably removes a file if the file still has the content that the caller has read. The caller passes
// the content that it has read as the parameter oldContent. If the file has a different content, RemoveUnchanged does
// not remove the file, and the error matches [ErrChanged].
func RemoveUnchanged(fsys FS, name string, oldContent []byte) error {
	err := CheckUnchanged(fsys, name, oldContent)
	if err == nil {
		err = fsys.Remove(name)
	}
	if err != nil {
		return fmt.Errorf("removing %s: %w", name, err)
	}
	return syncParentDir(fsys, name)
}

// CheckUnchanged returns nil if a file still has the content that the caller has read, and [ErrChanged] if it has a
// different content or does not exist. The caller passes the content that it has read as the parameter oldContent. If
// this parameter is nil, CheckUnchanged returns nil if the file does not exist, and [ErrChanged] if the file exists.
// CheckUnchanged returns another error if the file cannot be read.
func CheckUnchanged(fsys FS, name string, oldContent []byte) error {
	now, err := ReadFile(fsys, name, int64(len(oldContent)))
	switch {
	case errors.Is(err, fs.ErrNotExist) && oldContent == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, ErrTooLarge):
		return ErrChanged
	case err != nil:
		return err
	case oldContent == nil || !bytes.Equal(now, oldContent):
		return ErrChanged
	}
	return nil
}
