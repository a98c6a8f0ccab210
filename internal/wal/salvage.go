// Salvage: what can still be read of a damaged log; a log made from records.

package wal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"os"

	"github.com/oxbow-memory/oxbow/vfs"
)

// salvaged says what a salvage had to pass over.
type salvaged struct {
	Header   Header
	Guessed  bool       // the header was damaged; what it says was worked out from the records
	Bad      [][2]int64 // stretches of bytes that are no record, as [from, to)
	Bytes    int64      // length of the file without free space
	Complete bool       // nothing is missing: the log ends where it says, or in a torn tail
}

// Salvage calls fn with every record of the file that checks, in order of
// their place, whatever is damaged between them. A record's body is only valid
// during the call. The file is not changed.
func Salvage(fsys vfs.FS, name string, o Options, fn func(r *Record) error) (salvaged, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return salvaged{}, describeOpen(fsys, name, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return salvaged{}, err
	}
	s := salvaged{Complete: true}
	if s.Header, err = readHeader(f, fi.Size()); err != nil {
		var v *VersionError
		if errors.As(err, &v) {
			return s, err
		}
		if s.Header, err = guessHeader(f, fi.Size()); err != nil {
			return s, err
		}
		s.Guessed, s.Complete = true, false
	}
	l := &Log{fs: fsys, name: name, opts: o, file: f, info: fi, header: s.Header, seed: s.Header.seed(), size: fi.Size()}
	end := int64(HeaderSize)
	last := int64(-1)
	var stop error // of fn
	err = l.scan(HeaderSize, func(r *Record) bool {
		if r.Offset < end {
			return true // inside a record that checks: text of an entry
		}
		if r.Offset > end {
			s.Bad = append(s.Bad, [2]int64{end, r.Offset})
			s.Complete = false
		}
		if stop = fn(r); stop != nil {
			return false
		}
		end = r.Offset + r.size()
		last = end
		return true
	})
	if err = errors.Join(stop, err); err != nil {
		return s, err
	}
	l.end = end
	tail, err := l.tail()
	if err != nil {
		return s, err
	}
	if len(tail) > 0 {
		s.Bad = append(s.Bad, [2]int64{end, end + int64(len(tail))})
	}
	s.Bytes = end + int64(len(tail))
	if last < 0 && s.Guessed {
		return s, fmt.Errorf("%w, and no record in it could be read", ErrMagic)
	}
	return s, nil
}

// guessHeader works out the header of a file whose own is damaged: its identity
// is right, or one bit of it is wrong, when a record checks with it.
func guessHeader(f vfs.File, size int64) (Header, error) {
	b := make([]byte, min(size, HeaderSize))
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return Header{}, err
	}
	if len(b) < HeaderSize || !resembles(b) {
		return Header{}, ErrMagic
	}
	for flip := -1; flip < 128; flip++ {
		var h Header
		copy(h.ID[:], b[16:])
		if flip >= 0 {
			h.ID[flip/8] ^= 1 << (flip % 8)
		}
		h.BaseEnd = HeaderSize
		l := &Log{file: f, header: h, seed: h.seed(), size: size}
		found := false
		if err := l.scan(HeaderSize, func(*Record) bool { found = true; return false }); err != nil {
			return Header{}, err
		}
		if found {
			return h, nil
		}
	}
	return Header{}, fmt.Errorf("%w: its header is damaged, and no record fits what is left of it", ErrMagic)
}

// resembles reports whether most of the magic's bits are right.
func resembles(b []byte) bool {
	wrong := 0
	for i, c := range magic {
		wrong += bits.OnesCount8(b[i] ^ c)
	}
	return wrong <= 16
}

// Make writes a new log of that name, with that header and the records that
// fill emits: base records first, then chained ones whose numbers and chains
// follow the header's. It fails with fs.ErrExist where there is a file.
func Make(fsys vfs.FS, name string, o Options, h Header, fill func(emit func(r Record) error) error) error {
	if _, err := fsys.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return &fs.PathError{Op: "make", Path: name, Err: err}
	}
	l := newLog(fsys, name, o)
	defer func() {
		if l.file != nil {
			_ = l.file.Close()
		}
	}()
	h.BaseEnd = HeaderSize
	var durable uint64
	return l.swap(&h, "", func(w *Rewriter) error {
		return fill(func(r Record) error {
			r.Durable = max(r.Seq, durable)
			durable = r.Durable
			_, err := w.Emit(r)
			return err
		})
	})
}

// WriteTo writes the log up to the position to w, without free space: as a file,
// that is the same log.
func (l *Log) WriteTo(w io.Writer) (int64, error) {
	if l.file == nil {
		return 0, fs.ErrNotExist
	}
	n, err := w.Write(l.header.encode())
	if err != nil {
		return int64(n), err
	}
	m, err := io.CopyN(w, io.NewSectionReader(l.file, HeaderSize, l.end-HeaderSize), l.end-HeaderSize)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return int64(n) + m, err
}

// CopyTo writes the log up to the position into a new file of that name in
// dst, durably. It fails with fs.ErrExist where there is one, unless replace
// is set.
func (l *Log) CopyTo(dst vfs.FS, name string, replace bool) error {
	if l.file == nil {
		return fs.ErrNotExist
	}
	if _, err := dst.Stat(name); !errors.Is(err, fs.ErrNotExist) && !(err == nil && replace) {
		if err == nil {
			err = fs.ErrExist
		}
		return &fs.PathError{Op: "copy", Path: name, Err: err}
	}
	h := l.header
	c := newLog(dst, name, l.opts)
	err := c.swap(&h, "", func(w *Rewriter) error { return w.copyFrom(l.file, HeaderSize, l.end) })
	if c.file != nil {
		err = errors.Join(err, c.file.Close())
	}
	return err
}
