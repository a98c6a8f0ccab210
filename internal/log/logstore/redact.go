// This file redacts entries: it permanently removes contents from the log, without breaking
// the chain.

package logstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/log/wire"
	"github.com/oxbow-memory/oxbow/store"
)

// Redact implements [store.Redactor].
func (d *DB) Redact(ctx context.Context, name string, dryRun bool) (store.RedactReport, error) {
	return d.erase(ctx, dryRun, func() error {
		if d.st.lastChangeTo(name) == 0 {
			return &store.NameError{Name: name, Err: store.ErrNotFound}
		}
		return nil
	}, func(e *store.Entry) bool { return e.Name == name })
}

// RedactVersions implements [store.Redactor].
func (d *DB) RedactVersions(
	ctx context.Context,
	match func(e store.Entry, isCurrent bool) bool,
	dryRun bool,
) (store.RedactReport, error) {
	return d.erase(ctx, dryRun, func() error { return nil }, func(e *store.Entry) bool {
		now := d.st.find(e.Name)
		current := now != nil && now.Version == e.Version
		return match(*e, current) && !current
	})
}

// erase replaces each op for which pick returns true with the hash of the op. The digest of a
// change is computed from these hashes, so the chain does not change. A new change records the
// number of erased versions but not their names. may is called first, after the whole log was read,
// and can refuse the redaction. If dryRun is set or pick selects nothing, the log is not changed.
func (d *DB) erase(
	ctx context.Context,
	dryRun bool,
	may func() error,
	pick func(e *store.Entry) bool,
) (store.RedactReport, error) {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	rep := store.RedactReport{Left: []string{"backups, dumps and exports made before"}}
	if _, err := d.fs.Stat(d.log.LostDir()); !errors.Is(err, fs.ErrNotExist) {
		rep.Left = append(rep.Left, "torn tails set aside in "+d.path+".lost")
	}
	rep.Left = append(rep.Left,
		"what the disk keeps of a deleted file, and snapshots of the file system", "what an agent was already told")
	run := d.withLock
	if dryRun {
		run = d.withoutLock
	}
	err := run(ctx, func() error {
		if err := d.loadAll(); err != nil {
			return err
		}
		if err := may(); err != nil {
			return err
		}
		base := newState()
		if _, err := d.replayTo(d.base, base); err != nil {
			return err
		}
		for _, e := range slices.Clone(base.order) {
			if pick(e) {
				rep.Versions++
				base.remove(e, d.base)
			}
		}
		ops := rep.Versions
		edit := func(r wal.Record) ([]byte, error) { return eraseOps(r, pick, &rep.Versions, &ops) }
		for _, off := range d.offsets {
			r, err := d.log.At(off)
			if err == nil {
				_, err = edit(r)
			}
			if err != nil {
				return err
			}
		}
		if dryRun || ops == 0 {
			return nil
		}
		if err := d.dropDerived(); err != nil {
			return err
		}
		counted := rep.Versions
		var err error
		rep.Seq, err = d.rewrite(
			ctx,
			base,
			fmt.Sprintf("erasure: %s erased for good", text.Count(counted, "version", "versions")),
			edit,
		)
		rep.Versions = counted
		return err
	})
	return rep, err
}

// withoutLock calls fn after reading other processes' changes, but without the lock
// between processes. fn must not write.
func (d *DB) withoutLock(ctx context.Context, fn func() error) error {
	if err := d.ready(ctx); err != nil {
		return err
	}
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if d.broken != nil {
		return d.broken
	}
	if err := d.catchUp(); err != nil {
		return err
	}
	return d.describe(fn())
}

// eraseOps returns a change's body with the picked ops erased. It adds the number of erased ops to
// ops, and the number of erased versions to versions. The bytes of other fields are unchanged.
func eraseOps(r wal.Record, pick func(*store.Entry) bool, versions, ops *int) ([]byte, error) {
	var out []byte
	err := wire.Each(string(r.Body), func(f wire.Field) error {
		if f.Num != fieldOp {
			out = append(out, f.Raw...)
			return nil
		}
		p, err := decodePut(f)
		if err != nil {
			return err
		}
		p.entry.Version = r.Seq
		if !pick(p.entry) {
			out = append(out, f.Raw...)
			return nil
		}
		*ops++
		if p.verb != store.VerbRemove {
			*versions++
		}
		sum := sha256.Sum256([]byte(f.Str))
		e := wire.AppendBytes(nil, 1, sum[:])
		e = wire.AppendUint(e, 2, p.entry.ID)
		for i, v := range verbs {
			if v == p.verb {
				e = wire.AppendUint(e, 3, uint64(i))
			}
		}
		e = wire.AppendUint(e, 10, p.prev)
		out = wire.AppendBytes(out, fieldErased, e)
		return nil
	})
	return out, err
}

// rewrite writes a new log with the entries of base, and with each body replaced by edit's result,
// which must keep the body's digest. It adds a change that records the rewrite, and then reads the
// new log. The lock and logmu must be held.
func (d *DB) rewrite(
	ctx context.Context,
	base *state,
	note string,
	edit func(wal.Record) ([]byte, error),
) (uint64, error) {
	old := d.log
	end := d.log.End()
	chain := d.log.Header().Chain
	w, err := old.Rewriter(d.base, chain)
	if err != nil {
		return 0, err
	}
	emit := func(r wal.Record) error {
		r.Durable = old.Seq()
		_, err := w.Emit(r)
		return err
	}
	var sum []byte // hash of the base
	if d.base > 0 {
		now := d.opts.Clock().UnixNano()
		s, berr := writeStateAsBase(base, func(b []byte) error {
			return emit(wal.Record{Seq: d.base, Time: now, Type: wal.Base, Body: b, Chain: chain})
		})
		sum, err = s[:], berr
	}
	mark := d.durableMark(ctx, sum, note)
	for _, off := range d.offsets {
		r, rerr := old.At(off)
		err = cmp.Or(err, rerr)
		if err == nil {
			r.Body, err = edit(r)
		}
		if err != nil {
			break
		}
		err = emit(r)
	}
	err = cmp.Or(err, emit(mark))
	if err == nil {
		err = old.Replace(w)
	}
	if err != nil && old.End() == end {
		w.Cancel()
		return 0, err
	}
	// The position has changed, so the new file is in place. The rename may not be durable.
	st, offsets, rerr := d.readAll()
	if rerr != nil {
		d.recordBroken(rerr)
		return 0, rerr
	}
	d.setState(st, offsets)
	d.resetWatchers()
	return mark.Seq, err
}

// loadAll reads the whole log if the state uses a snapshot. logmu must be held exclusively.
func (d *DB) loadAll() error {
	if d.st.base == nil {
		return nil
	}
	return d.reload()
}

// dropDerived removes the derived files, which contain words and name hashes of the
// redacted entries. Other processes cannot write them again before the log is rewritten,
// because the lock is held.
func (d *DB) dropDerived() error {
	if err := d.dropFile(d.snapshotName()); err != nil {
		return fmt.Errorf("removing the snapshot: %w", err)
	}
	for _, k := range d.opts.Derived {
		if err := d.DerivedFile(k.Suffix).drop(); err != nil {
			return fmt.Errorf("removing what was made from the log: %w", err)
		}
	}
	return nil
}
