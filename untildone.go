// Files and a file system that are of use until a context is done.

package oxbow

import (
	"context"
	"io"
	"io/fs"

	"github.com/oxbow-memory/oxbow/vfs"
)

// writesUntil is a file system in which no file is written to any more when ctx is done.
type writesUntil struct {
	vfs.FS
	ctx context.Context
}

// OpenFile implements [vfs.FS].
func (u writesUntil) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := u.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return writesUntilFile{f, u.ctx}, nil
}

type writesUntilFile struct {
	vfs.File
	ctx context.Context
}

// WriteAt writes piece by piece, so that it ends soon after the context is done.
func (f writesUntilFile) WriteAt(b []byte, off int64) (n int, err error) {
	const piece = 1 << 20
	for n < len(b) && err == nil {
		if err = f.ctx.Err(); err == nil {
			var did int
			did, err = f.File.WriteAt(b[n:min(n+piece, len(b))], off+int64(n))
			n += did
		}
	}
	return n, err
}

// untilDone is a file until ctx is done.
type untilDone struct {
	ctx context.Context
	file
}

type file interface {
	io.ReaderAt
	io.WriterAt
}

// WriteAt implements [io.WriterAt].
func (f untilDone) WriteAt(b []byte, at int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.file.WriteAt(b, at)
}

// ReadAt implements [io.ReaderAt].
func (f untilDone) ReadAt(b []byte, at int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	return f.file.ReadAt(b, at)
}
