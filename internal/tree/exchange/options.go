// This file declares the options for reading the files that are imported.

package exchange

import (
	"context"
	"io"
	"strings"
	"time"
)

// ReadOptions configure readers. Nil means the defaults.
type ReadOptions struct {
	// Format is the format of the input. If it is "", the format is determined from the name and the first bytes.
	Format Format

	// BasePath is the path of the file system's root. It precedes the file names in references and origins. An entry
	// is recognized by its origin, so without BasePath, files with the same name in two directories would be mistaken
	// for the same file.
	BasePath string

	// Location is the time zone of dates that contain no time zone. Nil means UTC.
	Location *time.Location

	// ModTime is used as the creation time for a Markdown text that contains no date. If it is zero, the store uses the
	// present time. [Read] uses the modification time of the file instead.
	ModTime time.Time

	// SessionDates contains the dates of chat sessions, by session ID. For a chat log, [Read] also takes dates from
	// other files in the log's directory.
	SessionDates map[string]time.Time

	// Progress is called while files are read, with the number of bytes that were read and the total number. It may be
	// nil.
	Progress func(read, size int64)

	// If Context is not nil and is done, the next read fails with its error.
	Context context.Context

	// root is the directory that is read, as it is written in references ("" for a single file).
	root string

	// MaxDecompressedBytes is the maximum size of a decompressed gzip file, in bytes. 0 means 4 GiB.
	MaxDecompressedBytes int64
}

// cancelableReader returns a reader that fails when the context of the options is done.
func (o *ReadOptions) cancelableReader(r io.Reader) io.Reader {
	if o == nil || o.Context == nil {
		return r
	}
	return readerFunc(func(p []byte) (int, error) {
		if err := o.Context.Err(); err != nil {
			return 0, err
		}
		return r.Read(p[:min(len(p), maxReadBytes)])
	})
}

// maxReadBytes is the maximum number of bytes that are read before the context is checked again.
const maxReadBytes = 1 << 20

// readerWithProgress returns a reader that passes the number of the bytes it has read to Progress.
func (o *ReadOptions) readerWithProgress(r io.Reader) io.Reader {
	if o == nil || o.Progress == nil {
		return r
	}
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		o.Progress(int64(n), 0)
		return n, err
	})
}

// addExpectedBytes increases the total number of bytes that the function Progress expects. The parameter size is the
// number of additional bytes.
func (o *ReadOptions) addExpectedBytes(size int64) {
	if o != nil && o.Progress != nil {
		o.Progress(0, size)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// withSummedProgress returns options whose Progress function receives increments. The increments are added up, and
// the sums are passed to the original function.
func (o *ReadOptions) withSummedProgress() *ReadOptions {
	if o == nil || o.Progress == nil {
		return o
	}
	opts := *o
	read := int64(0)
	size := int64(0)
	opts.Progress = func(r, s int64) {
		read, size = read+r, size+s
		o.Progress(read, size)
	}
	return &opts
}

func (o *ReadOptions) orDefault() ReadOptions {
	if o == nil {
		return ReadOptions{}
	}
	return *o
}

func (o *ReadOptions) joinBasePath(name string) string {
	if o == nil || o.BasePath == "" {
		return name
	}
	return strings.TrimSuffix(o.BasePath, "/") + "/" + name
}

// location returns the time zone for dates in the imported files that do not name a time zone.
func (o *ReadOptions) location() *time.Location {
	if o == nil || o.Location == nil {
		return time.UTC
	}
	return o.Location
}
