// Options of readers.

package exchange

import (
	"context"
	"io"
	"strings"
	"time"
)

// ReadOptions say how to read; nil means the defaults.
type ReadOptions struct {
	// Format is that of the input; empty means that name and first bytes tell it.
	Format Format

	// Base is put before the names of files in references and origins, with a
	// slash between. Give the path of the file system's root: entries are
	// known again by their origin, so two directories that are read under the
	// same names would pass for one.
	Base string

	// Location is the zone of dates that name none; nil means UTC.
	Location *time.Location

	// ModTime dates a Markdown text that says no date itself; zero leaves that
	// to the store's clock. [Read] takes the file's own.
	ModTime time.Time

	// Dates says when sessions of chats were, by their id. [Read] adds those it
	// finds in the directory of a chat log.
	Dates map[string]time.Time

	// Progress, if not nil, is called as a file is read, or the files of a
	// directory: with the bytes that were read, and those that there are.
	Progress func(read, size int64)

	// Context, if not nil, ends the reading when it is done: the next read of an input
	// fails with its error.
	Context context.Context

	// MaxExpanded is the most bytes that one gzip file may expand to; 0 means
	// 4 GiB.
	MaxExpanded int64
}

// bound returns a reader that fails once the context of the options is done.
func (o *ReadOptions) bound(r io.Reader) io.Reader {
	if o == nil || o.Context == nil {
		return r
	}
	return readerFunc(func(p []byte) (int, error) {
		if err := o.Context.Err(); err != nil {
			return 0, err
		}
		return r.Read(p[:min(len(p), maxRead)])
	})
}

// maxRead is the most bytes that are read between two looks at the context.
const maxRead = 1 << 20

// metered returns the reader of a file, which reports its bytes to Progress.
func (o *ReadOptions) metered(r io.Reader) io.Reader {
	if o == nil || o.Progress == nil {
		return r
	}
	return readerFunc(func(p []byte) (int, error) {
		n, err := r.Read(p)
		o.Progress(int64(n), 0)
		return n, err
	})
}

// expect says that so many bytes more will be read.
func (o *ReadOptions) expect(size int64) {
	if o != nil && o.Progress != nil {
		o.Progress(0, size)
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// summed returns options whose Progress takes parts, and passes on their sums.
func (o *ReadOptions) summed() *ReadOptions {
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

func (o *ReadOptions) or() ReadOptions {
	if o == nil {
		return ReadOptions{}
	}
	return *o
}

func (o *ReadOptions) ref(name string) string {
	if o == nil || o.Base == "" {
		return name
	}
	return strings.TrimSuffix(o.Base, "/") + "/" + name
}

// location returns the zone of dates that have none, UTC unless given.
func (o *ReadOptions) location() *time.Location {
	if o == nil || o.Location == nil {
		return time.UTC
	}
	return o.Location
}
