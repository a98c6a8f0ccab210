// Whole files and trees on any file system.

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

// A TempNumberer is a file system that numbers temporary files itself, so that
// the same calls give the same names. Other file systems get random names.
type TempNumberer interface {
	// NextTemp returns a number that the file system has not given before.
	NextTemp() uint64
}

// An identity is a description of a file that knows a file of its own file
// system again. Those of an [OS] need none: package os knows them.
type identity interface {
	fs.FileInfo

	// SameFile reports whether other, which may be of any file system,
	// describes the same file.
	SameFile(other fs.FileInfo) bool
}

// SameFile reports whether two descriptions are of the same file: the same
// inode of the same file system, whatever its names. A file of a [Mem] and its
// copy in a clone are two files.
func SameFile(a, b fs.FileInfo) bool {
	x, xok := a.(identity)
	_, yok := b.(identity)
	if xok || yok {
		return xok && yok && x.SameFile(b)
	}
	return os.SameFile(a, b)
}

// tempTries bounds how many names are tried for a temporary file.
const tempTries = 100

// ReadFile returns the bytes of a file. A file of more than max bytes is
// refused with an error matching [ErrTooLarge] before more than max+1 bytes
// are read, also when it grows meanwhile. A negative max sets no bound.
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
	// One byte more than the file has, so that the end shows in one read.
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

// WriteDerived makes parts, one after the other, the content of a file, all or
// nothing as long as the machine does not crash: nothing is synced. It is for
// what can be made again and is checked before it is used. A link of that name
// is replaced, not followed.
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
		return fmt.Errorf("writing %s: %w", name, errors.Join(err, dropTemp(fsys, temp)))
	}
	return nil
}

// WriteSync writes data to the start of a new file, syncs it and closes it. Its
// name is not durable yet.
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

// dropTemp removes a temporary file and returns the error that tells that it
// is still there.
func dropTemp(fsys FS, temp string) error {
	if err := fsys.Remove(temp); err != nil && !isNotExist(err) {
		return fmt.Errorf("removing the temporary file: %w", err)
	}
	return nil
}

// CreateTemp makes an empty file next to name that no other process has: the
// name, a number, and .tmp. The number is not used again: a process that takes
// the file for left over and removes it must not hit a later one.
func CreateTemp(fsys FS, name string, perm fs.FileMode) (File, string, error) {
	if err := checkName("open", name); err != nil {
		return nil, "", err
	}
	if name == "." {
		return nil, "", &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	var err error
	for range tempTries {
		temp := fmt.Sprintf("%s.%016x.tmp", clipTemp(name), tempNumber(fsys))
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

// maxTempBase is the most bytes of a file's name that the name of its temporary file begins with.
const maxTempBase = 200

// clipTemp returns the part of a name that the name of its temporary file begins with. File
// systems take names of 255 bytes.
func clipTemp(name string) string {
	over := len(path.Base(name)) - maxTempBase
	if over <= 0 {
		return name
	}
	return strings.ToValidUTF8(name[:len(name)-over], "")
}

func tempNumber(fsys FS) uint64 {
	if t, ok := fsys.(TempNumberer); ok {
		return t.NextTemp()
	}
	var b [8]byte
	rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:])
}

// RemoveAll deletes a file, or a directory and all below it. Links are removed,
// not followed. It is no error when the name is missing, or when others remove
// from the tree meanwhile; "." is refused.
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
	// What a link leads to is never listed: Remove took the link itself, or
	// was not allowed to.
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
