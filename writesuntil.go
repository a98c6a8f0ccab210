// A file system whose writing ends when a context is done.

package oxbow

import (
	"context"
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
