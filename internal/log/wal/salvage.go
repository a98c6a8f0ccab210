// This file reads the undamaged records of a damaged log, and creates logs from records.

package wal

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/oxbow-memory/oxbow/vfs"
)

// LogDamage describes the damage of a log from which records are salvaged.
type LogDamage struct {
	// the log's header; the 16 bytes of its identity are zero if the identity is not known
	Header               Header
	HasGuessedHeader     bool       // the header was damaged and was reconstructed from the records
	BadRanges            [][2]int64 // ranges of bytes that are not records; each range excludes its end
	BytesBeforeFreeSpace int64      // number of bytes before the free space
}

// SalvageRecords calls fn for every valid record in the file, in the order of the offsets. It continues after damaged
// parts of the file, and passes a description of the damage found so far to fn. If the file's header is damaged,
// SalvageRecords guesses the header. If fn returns an error, SalvageRecords stops and returns this error. The record's
// body is valid only during the call. The file is not changed.
func SalvageRecords(
	fsys vfs.FS,
	name string,
	o Options,
	fn func(s *LogDamage, r *Record) error,
) (LogDamage, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return LogDamage{}, wrapOpenError(fsys, name, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return LogDamage{}, err
	}
	s := LogDamage{}
	s.Header, err = readHeader(f, fi.Size())
	seed := s.Header.checksumSeed()
	if err != nil {
		var v *VersionError
		if errors.As(err, &v) {
			return s, err
		}
		s.Header, seed, err = guessHeader(f, fi.Size(), readLockFileLogID(fsys, name))
		if err != nil {
			return s, err
		}
		s.HasGuessedHeader = true
	}
	l := &Log{
		fs:           fsys,
		name:         name,
		opts:         o,
		file:         f,
		fileInfo:     fi,
		header:       s.Header,
		checksumSeed: seed,
		fileSize:     fi.Size(),
	}
	end := int64(HeaderSize)
	var stop error // the error that fn returned
	var room []byte
	err = eachRecordMagic(f, HeaderSize, fi.Size(), func(offset int64) bool {
		if offset < end {
			return true // Skip this place, which is inside a record that was already read.
		}
		r, more, bad, err := l.readRecordAt(offset, fi.Size(), room)
		room = more
		if err != nil {
			stop = err
			return false
		}
		if bad != nil {
			return true
		}
		if offset > end {
			s.BadRanges = append(s.BadRanges, [2]int64{end, offset})
		}
		end = offset + r.encodedSize()
		stop = fn(&s, &r)
		return stop == nil
	})
	err = errors.Join(stop, err)
	if err != nil {
		return s, err
	}
	l.endOffset = end
	tail, err := l.readTail()
	if err != nil {
		return s, err
	}
	if len(tail) > 0 {
		s.BadRanges = append(s.BadRanges, [2]int64{end, end + int64(len(tail))})
	}
	s.BytesBeforeFreeSpace = end + int64(len(tail))
	return s, nil
}

// CreateLog creates a new log with the header h in the file system fsys. The parameter name is the path of the new
// file. CreateLog calls the function writeRecords, which must pass the log's records to the function emit. The first
// records are base records, which contain the entries before the first change. All further records are chained records,
// which contain the changes. The sequence numbers and the hash chain of the chained records must continue the sequence
// number and the hash in the header. If the file already exists, the error matches fs.ErrExist.
func CreateLog(
	fsys vfs.FS,
	name string,
	o Options,
	h Header,
	writeRecords func(emit func(r Record) error) error,
) error {
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
	h.BaseSectionEndOffset = HeaderSize
	var durable uint64
	return l.rewriteFile(&h, "", func(w *Rewriter) error {
		return writeRecords(func(r Record) error {
			r.DurableSeq = max(r.Seq, durable)
			durable = r.DurableSeq
			_, err := w.AppendRecord(r)
			return err
		})
	})
}

// WriteTo writes a copy of the log to w. The copy contains the records that end at or before the log's position,
// without the free space in the file. It is a valid log file.
func (l *Log) WriteTo(w io.Writer) (int64, error) {
	if l.file == nil {
		return 0, fs.ErrNotExist
	}
	n, err := w.Write(l.header.encode())
	if err != nil {
		return int64(n), err
	}
	m, err := io.CopyN(w, io.NewSectionReader(l.file, HeaderSize, l.endOffset-HeaderSize), l.endOffset-HeaderSize)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return int64(n) + m, err
}

// CopyTo copies the log to a new file in dst, up to the last record that this process has read or written, and makes
// the file durable. If the file exists and mayReplace is false, the error matches fs.ErrExist.
func (l *Log) CopyTo(dst vfs.FS, name string, mayReplace bool) error {
	if l.file == nil {
		return fs.ErrNotExist
	}
	if _, err := dst.Stat(name); !errors.Is(err, fs.ErrNotExist) && !(err == nil && mayReplace) {
		if err == nil {
			err = fs.ErrExist
		}
		return &fs.PathError{Op: "copy", Path: name, Err: err}
	}
	h := l.header
	c := newLog(dst, name, l.opts)
	err := c.rewriteFile(&h, "", func(w *Rewriter) error { return w.copyFrom(l.file, HeaderSize, l.endOffset) })
	if c.file != nil {
		err = errors.Join(err, c.file.Close())
	}
	return err
}
