// This file contains functions for whole files and directory trees in any file system.

package vfs

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
)

// A TempNumberer is a file system that chooses the numbers in the names of temporary files, so that the same calls
// result in the same names. In other file systems, the numbers are random.
type TempNumberer interface {
	// NextTemp returns a number that the file system has not returned before.
	NextTemp() uint64
}

// A sameFileReporter is a file description that can determine whether another description describes the same file.
// Descriptions from an [OS] do not implement sameFileReporter, because os.SameFile compares such descriptions.
type sameFileReporter interface {
	fs.FileInfo

	// SameFile reports whether other, a description from any file system, describes the same file.
	SameFile(other fs.FileInfo) bool
}

// SameFile reports whether two descriptions describe the same file, which means the same inode of the same file
// system. A file in a [Mem] and the copy of the file in a clone are different files.
func SameFile(a, b fs.FileInfo) bool {
	x, xok := a.(sameFileReporter)
	_, yok := b.(sameFileReporter)
	if xok || yok {
		return xok && yok && x.SameFile(b)
	}
	return os.SameFile(a, b)
}

// HasSecondName reports whether an open file has several names. This is the case if a program made a hard link to the
// file, for example to save a copy that needs no space. If the file system does not report the number of names,
// HasSecondName returns false.
func HasSecondName(f File) (bool, error) {
	if c, ok := f.(hardLinkCounter); ok {
		n, err := c.linkCount()
		return n > 1, err
	}
	info, err := f.Stat()
	return err == nil && linkCount(info) > 1, err
}

// hardLinkCounter is a file that returns how many names (hard links) it has. It is used on operating systems on which
// [fs.FileInfo] does not contain this number.
type hardLinkCounter interface {
	linkCount() (uint64, error)
}

// maxTempTries is the maximum number of names that are tried for a temporary file.
const maxTempTries = 100

// ReadFile returns the content of a file. If the file has more than max bytes, or grows beyond max bytes while it is
// read, the error matches [ErrTooLarge], and at most max+1 bytes are read. If max is negative, the size is not
// limited.
func ReadFile(fsys FS, name string, max int64) ([]byte, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	size := info.Size()
	if max >= 0 && size > max {
		return nil, fmt.Errorf("reading %s: %w: it has %d bytes, the most is %d", name, ErrTooLarge, size, max)
	}
	// The buffer is a byte longer than the file, so that the first read already reports the end of the file.
	buf := make([]byte, size+1)
	for n := 0; ; {
		k, err := f.ReadAt(buf[n:], int64(n))
		n += k
		if max >= 0 && int64(n) > max {
			return nil, fmt.Errorf("reading %s: %w: the most is %d bytes", name, ErrTooLarge, max)
		}
		switch {
		case errors.Is(err, io.EOF):
			return buf[:n:n], nil
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", name, err)
		}
		if n == len(buf) {
			more := int64(n)
			if max >= 0 && more > max+1-int64(n) {
				more = max + 1 - int64(n)
			}
			buf = append(buf, make([]byte, more)...)
		}
	}
}

// WriteDerived atomically replaces the content of a file by the concatenated parts. It does not sync, so the file may
// be incomplete after a crash of the machine. WriteDerived is for data that has a checksum and can be derived again.
// If the name refers to a symbolic link, the link itself is replaced.
func WriteDerived(fsys FS, name string, perm fs.FileMode, parts ...[]byte) error {
	f, temp, err := CreateTemp(fsys, name, perm)
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	at := int64(0)
	for _, p := range parts {
		n, werr := f.WriteAt(p, at)
		at += int64(n)
		err = werr
		if err == nil && n < len(p) {
			err = io.ErrShortWrite
		}
		if err != nil {
			break
		}
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, errors.Join(err, removeTemp(fsys, temp)))
	}
	return nil
}

// WriteSync writes data to the start of a new file, and then syncs and closes the file. The name of the file is not
// durable yet.
func WriteSync(f File, data []byte) error {
	n, err := f.WriteAt(data, 0)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

// removeTemp removes a temporary file. It returns an error if the file still exists.
func removeTemp(fsys FS, temp string) error {
	if err := fsys.Remove(temp); err != nil && !isNotExist(err) {
		return fmt.Errorf("removing the temporary file: %w", err)
	}
	return nil
}

// CreateTemp creates an empty temporary file in the same directory as the file with the given name. The name of the
// temporary file consists of the given name, which is shortened if necessary, a new number, and .tmp. Numbers are not
// used again, so that the removal of an abandoned temporary file cannot remove a newer file with the same name. If a
// file with the new name exists, CreateTemp tries another number.
func CreateTemp(fsys FS, name string, perm fs.FileMode) (File, string, error) {
	if err := checkName("open", name); err != nil {
		return nil, "", err
	}
	if name == "." {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	var err error
	for range maxTempTries {
		temp := fmt.Sprintf("%s.%016x.tmp", shortenTempName(name), newTempFileNumber(fsys))
		var f File
		f, err = fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		if err == nil {
			return f, temp, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return nil, "", err
}

// maxTempBaseBytes is the maximum number of bytes that a temporary file's name contains from the original name.
const maxTempBaseBytes = 200

// shortenTempName shortens a file's name so that the name of its temporary file has at most 255 bytes. This is the
// limit of most file systems.
func shortenTempName(name string) string {
	over := len(path.Base(name)) - maxTempBaseBytes
	if over <= 0 {
		return name
	}
	return strings.ToValidUTF8(name[:len(name)-over], "")
}

func newTempFileNumber(fsys FS) uint64 {
	if t, ok := fsys.(TempNumberer); ok {
		return t.NextTemp()
	}
	var b [8]byte
	rand.Read(b[:]) // The function rand.Read never returns an error.
	return binary.BigEndian.Uint64(b[:])
}

// RemoveAll deletes a file, or a directory with everything in it. RemoveAll removes symbolic links themselves and does
// not follow them. It returns nil if the name does not exist, or if others remove parts of the tree at the same time.
// It returns an error for the name ".".
func RemoveAll(fsys FS, name string) error {
	if err := removeAll(fsys, name); err != nil {
		return fmt.Errorf("removing %s: %w", name, err)
	}
	return nil
}

func removeAll(fsys FS, name string) error {
	err := fsys.Remove(name)
	if err == nil || isNotExist(err) {
		return nil
	}
	if name == "." || checkName("remove", name) != nil {
		return err
	}
	// Find out whether Remove failed because name is a directory with files. If name is a file or a symbolic link,
	// return Remove's error, so that a link's target is not emptied.
	entries, rerr := fsys.ReadDir(path.Dir(name))
	if rerr != nil {
		return err
	}
	base := baseName(name)
	for _, e := range entries {
		if e.Name() == base && !e.IsDir() {
			return err
		}
	}
	entries, rerr = fsys.ReadDir(name)
	if rerr != nil {
		return err
	}
	for _, e := range entries {
		if err := removeAll(fsys, name+"/"+e.Name()); err != nil {
			return err
		}
	}
	if err := fsys.Remove(name); err != nil && !isNotExist(err) {
		return err
	}
	return nil
}

func baseName(name string) string { return path.Base(name) }

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }
