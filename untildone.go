// Files that are of use until a context is done.

package oxbow

import (
	"context"
	"io"
)

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
