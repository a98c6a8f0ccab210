// This file redacts entries: their contents are removed from the whole log without breaking the hash chain.

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
	return d.eraseVersions(ctx, dryRun, func() error {
		if d.st.lastChangeNumber(name) == 0 {
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
	return d.eraseVersions(ctx, dryRun, func() error { return nil }, func(e *store.Entry) bool {
		now := d.st.findByName(e.Name)
		current := now != nil && now.Version == e.Version
		return match(*e, current) && !current
	})
}

// eraseVersions erases versions of entries from the log, so that their text cannot be read any more. The function
// isPicked selects the versions. In the log, a change consists of ops, and each op concerns one entry. eraseVersions
// replaces each op of a picked version by the op's hash. The hash chain stays valid, because the digest of a change is
// computed from the hashes of its ops. eraseVersions adds a change to the log that records how many versions were
// erased, but does not name their entries.
//
// Before it erases anything, eraseVersions reads the whole log and calls the function checkAllowed. If checkAllowed
// returns an error, eraseVersions returns this error and does not change the log. The log also stays unchanged if
// dryRun is set or no version is picked. The report contains the number of picked versions, and the places outside the
// log that may still contain the erased text.
func (d *DB) eraseVersions(
	ctx context.Context,
	dryRun bool,
	checkAllowed func() error,
	isPicked func(e *store.Entry) bool,
) (store.RedactReport, error) {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	rep := store.RedactReport{Left: []string{"backups, dumps and exports made before"}}
	if _, err := d.fs.Stat(d.log.TornTailsDir()); !errors.Is(err, fs.ErrNotExist) {
		rep.Left = append(rep.Left, "torn tails set aside in "+d.path+".lost")
	}
	rep.Left = append(rep.Left,
		"what the disk keeps of a deleted file, and snapshots of the file system", "what an agent was already told")
	run := d.withLock
	if dryRun {
		run = d.callAfterRefresh
	}
	err := run(ctx, func() error {
		if err := d.loadWholeLog(); err != nil {
			return err
		}
		if err := checkAllowed(); err != nil {
			return err
		}
		base := newState()
		if _, err := d.replayUpTo(d.lastDroppedChange, base); err != nil {
			return err
		}
		for _, e := range slices.Clone(base.entriesNotInSnapshotByID) {
			if isPicked(e) {
				rep.Versions++
				base.removeEntry(e, d.lastDroppedChange)
			}
		}
		ops := rep.Versions
		edit := func(r wal.Record) ([]byte, error) { return eraseOps(r, isPicked, &rep.Versions, &ops) }
		for _, off := range d.changeOffsets {
			r, err := d.log.RecordAt(off)
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
		if err := d.removeDerivedFiles(); err != nil {
			return err
		}
		counted := rep.Versions
		var err error
		rep.Seq, err = d.rewriteLog(
			ctx,
			base,
			fmt.Sprintf("erasure: %s erased for good", text.FormatCount(counted, "version", "versions")),
			edit,
		)
		rep.Versions = counted
		return err
	})
	return rep, err
}

// callAfterRefresh reads the changes of other processes and calls fn. Other goroutines cannot use the log during the
// call, because callAfterRefresh holds logmu. Other processes can write to the log, because callAfterRefresh does not
// hold the lock file. Therefore fn must not write.
func (d *DB) callAfterRefresh(ctx context.Context, fn func() error) error {
	if err := d.checkOpenAndContext(ctx); err != nil {
		return err
	}
	d.logmu.Lock()
	defer d.logmu.Unlock()
	if d.brokenErr != nil {
		return d.brokenErr
	}
	if err := d.applyOtherProcessChanges(); err != nil {
		return err
	}
	return d.convertWALError(fn())
}

// eraseOps returns the body of the record r, in which each op on an entry that isPicked selects is replaced by an
// erased op. An erased op contains no name and no content. It contains a hash of the original op, the entry's ID, the
// verb, and the number of the previous change. All other parts of the body stay the same. eraseOps adds the count of
// erased ops to *erasedOps. It adds the count of erased entry versions to *erasedVersions, which does not include ops
// that remove an entry.
func eraseOps(r wal.Record, isPicked func(*store.Entry) bool, erasedVersions, erasedOps *int) ([]byte, error) {
	var out []byte
	err := wire.EachField(string(r.Body), func(f wire.Field) error {
		if f.FieldNumber != recordFieldOp {
			out = append(out, f.EncodedField...)
			return nil
		}
		p, err := decodeOp(f)
		if err != nil {
			return err
		}
		p.entry.Version = r.Seq
		if !isPicked(p.entry) {
			out = append(out, f.EncodedField...)
			return nil
		}
		*erasedOps++
		if p.verb != store.VerbRemove {
			*erasedVersions++
		}
		sum := sha256.Sum256([]byte(f.BytesValue))
		e := wire.AppendBytesField(nil, 1, sum[:])
		e = wire.AppendUintField(e, 2, p.entry.ID)
		for i, v := range verbsByCode {
			if v == p.verb {
				e = wire.AppendUintField(e, 3, uint64(i))
			}
		}
		e = wire.AppendUintField(e, 10, p.previousChange)
		out = wire.AppendBytesField(out, recordFieldErasedOp, e)
		return nil
	})
	return out, err
}

// rewriteLog replaces the log by a new log, and reads the new log. It returns the number of the change that it adds at
// the end of the new log to record the rewrite. If the old log was compacted, the new log begins with the entries of
// baseState.
//
// For each later record of the old log, the new log contains a record with the body that editBody returns. This body
// may lack the text of erased ops, but it must have the same digest as the old body. This is possible because the
// digest is computed from the ops' hashes, and an erased op is replaced by its hash. The caller must hold logmu and the
// store's lock file.
func (d *DB) rewriteLog(
	ctx context.Context,
	baseState *state,
	note string,
	editBody func(wal.Record) ([]byte, error),
) (uint64, error) {
	old := d.log
	end := d.log.EndOffset()
	chain := d.log.Header().BaseChainHash
	w, err := old.NewRewriter(d.lastDroppedChange, chain)
	if err != nil {
		return 0, err
	}
	emit := func(r wal.Record) error {
		r.DurableSeq = old.LastSeq()
		_, err := w.AppendRecord(r)
		return err
	}
	var sum []byte // hash of the entries with which the new log begins
	if d.lastDroppedChange > 0 {
		now := d.opts.Clock().UnixNano()
		s, berr := writeStateAsInitialEntries(baseState, func(b []byte) error {
			return emit(
				wal.Record{
					Seq:          d.lastDroppedChange,
					TimeUnixNano: now,
					Type:         wal.TypeBaseSection,
					Body:         b,
					ChainHash:    chain,
				},
			)
		})
		sum, err = s[:], berr
	}
	mark := d.newRewriteRecord(ctx, sum, note)
	for _, off := range d.changeOffsets {
		r, rerr := old.RecordAt(off)
		err = cmp.Or(err, rerr)
		if err == nil {
			r.Body, err = editBody(r)
		}
		if err != nil {
			break
		}
		err = emit(r)
	}
	err = cmp.Or(err, emit(mark))
	if err == nil {
		err = old.ReplaceBy(w)
	}
	if err != nil && old.EndOffset() == end {
		w.Cancel()
		return 0, err
	}
	// The end of the log has changed, so the new log file is already in use. The rename may not be durable yet.
	st, offsets, rerr := d.readWholeLog()
	if rerr != nil {
		d.recordBrokenLog(rerr)
		return 0, rerr
	}
	d.resetState(st, offsets)
	d.watchers.Send(store.Event{Reset: true})
	return mark.Seq, err
}

// loadWholeLog reads the whole log if the state uses a snapshot. The caller must hold logmu exclusively.
func (d *DB) loadWholeLog() error {
	if d.st.base == nil {
		return nil
	}
	return d.reload()
}

// removeDerivedFiles removes all files that were made from the log, because they may contain words and name hashes of
// entries that are being redacted. This process holds the lock, so other processes cannot write these files again until
// the log has been rewritten.
func (d *DB) removeDerivedFiles() error {
	if err := d.removeDerivedFile(d.snapshotName()); err != nil {
		return fmt.Errorf("removing the snapshot: %w", err)
	}
	for _, k := range d.opts.DerivedFileKinds {
		if err := d.DerivedFile(k.Suffix).removeWithTemps(); err != nil {
			return fmt.Errorf("removing what was made from the log: %w", err)
		}
	}
	return nil
}
