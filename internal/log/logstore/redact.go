// Erasing: what an entry ever held is taken out of the log for
// good, and the chain still holds.

package logstore

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/log/wire"
	"github.com/oxbow-memory/oxbow/store"
)

// Redact implements [store.Redactor].
func (d *DB) Redact(ctx context.Context, name string, dry bool) (store.RedactReport, error) {
	return d.erase(ctx, dry, func() error {
		if d.st.touched(name) == 0 {
			return &store.NameError{Name: name, Err: store.ErrNotFound}
		}
		return nil
	}, func(e *store.Entry) bool { return e.Name == name })
}

// RedactVersions implements [store.Redactor].
func (d *DB) RedactVersions(ctx context.Context, match func(e store.Entry, current bool) bool, dry bool) (store.RedactReport, error) {
	return d.erase(ctx, dry, func() error { return nil }, func(e *store.Entry) bool {
		now := d.st.find(e.Name)
		current := now != nil && now.Version == e.Version
		return match(*e, current) && !current
	})
}

// erase replaces each op that pick reports by its hash, from which the digest of
// its change is made, so that the chain is that of before. A new change says how
// many were erased, not of what. May is asked first, with all of the log read. With
// dry, and where there is nothing to erase, nothing changes.
func (d *DB) erase(ctx context.Context, dry bool, may func() error, pick func(e *store.Entry) bool) (store.RedactReport, error) {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	rep := store.RedactReport{Left: []string{
		"backups, dumps and exports made before",
		"torn tails set aside in " + d.path + ".lost",
		"what the disk keeps of a deleted file, and snapshots of the file system",
		"what an agent was already told",
	}}
	run := d.locked
	if dry {
		run = d.unlocked
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
		if dry || ops == 0 {
			return nil
		}
		if err := d.dropDerived(); err != nil {
			return err
		}
		counted := rep.Versions
		var err error
		rep.Seq, err = d.rewrite(ctx, base, fmt.Sprintf("erasure: %d versions erased for good", counted), edit)
		rep.Versions = counted
		return err
	})
	return rep, err
}

// unlocked runs fn with everything read that others wrote, and without the lock between
// processes: fn must write nothing.
func (d *DB) unlocked(ctx context.Context, fn func() error) error {
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

// eraseOps returns the body of a change with the ops erased that pick reports, and
// counts them and those that held a version. What it does not touch keeps its
// bytes.
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

// rewrite writes the log again, with the entries of its base and each body as edit
// makes it, whose digest must stay, adds the change that records it, and reads it.
// The lock and logmu are held.
func (d *DB) rewrite(ctx context.Context, base *state, note string, edit func(wal.Record) ([]byte, error)) (uint64, error) {
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
	var sum []byte // of the base
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
	// The position has moved: the new file is in place, though perhaps not for
	// good.
	st, offsets, rerr := d.readAll(false)
	if rerr != nil {
		d.breaks(rerr)
		return 0, rerr
	}
	d.setState(st, offsets)
	d.restart()
	return mark.Seq, err
}

// loadAll reads all of the log, where a snapshot spared it. logmu is held
// exclusively.
func (d *DB) loadAll() error {
	if d.st.base == nil {
		return nil
	}
	return d.reload(false)
}

// dropDerived removes the files that are made from the log, which hold words and
// hashes of names of what is dropped. They are made again; no process can write
// them before the log is rewritten, since the lock is held.
func (d *DB) dropDerived() error {
	if err := d.dropFile(d.snapshotName(), true); err != nil {
		return fmt.Errorf("removing the snapshot: %w", err)
	}
	for _, k := range d.opts.Derived {
		if err := d.Derived(k.Suffix).drop(true); err != nil {
			return fmt.Errorf("removing what was made from the log: %w", err)
		}
	}
	return nil
}
