// Package ctxfile provides a file whose reads and writes fail once a context is done.
package ctxfile

import (
	"context"
	"io"
)

// ReaderWriterAt is the interface of the wrapped file.
type ReaderWriterAt interface {
	io.ReaderAt
	io.WriterAt
}

// A File wraps Inner. Once Context is done, reads and writes fail with the error of Context.
type File struct {
	Context context.Context
	Inner   ReaderWriterAt
}

// WriteAt implements [io.WriterAt].
func (f File) WriteAt(b []byte, offset int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.Inner.WriteAt(b, offset)
}

// ReadAt implements [io.ReaderAt].
func (f File) ReadAt(b []byte, offset int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.Inner.ReadAt(b, offset)
}
