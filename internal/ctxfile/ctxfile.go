// Files that are of use until a context is done.

package vfs

import (
	"context"
	"io"
)

// ReaderWriterAt is a file that is read and written, and no more.
type ReaderWriterAt interface {
	io.ReaderAt
	io.WriterAt
}

// UntilDone is a file whose reads and writes fail, with the error of Context, when that is
// done.
type UntilDone struct {
	Context context.Context
	File    ReaderWriterAt
}

// WriteAt implements [io.WriterAt].
func (f UntilDone) WriteAt(b []byte, at int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(b, at)
}

// ReadAt implements [io.ReaderAt].
func (f UntilDone) ReadAt(b []byte, at int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(b, at)
}
