// Erasing: what an entry ever held is taken out of the log for
// good, and the chain still holds.

package oxbow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/oxbow-memory/oxbow/internal/wal"
)

// An Redactor is a Store that can take what an entry held out of its history.
type Redactor interface {
	// Erase removes the entry of that name, with all its versions, from the
	// store and from its history. It cannot be undone. With dry, it only
	// counts. A name that was never used is ErrNotFound.
	Redact(ctx context.Context, name string, dry bool) (RedactReport, error)
}

// RedactReport is what was erased.
type RedactReport struct {
	Versions int    // versions erased, the current one among them
	Seq      uint64 // the change that records it, 0 when nothing was done
	// Left says what an erasure cannot reach: copies that were made before.
	Left []string
}

// Erase implements [Redactor]. Each op on the name is replaced by its hash, from
// which the digest of its change is made, so that the chain is that of before.
// A new change says how many were erased, not of what.
func (d *db) Redact(ctx context.Context, name string, dry bool) (RedactReport, error) {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	rep := RedactReport{Left: []string{
		"backups, dumps and exports made before",
		"torn tails set aside in " + d.path + ".lost",
		"what the disk keeps of a deleted file, and snapshots of the file system",
		"what an agent was already told",
	}}
	err := d.locked(ctx, func() error {
		if err := d.loadAll(); err != nil {
			return err
		}
		if d.st.touched(name) == 0 {
			return &NameError{name, ErrNotFound}
		}
		base := newState()
		if _, err := d.replayTo(d.base, base); err != nil {
			return err
		}
		if base.names[name] != nil {
			rep.Versions++
			base.remove(base.names[name], d.base)
		}
		edit := func(b []byte) ([]byte, error) { return eraseOps(b, name, &rep.Versions) }
		for _, off := range d.offsets {
			r, err := d.log.At(off)
			if err == nil {
				_, err = edit(r.Body)
			}
			if err != nil {
				return err
			}
		}
		if dry {
			return nil
		}
		if err := d.dropDerived(); err != nil {
			return err
		}
		var baseRecords [][]byte
		var sum []byte
		if d.base > 0 {
			bs, s := baseBodies(base)
			baseRecords, sum = bs, s[:]
		}
		counted := rep.Versions
		var err error
		rep.Seq, err = d.rewrite(ctx, baseRecords, sum, fmt.Sprintf("erasure: %d versions of an entry erased for good", counted), edit)
		rep.Versions = counted
		return err
	})
	return rep, err
}

// eraseOps returns a body with the ops on that name erased, and counts those
// that held a version. What it does not touch keeps its bytes.
func eraseOps(data []byte, name string, versions *int) ([]byte, error) {
	var out []byte
	err := eachField(string(data), func(f field) error {
		if f.num != fieldOp {
			out = append(out, f.raw...)
			return nil
		}
		p, err := decodePut(f)
		if err != nil {
			return err
		}
		if p.entry.Name != name {
			out = append(out, f.raw...)
			return nil
		}
		if p.verb != VerbRemove {
			*versions++
		}
		sum := sha256.Sum256([]byte(f.str))
		e := appendBytes(nil, 1, sum[:])
		e = appendUint(e, 2, p.entry.ID)
		for i, v := range verbs {
			if v == p.verb {
				e = appendUint(e, 3, uint64(i))
			}
		}
		out = appendBytes(out, fieldErased, e)
		return nil
	})
	return out, err
}

// Erase takes the entry of that name, with all its versions, out of the store
// for good. See [Redactor].
func (m *Memory) Redact(ctx context.Context, name string, dry bool) (RedactReport, error) {
	e, ok := m.store.(Redactor)
	if !ok {
		return RedactReport{}, errors.Join(ErrUnsupported, errors.New("it keeps no history to erase from: forget is final there"))
	}
	return e.Redact(ctx, name, dry)
}

// rewrite writes the log again, with the entries of its base and each body as edit
// makes it, whose digest must stay, adds the change that records it, and reads it.
// The lock and logmu are held.
func (d *db) rewrite(ctx context.Context, base [][]byte, sum []byte, note string, edit func([]byte) ([]byte, error)) (uint64, error) {
	old, end, chain := d.log, d.log.End(), d.log.Header().Chain
	mark := d.durableMark(ctx, sum, note)
	w, err := old.Rewriter(d.base, chain)
	if err != nil {
		return 0, err
	}
	emit := func(r wal.Record) error {
		r.Durable = old.Seq()
		_, err := w.Emit(r)
		return err
	}
	for _, b := range base {
		err = cmp.Or(err, emit(wal.Record{Seq: d.base, Time: mark.Time, Type: wal.Base, Body: b, Chain: chain}))
	}
	for _, off := range d.offsets {
		r, rerr := old.At(off)
		if err = cmp.Or(err, rerr); err == nil {
			r.Body, err = edit(r.Body)
		}
		if err != nil {
			break
		}
		err = emit(r)
	}
	if err = cmp.Or(err, emit(mark)); err == nil {
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
func (d *db) loadAll() error {
	if d.st.base == nil {
		return nil
	}
	return d.reload(false)
}

// dropDerived removes the files that are made from the log, which hold words and
// hashes of names of what is dropped. They are made again; no process can write
// them before the log is rewritten, since the lock is held.
func (d *db) dropDerived() error {
	if err := d.dropFile(d.snapshotName(), true); err != nil {
		return fmt.Errorf("removing the snapshot: %w", err)
	}
	if err := d.dropIndex(true); err != nil {
		return fmt.Errorf("removing the index file: %w", err)
	}
	return nil
}
