// This file reads the files in a ZIP archive like files in a directory.

package exchange

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/oxbow-memory/oxbow/vfs"
)

// maxArchivedFileBytes is the maximum size of a file in an archive, in bytes. The whole file is in memory while it
// is read.
const maxArchivedFileBytes = 512 << 20

// isZipHead reports whether a file that begins with these bytes is a ZIP archive.
func isZipHead(head []byte) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }

// zipFS is the file system of a ZIP archive. It is read-only.
type zipFS struct {
	vfs.FS // The embedded file system is nil, because no method that changes files is called.
	files  *zip.Reader
}

// openZip opens a ZIP archive. If the archive contains only one directory, root is the directory's name, otherwise
// ".".
func openZip(f vfs.File) (fsys vfs.FS, root string, err error) {
	info, err := f.Stat()
	if err != nil {
		return nil, "", err
	}
	r, err := zip.NewReader(f, info.Size())
	if err != nil {
		return nil, "", fmt.Errorf("unpacking: %w", err)
	}
	z := &zipFS{files: r}
	list, err := z.ReadDir(".")
	hasOneName := err == nil && len(list) == 1
	if hasOneName && list[0].IsDir() {
		return z, list[0].Name(), nil
	}
	return z, ".", err
}

// Stat returns the description of a file or directory.
func (z *zipFS) Stat(name string) (fs.FileInfo, error) { return fs.Stat(z.files, name) }

// ReadDir lists a directory. It omits the files that macOS adds to an archive: the directory __MACOSX, and files whose
// names begin with "._".
func (z *zipFS) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(z.files, name)
	var kept []fs.DirEntry
	for _, d := range list {
		if d.Name() != "__MACOSX" && !strings.HasPrefix(d.Name(), "._") {
			kept = append(kept, d)
		}
	}
	return kept, err
}

// OpenFile opens a file for reading. It reads the whole file into memory.
func (z *zipFS) OpenFile(name string, flag int, _ fs.FileMode) (vfs.File, error) {
	if flag != os.O_RDONLY {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	f, err := z.files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxArchivedFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", name, err)
	}
	if len(b) > maxArchivedFileBytes {
		return nil, fmt.Errorf(
			"%s has more than the %d MiB of a file in an archive that are read",
			name,
			maxArchivedFileBytes>>20,
		)
	}
	return &zipFile{Reader: bytes.NewReader(b), info: info}, nil
}

// zipFile is an open file of an archive. Its content is in memory.
type zipFile struct {
	*bytes.Reader
	info fs.FileInfo
}

func (f *zipFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *zipFile) Close() error               { return nil }
func (f *zipFile) Sync() error                { return errArchiveReadOnly }
func (f *zipFile) Truncate(int64) error       { return errArchiveReadOnly }

func (f *zipFile) WriteAt([]byte, int64) (int, error) { return 0, errArchiveReadOnly }

var errArchiveReadOnly = errors.New("an archive cannot be changed")
