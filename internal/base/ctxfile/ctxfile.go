// Package ctxfile is a file that is of use until a context is done.
package ctxfile

import (
	"context"
	"io"
)

// Inner is what is read and written of a file.
type Inner interface {
	io.ReaderAt
	io.WriterAt
}

// File is a file whose reads and writes fail, with the error of Context, when that is
// done.
type File struct {
	Context context.Context
	Inner   Inner
}

// WriteAt implements [io.WriterAt].
func (f File) WriteAt(b []byte, at int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.Inner.WriteAt(b, at)
}

// ReadAt implements [io.ReaderAt].
func (f File) ReadAt(b []byte, at int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.Inner.ReadAt(b, at)
}
