// Package ctxfile provides a file whose reads and writes fail as soon as a context is done.
package ctxfile

import (
	"context"
	"io"
)

// ReaderWriterAt is a file that can be read and written at any offset.
type ReaderWriterAt interface {
	io.ReaderAt
	io.WriterAt
}

// A File reads from and writes to the file InnerFile. After the context in the field Context is done, the methods of
// File return the context's error and do not use InnerFile any more.
type File struct {
	Context   context.Context
	InnerFile ReaderWriterAt
}

// WriteAt implements [io.WriterAt].
func (f File) WriteAt(b []byte, offset int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.InnerFile.WriteAt(b, offset)
}

// ReadAt implements [io.ReaderAt].
func (f File) ReadAt(b []byte, offset int64) (int, error) {
	if err := f.Context.Err(); err != nil {
		return 0, err
	}
	return f.InnerFile.ReadAt(b, offset)
}
