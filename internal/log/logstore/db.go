// The store: one append-only log, and the entries that it adds up to.

package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/ctxmutex"
	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/base/watch"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// DB is the store in one file.
//
// Locks are taken in this order: that of compactor or checkpointer, writerMu, the lock
// between processes, catching, logmu, mu. Under logmu the first two are only tried.
type DB struct {
	fs   vfs.FS
	name string // in fs
	path string // for people
	opts Options

	writerMu ctxmutex.Mutex // held by the goroutine that commits for all
	queue    commitQueue    // what waits to be committed
	spare    *batch         // for the next commit; guarded by writerMu

	sharedLog
	current

	closing    context.Context // is done when the store is being closed
	endWaiting context.CancelFunc

	compactor    compactor
	checkpointer checkpointer

	ahead func(es iter.Seq[*store.Entry]) func() // returns what to do while the entries of changes become durable, nil for nothing; logmu is held exclusively
	grown func(ours bool)                        // is called after changes, by this process or read, with logmu held exclusively

	watchers watch.List[store.Event]
	idle     *time.Timer // seals the last change; nil when Options.SealAfter is 0
}

func (d *DB) logOptions() wal.Options {
	return wal.Options{Step: d.opts.FreeStep, Reserve: d.opts.FreeReserve, Clock: d.opts.Clock, Rand: d.opts.Rand, LockWait: d.opts.LockWait,
		ReadOnly: d.opts.ReadOnly, Digest: digestBody, AtPath: d.opts.FS == nil} // a file system of the caller's is where the caller says
}

// tail reads what follows the position of the log into the state. logmu is
// held exclusively.
func (d *DB) tail() ([]store.Delta, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	deltas, err := d.replay(d.log, d.st, func(off int64) { d.offsets = append(d.offsets, off) }, 0)
	d.recent.add(d.position(), deltas)
	return deltas, err
}

// applier takes in the changes of a log, and returns what each did.
type applier interface {
	applyRecord(r *wal.Record, v *body) ([]store.Delta, error)
}

// replay reads on in log, into st, up to and including the change last (0: all
// there is). note, if not nil, is called with the offset of each change.
func (d *DB) replay(log *wal.Log, st applier, note func(int64), last uint64) ([]store.Delta, error) {
	var deltas []store.Delta
	err := log.Read(func(r *wal.Record) error {
		if last != 0 && r.Seq > last {
			return errStop
		}
		switch r.Type {
		case typeChange, wal.Base:
			v, err := decodeBody(r.Body)
			if err != nil {
				return d.formError(r, err)
			}
			did, err := st.applyRecord(r, v)
			if err != nil {
				return err
			}
			deltas = append(deltas, did...)
			if r.Type == typeChange && note != nil {
				note(r.Offset)
			}
		case wal.Seal:
		default:
			return fmt.Errorf("%w: %s holds a record of type %d; a newer oxbow wrote it: update this one", store.ErrVersion, d.path, r.Type)
		}
		return nil
	})
	if err != nil && err != errStop {
		return deltas, d.describe(err)
	}
	return deltas, nil
}

// formError is for a record whose checksum holds and whose body is unknown.
func (d *DB) formError(r *wal.Record, err error) error {
	return fmt.Errorf("%w: change %d of %s at byte %d: %v; a newer oxbow may have written it: update this one",
		store.ErrVersion, r.Seq, d.path, r.Offset, err)
}

// refresh makes the state hold all that was acknowledged, to any caller, before
// the call.
func (d *DB) refresh() error {
	if !d.look() {
		return nil
	}
	news, err := d.log.Poll()
	if news == wal.Same && err == nil {
		err = d.inPlace()
	}
	broken := d.broken
	d.logmu.RUnlock()
	if err != nil || broken != nil {
		return errors.Join(broken, err)
	}
	if news == wal.Same {
		return nil
	}
	d.logmu.Lock()
	defer d.logmu.Unlock()
	return d.catchUp()
}

// inPlace returns an error when the directory that was opened is not at its path any
// more, and the log, which notices that itself, has no file yet.
func (d *DB) inPlace() error {
	if dir, ok := d.fs.(*vfs.OS); ok && d.opts.FS == nil && !d.log.Exists() && dir.Moved() {
		return d.describe(wal.ErrVanished)
	}
	return nil
}

// catchUp reads what others wrote. logmu is held exclusively.
func (d *DB) catchUp() error {
	for range 100 {
		news, err := d.log.Poll()
		if err == nil && news == wal.Grown {
			end := d.log.End()
			deltas, rerr := d.tail()
			if errors.Is(rerr, errSnapshot) {
				return d.reload(false)
			}
			d.publish(deltas)
			if rerr != nil {
				d.breaks(rerr)
				return rerr
			}
			d.grown(false)
			if d.log.End() > end {
				continue
			}
			// A write under way, not acknowledged yet, or one that was never
			// finished. It must not hide that the file was replaced since.
			news, err = d.log.Place()
		}
		if err != nil {
			return err
		}
		switch news {
		case wal.Same:
			return d.inPlace()
		case wal.Gone:
			return d.describe(wal.ErrVanished)
		case wal.Replaced:
			if err := d.reload(true); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%w: %s is being replaced over and over", store.ErrBusy, d.path)
}

// reload reads the file that the name leads to now: from its snapshot on, if it
// may, else from its start. What watchers have goes on where the new file holds the
// change that was the last; else they begin again. logmu is held exclusively.
func (d *DB) reload(bySnapshot bool) error {
	if d.closed {
		return store.ErrClosed // nothing would close what is opened here
	}
	id, seq := d.log.Header().ID, d.log.Seq()
	had := d.log.Exists()
	if err := d.log.Reopen(); err != nil {
		return d.describe(err)
	}
	st, offsets, err := d.readAll(bySnapshot)
	if err != nil {
		d.breaks(err)
		if d.broken == nil && d.st.failed() != nil {
			d.broken = err // there is no state to go on from
		}
		return err
	}
	if had && d.log.Header().ID == id && d.log.Seq() < seq {
		// A process that goes on from here would write other changes under the
		// numbers of those that are missing.
		d.broken = d.describe(&wal.RolledBackError{Have: d.log.Seq(), Had: seq})
		return d.broken
	}
	deltas, same := d.continued(st, offsets)
	d.setState(st, offsets)
	if same {
		d.publish(deltas)
	} else {
		d.restart()
	}
	d.broken = nil
	return nil
}

// restart makes watchers begin again.
func (d *DB) restart() {
	d.mu.Lock()
	d.recent = recent{pos: d.recent.pos}
	d.mu.Unlock()
	d.watchers.Send(store.Event{Reset: true})
}

// readAll returns what the log adds up to, and the offsets of the changes after the
// snapshot, or after the base. logmu is held exclusively.
func (d *DB) readAll(bySnapshot bool) (*state, []int64, error) {
	var offsets []int64
	note := func(off int64) { offsets = append(offsets, off) }
	if bySnapshot && d.log.Exists() {
		if s, err := d.openSnapshot(); err == nil {
			st := newState()
			err = cmp.Or(st.load(s), d.log.Jump(s.head.offset, s.head.seq, s.head.chain, s.head.synced))
			if err == nil {
				_, err = d.replay(d.log, st, note, 0)
				if err == nil {
					return st, offsets, nil
				}
			}
			s.release()
			offsets = nil
			if err := d.log.Reopen(); err != nil {
				return nil, nil, d.describe(err)
			}
		}
	}
	st := newState()
	_, err := d.replay(d.log, st, note, 0)
	return st, offsets, err
}

// continued returns what changed since the last position, if the file, with that
// state, goes on from there. The old state is of no use afterwards.
func (d *DB) continued(st *state, offsets []int64) ([]store.Delta, bool) {
	was, ok := logpos.Decode(d.recent.pos)
	h := d.log.Header()
	if !ok || h.ID != was.Log {
		return nil, false
	}
	from := h.Base
	if st.base != nil {
		from = st.base.head.seq
	}
	switch {
	case was.Seq == h.Base:
		was.Offset = 0
	case was.Seq > from && was.Seq-from <= uint64(len(offsets)):
		was.Offset = offsets[was.Seq-from-1]
	default:
		was.Offset, ok = st.base.change(was.Seq)
		if !ok {
			return nil, false
		}
	}
	log, err := d.another(false)
	if err != nil {
		return nil, false
	}
	defer log.Close()
	if log.Jump(was.Offset, was.Seq, was.Chain, 0) != nil {
		return nil, false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	deltas, err := d.replay(log, follower{d.st}, nil, d.log.Seq())
	return deltas, err == nil
}

// follower is a state that takes in changes, but none that rewrote the log.
type follower struct{ *state }

// applyRecord implements applier.
func (f follower) applyRecord(r *wal.Record, v *body) ([]store.Delta, error) {
	if rewrites(r, v) {
		return nil, errSnapshot
	}
	return f.state.applyRecord(r, v)
}

// setState makes st, which was read from all of the log, the state. logmu is held
// exclusively.
func (d *DB) setState(st *state, offsets []int64) {
	d.epoch.Add(1)
	d.rest(st, offsets)
}

// rest makes st the state, which says the same as the one before or was read from all
// of the log. logmu is held exclusively.
func (d *DB) rest(st *state, offsets []int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.st.base != st.base {
		d.st.base.release()
	}
	d.base = d.log.Header().Base
	d.st = st
	d.offsets = offsets
	d.from = d.base
	if st.base != nil {
		d.from = st.base.head.seq
	}
	d.checkpointer.rest(st.base.end(), st.len())
	d.recent.add(d.position(), nil)
}

// read calls fn with the fresh state, and again where the snapshot turned out to
// be damaged. fn must not keep it.
func (d *DB) read(ctx context.Context, fn func(st *state)) error {
	for {
		if err := d.Refresh(ctx); err != nil {
			return err
		}
		st := d.with(fn)
		if st.failed() == nil {
			return nil
		}
		if err := d.replace(st); err != nil {
			return err
		}
	}
}

// replace reads all of the log in place of a state whose snapshot is damaged.
func (d *DB) replace(st *state) error {
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if d.broken != nil || d.st != st {
		return d.broken
	}
	return d.reload(false)
}

// publish sends the deltas, if there are any, to the watchers.
func (d *DB) publish(deltas []store.Delta) {
	if len(deltas) > 0 {
		d.watchers.Send(store.Event{Changes: deltas})
	}
}

// Watch implements [store.Watcher].
func (d *DB) Watch(fn func(store.Event)) (stop func()) { return d.watchers.Add(fn) }

// Refresh implements [store.Watcher].
func (d *DB) Refresh(ctx context.Context) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	d.checkpointer.called()
	return d.refresh()
}

// Get implements [store.Store].
func (d *DB) Get(ctx context.Context, name string) (e store.Entry, err error) {
	rerr := d.read(ctx, func(st *state) { e, err = st.get(name) })
	if rerr != nil {
		return store.Entry{}, rerr
	}
	return e, err
}

// EntryByID returns the entry of that ID, nil for none, as it was when the store
// was read last.
func (d *DB) EntryByID(id uint64) (*store.Entry, error) {
	for {
		var e *store.Entry
		st := d.with(func(st *state) { e = st.byID(id) })
		if st.failed() == nil {
			return e, nil
		}
		if err := d.replace(st); err != nil {
			return nil, err
		}
	}
}

// describe turns the errors of the log into errors of package store, with the path.
func (d *DB) describe(err error) error { return describe(d.path, err) }

// position returns the position of the log. logmu and mu are held.
func (d *DB) position() store.Position {
	if !d.log.Exists() {
		return ""
	}
	p := logpos.Position{Log: d.log.Header().ID, Seq: d.log.Seq(), Chain: d.log.Chain()}
	if n := len(d.offsets); n > 0 {
		p.Offset = d.offsets[n-1]
	} else if d.st.base != nil {
		p.Offset = d.st.base.head.offset
	}
	return store.Position(p.Encode())
}

// another opens the log a second time, for reading from its start.
func (d *DB) another(verify bool) (*wal.Log, error) {
	o := d.logOptions()
	o.ReadOnly, o.Verify = true, verify
	log, err := wal.Open(d.fs, d.name, o)
	return log, d.describe(err)
}

// snapshotName returns the name of the snapshot.
func (d *DB) snapshotName() string { return d.name + SnapshotSuffix }

// openSnapshot opens the snapshot, which opens the log once more, for reading.
func (d *DB) openSnapshot() (*snapshot, error) {
	return openSnapshot(d.fs, d.snapshotName(), d.opts.Room, func() (*wal.Log, error) { return d.another(false) })
}
