// Opening and closing a log.

package wal

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// Open opens the log of that name. A missing file is an empty log: the first
// append makes it. Errors are [ErrMagic], *[VersionError], *[CorruptError] or
// of the file system.
func Open(fsys vfs.FS, name string, o Options) (*Log, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.Reader
	}
	l := newLog(fsys, name, o)
	if err := l.Reopen(); err != nil {
		return nil, err
	}
	return l, nil
}

// Reopen opens the file that the name leads to now, and goes back to its
// start.
func (l *Log) Reopen() error {
	f, err := l.fs.OpenFile(l.name, os.O_RDWR, 0)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		var rerr error
		f, rerr = l.fs.OpenFile(l.name, os.O_RDONLY, 0)
		if rerr != nil {
			return describeOpen(l.fs, l.name, err)
		}
		l.opts.ReadOnly = true
	}
	if errors.Is(err, fs.ErrNotExist) {
		if l.file != nil {
			return ErrVanished
		}
		return nil
	}
	return l.adopt(f)
}

// describeOpen says of a file that cannot be opened what is in its place.
func describeOpen(fsys vfs.FS, name string, err error) error {
	if fi, serr := fsys.Stat(name); serr == nil && fi.IsDir() {
		return fmt.Errorf("%w: it is a directory", ErrMagic)
	}
	return err
}

// Close seals what was appended last, where that can be done without waiting,
// and closes the file.
func (l *Log) Close() error {
	l.Seal()
	var errs []error
	if l.metaPending {
		_ = l.writeMeta() // else no other process sees it
	}
	if l.metaFile != nil {
		errs = append(errs, l.metaFile.Close())
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
	}
	if l.file != nil {
		errs = append(errs, l.file.Close())
	}
	return errors.Join(errs...)
}

// Seal marks the last record as durable, so that damage to it can be told from a
// torn tail. It is not synced and may fail: nothing depends on it.
func (l *Log) Seal() {
	if !l.wroteLast || l.failed != nil || l.lock == nil {
		return
	}
	if ok, err := l.lock.TryLock(); err != nil || !ok {
		return
	}
	defer l.lock.Unlock()
	if news, err := l.Poll(); err != nil || news != Same {
		return
	}
	// A program that made one change and ends has not noted it yet.
	l.readMeta()
	l.recordDurable()
	_ = l.writeMeta()
	r := Record{Seq: l.seq, Durable: l.seq, Time: l.opts.Clock().UnixNano(), Type: Seal, Chain: l.chain, Offset: l.end}
	if l.end+r.size() > l.size {
		return
	}
	if _, err := l.file.WriteAt(appendRecord(nil, &r, l.seed), l.end); err == nil {
		l.advance(&r)
	}
}
