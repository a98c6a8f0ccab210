// This file recovers damaged stores, and accepts stores that went back to an earlier state.

package logstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// RecoverStore copies the undamaged part of a store to a new file. The parameter path is the path of the damaged file,
// which is not changed. The parameter outPath is the path of the new file. Each change contains whole entries, so a
// lost change affects only the entries that it wrote. The history in the new file begins after the last lost change.
// Derived files, such as a snapshot, are not read.
func RecoverStore(ctx context.Context, path, outPath string, o Options) (store.RecoverReport, error) {
	opts := o.withDefaults()
	rep := store.RecoverReport{Out: outPath}
	fsys, name, done, err := fsForPath(path, opts)
	if err != nil {
		return rep, err
	}
	defer done()
	d := &DB{fs: fsys, logName: name, path: path, opts: opts, currentState: currentState{st: newState()}}

	plan := salvagePlan{}
	tell := d.twoPassProgressReporter(ctx)
	sal, err := d.eachSalvagedRecord(ctx, &plan, func(r *wal.Record) error { tell(r, 0); return nil })
	if err != nil {
		return rep, d.convertWALError(err)
	}
	if sal.Header.ID == ([16]byte{}) { // No record revealed the identity of the log.
		if _, err := io.ReadFull(opts.Rand, sal.Header.ID[:]); err != nil {
			return rep, err
		}
		if plan.lastChangeBeforeHistory == 0 {
			plan.chainHashBeforeHistory = wal.FirstChainHash(sal.Header.ID)
			plan.lastUndamagedChainHash = plan.chainHashBeforeHistory
		}
	}
	for _, b := range sal.BadRanges {
		rep.BadBytes += b[1] - b[0]
		rep.Base = rep.Base || b[0] < max(sal.Header.BaseSectionEndOffset, plan.baseRecordsEnd)
	}
	rep.Header = sal.HasGuessedHeader
	rep.First = plan.lastChangeBeforeHistory + 1
	rep.Last = plan.lastUndamagedChange
	rep.Changes, rep.Lost = plan.readChangeCount, plan.lostRanges
	rep.Entries, err = d.writeRecoveredLog(ctx, outPath, sal.Header, plan, rep)
	return rep, d.convertWALError(err)
}

// salvagePlan describes the undamaged records of a log: which changes are missing, and where the new file's history
// begins.
type salvagePlan struct {
	// the fields lastUndamagedChange, lastUndamagedChainHash, lastChangeBeforeHistory and chainHashBeforeHistory are
	// set
	hasStartPoint          bool
	lastUndamagedChange    uint64   // number of the last undamaged change that was read
	lastUndamagedChainHash [32]byte // value of the log's hash chain after the last undamaged change
	// number of the last change that does not follow directly on the change before it; the new log's history begins
	// after this change
	lastChangeBeforeHistory uint64
	// value of the log's hash chain after the change with the number lastChangeBeforeHistory
	chainHashBeforeHistory [32]byte
	// end offset of the last record that contains entries kept by a compaction; a log has such records only at its
	// start
	baseRecordsEnd  int64
	readChangeCount int // number of the changes that were read
	lostRanges      [][2]uint64
}

// setStartPoint sets the point in the history at which the damaged log begins: the number of the last change before the
// log's first record, and the value of the hash chain after this change. Both values come from the header of the
// damaged log. If this header was damaged and had to be guessed, the hash is computed from the log's ID. Only the first
// call of setStartPoint has an effect.
func (p *salvagePlan) setStartPoint(damage *wal.LogDamage) {
	if p.hasStartPoint {
		return
	}
	p.hasStartPoint = true
	p.lastUndamagedChange, p.lastUndamagedChainHash = damage.Header.BaseSeq, damage.Header.BaseChainHash
	if damage.HasGuessedHeader {
		p.lastUndamagedChainHash = wal.FirstChainHash(damage.Header.ID)
	}
	p.lastChangeBeforeHistory, p.chainHashBeforeHistory = p.lastUndamagedChange, p.lastUndamagedChainHash
}

// addRecord adds an undamaged record of the damaged log to the plan, and reports whether the record will be copied.
// Three kinds of records are not copied: seals, changes whose number is not higher than that of the last change in the
// plan, and records with entries of a compaction that come after a change. If changes are missing before a record,
// addRecord also records the range of their numbers.
func (p *salvagePlan) addRecord(damage *wal.LogDamage, r *wal.Record) bool {
	p.setStartPoint(damage)
	switch {
	case r.Type == wal.TypeSeal:
		// A seal contains the number of the last change before it. If this number is higher than the last change that
		// was found, changes are missing.
		if r.Seq > p.lastUndamagedChange {
			p.addLostRange(p.lastUndamagedChange+1, r.Seq)
			p.setHistoryStart(r)
		}
		return false
	case r.Type == wal.TypeBaseSection:
		if p.readChangeCount > 0 {
			return false
		}
		p.setHistoryStart(r)
		p.baseRecordsEnd = r.FileOffset + wal.RecordOverhead + int64(len(r.Body))
		return true
	case r.Seq <= p.lastUndamagedChange:
		return false
	}
	linked := false
	if r.Seq == p.lastUndamagedChange+1 {
		digest, err := digestBody(r.Type, r.Body)
		linked = err == nil &&
			r.ChainHash == wal.ComputeChainHash(p.lastUndamagedChainHash, r.Seq, r.TimeUnixNano, r.Type, digest)
	} else {
		p.addLostRange(p.lastUndamagedChange+1, r.Seq-1)
	}
	p.lastUndamagedChange, p.lastUndamagedChainHash = r.Seq, r.ChainHash
	if !linked {
		p.setHistoryStart(r)
	}
	p.readChangeCount++
	return true
}

// setHistoryStart sets the start of the recovered log's history. Changes before the record r are missing, so the
// history cannot begin earlier. The recovered log begins with the entries as they are after r, and the history begins
// with the next change.
func (p *salvagePlan) setHistoryStart(r *wal.Record) {
	p.lastUndamagedChange = r.Seq
	p.lastUndamagedChainHash = r.ChainHash
	p.lastChangeBeforeHistory = r.Seq
	p.chainHashBeforeHistory = r.ChainHash
}

// addLostRange records that the changes with the numbers first to last are lost. A range that directly follows the last
// recorded range extends that range.
func (p *salvagePlan) addLostRange(first, last uint64) {
	if n := len(p.lostRanges); n > 0 && p.lostRanges[n-1][1]+1 == first {
		p.lostRanges[n-1][1] = last
		return
	}
	p.lostRanges = append(p.lostRanges, [2]uint64{first, last})
}

// twoPassProgressReporter returns a function that reports the progress of a recovery. The recovery reads the damaged
// log twice. The function's argument before is the share of the work that was finished before the current reading: 0 in
// the first reading, and 0.5 in the second.
func (d *DB) twoPassProgressReporter(ctx context.Context) func(r *wal.Record, before float64) {
	tell, size := progress.Reporter(ctx), int64(1)
	if fi, err := d.fs.Stat(d.logName); err == nil {
		size = max(1, fi.Size())
	}
	return func(r *wal.Record, before float64) {
		tell(
			progress.State{
				Unit:              progress.UnitBytes,
				DoneCount:         r.FileOffset,
				FinishedWorkShare: before + float64(r.FileOffset)/float64(size)/2,
			},
		)
	}
}

// eachSalvagedRecord reads the undamaged records of a damaged log, so that the caller can build a new log from them. It
// passes each record to p.addRecord, and then calls the function fn with the record if addRecord accepts the record.
// eachSalvagedRecord also sets the start point in p. It returns a description of the damage.
func (d *DB) eachSalvagedRecord(
	ctx context.Context,
	p *salvagePlan,
	fn func(r *wal.Record) error,
) (wal.LogDamage, error) {
	sal, err := wal.SalvageRecords(d.fs, d.logName, d.logOptions(), func(sal *wal.LogDamage, r *wal.Record) error {
		if err := ctx.Err(); err != nil || !p.addRecord(sal, r) {
			return err
		}
		return fn(r)
	})
	p.setStartPoint(&sal)
	return sal, err
}

// writeRecoveredLog writes the recovered log to the file at outPath. The log contains, in this order:
//   - the entries as they were right after the change with the number plan.lastChangeBeforeHistory
//   - all later changes
//   - a last change, which describes the recovery
//
// The result is the number of entries that exist after the last change. writeRecoveredLog reads the damaged log a
// second time. Therefore it needs memory only for the entries, and not for all changes.
func (d *DB) writeRecoveredLog(
	ctx context.Context,
	outPath string,
	h wal.Header,
	plan salvagePlan,
	rep store.RecoverReport,
) (int, error) {
	fsys, name, done, err := fsForPath(outPath, d.opts)
	if err != nil {
		return 0, err
	}
	defer done()
	now := d.opts.Clock().UnixNano()
	h.BaseSeq, h.BaseChainHash = plan.lastChangeBeforeHistory, plan.chainHashBeforeHistory
	st := newState()
	err = wal.CreateLog(fsys, name, d.logOptions(), h, func(emit func(wal.Record) error) error {
		v := &recordBody{
			source: d.sourceForChange(ctx),
			note: fmt.Sprintf("recovery: %d changes read, %d stretches of them lost, %d bytes unreadable",
				rep.Changes, len(rep.Lost), rep.BadBytes),
		}
		written := plan.lastChangeBeforeHistory == 0
		writeBase := func() error {
			if written {
				return nil
			}
			written = true
			sum, err := writeStateAsInitialEntries(st, func(b []byte) error {
				return emit(
					wal.Record{
						Seq:          plan.lastChangeBeforeHistory,
						TimeUnixNano: now,
						Type:         wal.TypeBaseSection,
						Body:         b,
						ChainHash:    plan.chainHashBeforeHistory,
					},
				)
			})
			v.initialEntriesHash = sum[:]
			return err
		}
		tell := d.twoPassProgressReporter(ctx)
		_, err := d.eachSalvagedRecord(ctx, &salvagePlan{}, func(r *wal.Record) error {
			tell(r, .5)
			b, err := decodeBody(r.Body)
			if err != nil {
				return d.unknownBodyError(r, err)
			}
			if r.Type == recordTypeChange && r.Seq > plan.lastChangeBeforeHistory {
				if err := cmp.Or(writeBase(), emit(*r)); err != nil {
					return err
				}
			}
			st.applyChange(r.Seq, time.Unix(0, r.TimeUnixNano).UTC(), b)
			return nil
		})
		err = cmp.Or(err, writeBase())
		if err != nil {
			return err
		}
		r := wal.Record{Seq: plan.lastUndamagedChange + 1, TimeUnixNano: now, Type: recordTypeChange}
		enc := encodeBody(v)
		r.Body = enc.body
		r.ChainHash = wal.ComputeChainHash(plan.lastUndamagedChainHash, r.Seq, r.TimeUnixNano, r.Type, enc.digest)
		return emit(r)
	})
	return st.len(), err
}

// AcceptRollback makes a store usable again after the store went back to an earlier state ([store.ErrRolledBack]), for
// example because a person restored a backup. The changes made after the earlier state are lost, and new changes reuse
// their numbers.
func (d *DB) AcceptRollback(ctx context.Context) error {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	d.logmu.Lock()
	if errors.Is(d.brokenErr, store.ErrRolledBack) {
		d.brokenErr = nil
		if err := d.reload(); err != nil {
			d.logmu.Unlock()
			return err
		}
	}
	d.logmu.Unlock()
	return d.withLock(ctx, func() error { d.log.AcceptIncompleteLog(); return nil })
}
