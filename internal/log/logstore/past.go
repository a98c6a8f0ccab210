// This file finds the entries that changed after a given change, and the versions that they had directly after the
// given change.
//
// Every op in the log contains the number of the previous change to its entry. So it is enough to read the changes
// after the given change once. For each entry, the first op after the given change has the number of a change that is
// not after the given change. This earlier change wrote the version that is searched for. The contents of entries are
// not decoded for this.

package logstore

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/idset"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/internal/log/wire"
	"github.com/oxbow-memory/oxbow/store"
)

// errReadFromStart is returned if an earlier state can only be found by reading the log from its start.
var errReadFromStart = errors.New("the state must be read from the start of the log")

// LaterChanges describes the changes after a given change, the start: which entries they changed, and which version
// each of these entries had at the start. An entry that a later change did not write or remove is the same now as then.
// Only one goroutine may use a LaterChanges.
type LaterChanges struct {
	db             *DB
	startSeq       uint64
	lastSeq        uint64    // number of the last change that was read
	changedIDs     idset.Set // IDs of the entries that were written or removed by a change after startSeq
	opsBeforeStart []opBeforeStart
}

// opBeforeStart refers to the last op on an entry up to a given change. An op is the part of a change that concerns one
// entry.
type opBeforeStart struct {
	seq     uint64 // number of the op's change
	entryID uint64 // ID of the entry
	name    string // name of the entry, or "" if the op can be found in its change by entryID
	// The next op on this name added an entry, so no entry had this name before it. Therefore the op to find must be
	// the removal of an entry with this name, or its content was erased from the log.
	precedesAdd bool
}

// LaterChanges reads the changes after change seq. ok is false if the log does not allow this, for example because it
// was rewritten meanwhile. The caller must then use [DB.AsOf].
func (d *DB) LaterChanges(ctx context.Context, seq uint64) (p *LaterChanges, ok bool, err error) {
	if err := d.Refresh(ctx); err != nil {
		return nil, false, err
	}
	if err := d.checkHasStateAfter(seq); err != nil {
		return nil, false, err
	}
	_, last := d.changeNumberRange()
	p = &LaterChanges{db: d, startSeq: seq, lastSeq: last}
	err = p.readChanges(ctx)
	if isLogRewriteError(err) {
		return nil, false, nil
	}
	return p, err == nil, err
}

// isLogRewriteError reports whether an error may mean that the log was rewritten while it was read. A rewrite also
// makes the snapshot unreadable, which contains the places of changes in the log.
func isLogRewriteError(err error) bool {
	return errors.Is(err, errReadFromStart) || errors.Is(err, errUnusableSnapshot) ||
		errors.Is(err, store.ErrCorrupt) || errors.As(err, new(*wal.CorruptError))
}

// ChangedIDs returns the IDs of the entries that were written or removed by the changes in p. These changes are later
// than the change that the caller passed to [DB.LaterChanges].
func (p *LaterChanges) ChangedIDs() *idset.Set { return &p.changedIDs }

// IsUnchanged reports whether an entry has not changed since the change that was passed to [DB.LaterChanges]. version
// is the entry's present version.
func (p *LaterChanges) IsUnchanged(id, version uint64) bool {
	return version <= p.startSeq && !p.changedIDs.Has(id)
}

// MaxEntriesAtStart returns the maximum number of entries that [LaterChanges.EntriesAtStart] yields.
func (p *LaterChanges) MaxEntriesAtStart() int { return len(p.opsBeforeStart) }

// readChanges reads the changes after p.startSeq, up to p.lastSeq. An op is the part of a change that concerns one
// entry. readChanges adds the ID of each entry that these changes wrote or removed to p.changedIDs. If such an entry
// already had an op in an earlier change, up to p.startSeq, readChanges adds the last of these earlier ops to
// p.opsBeforeStart.
func (p *LaterChanges) readChanges(ctx context.Context) error {
	if p.startSeq == p.lastSeq {
		return nil
	}
	log, err := p.db.openSecondLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if err := p.db.jumpToChange(log, p.startSeq); err != nil {
		return err
	}
	err = log.Read(func(r *wal.Record) error {
		if r.Seq > p.lastSeq {
			return errStopReplay
		}
		switch {
		case r.Seq%1024 == 0 && ctx.Err() != nil:
			return ctx.Err()
		case r.Type == wal.TypeSeal:
			return nil
		case r.Type != recordTypeChange:
			return errReadFromStart
		}
		return eachOpHead(r.Body, func(op opHead) error { return p.addOpAfterStart(op) })
	})
	if err == errStopReplay {
		err = nil
	}
	slices.SortStableFunc(p.opsBeforeStart, compareEarlierOps)
	return err
}

// jumpToChange moves the position of a log to the end of a change's record.
func (d *DB) jumpToChange(log *wal.Log, seq uint64) error {
	if h := log.Header(); seq == h.BaseSeq {
		return log.JumpToRecord(0, seq, h.BaseChainHash, 0)
	}
	d.logmu.RLock()
	offset, ok, err := d.recordOffset(seq)
	d.logmu.RUnlock()
	if err != nil || !ok {
		return cmp.Or(err, errReadFromStart)
	}
	r, err := log.RecordAt(offset)
	if err != nil {
		return err
	}
	return log.JumpToRecord(offset, seq, r.ChainHash, 0)
}

// addOpAfterStart records an op, that is, a change of one entry. The op must belong to a change after the change
// startSeq. addOpAfterStart adds the entry's ID to p.changedIDs. If the op is the first op on the entry after startSeq,
// it also adds the number of the entry's previous version to p.opsBeforeStart.
//
// An op that adds or restores an entry may use a name that belonged to an entry with another ID before. addOpAfterStart
// then needs the entry's name. It returns errReadFromStart if this name was erased from the log.
func (p *LaterChanges) addOpAfterStart(op opHead) error {
	p.changedIDs.Add(op.entryID)
	if op.prevSeq == 0 || op.prevSeq > p.startSeq {
		return nil
	}
	e := opBeforeStart{seq: op.prevSeq, entryID: op.entryID, precedesAdd: op.verb == store.VerbAdd}
	if op.verb == store.VerbRestore || e.precedesAdd {
		// The name may have belonged to an entry with another ID before.
		if op.isErased {
			return errReadFromStart
		}
		e.name = string(op.name)
	}
	p.opsBeforeStart = append(p.opsBeforeStart, e)
	return nil
}

func compareEarlierOps(a, b opBeforeStart) int {
	return cmp.Or(cmp.Compare(a.seq, b.seq), cmp.Compare(a.entryID, b.entryID))
}

// EntryAtStart is an entry in an earlier version.
type EntryAtStart struct {
	*store.Entry
	RecordOffset int64 // offset of the record with this version
}

// EntriesAtStart yields the entries that have changed since the change that was passed to [DB.LaterChanges]. It yields
// each entry in the version that the entry had right after that change, once and in no particular order. It leaves out
// entries that did not exist then. The caller must call the function isValid after the iteration. If isValid returns
// false, the log was rewritten meanwhile, or it does not show which version an entry had. The caller must then use
// [DB.AsOf].
func (p *LaterChanges) EntriesAtStart(
	ctx context.Context,
) (entries iter.Seq2[EntryAtStart, error], isValid func() bool) {
	isUsable := true
	return func(yield func(EntryAtStart, error) bool) {
		err := p.yieldEarlierEntries(ctx, func(e EntryAtStart) bool { return yield(e, nil) })
		switch {
		case err == nil, err == errStopReplay:
		case isLogRewriteError(err):
			isUsable = false
		default:
			yield(EntryAtStart{}, err)
		}
	}, func() bool { return isUsable }
}

// yieldEarlierEntries implements [LaterChanges.EntriesAtStart]. It returns errStopReplay if yield returned false.
func (p *LaterChanges) yieldEarlierEntries(ctx context.Context, yield func(EntryAtStart) bool) error {
	if len(p.opsBeforeStart) == 0 {
		return nil
	}
	log, err := p.db.openSecondLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if log.Header().BaseSeq > p.startSeq {
		// A compaction that ran since LaterChanges kept only later versions of the entries.
		return errReadFromStart
	}
	r := startEntryReader{db: p.db, log: log, ctx: ctx, yield: yield}
	for ops := p.opsBeforeStart; len(ops) > 0; {
		inBase, _ := slices.BinarySearchFunc(ops, log.Header().BaseSeq+1, func(op opBeforeStart, seq uint64) int {
			return cmp.Compare(op.seq, seq)
		})
		if err := r.readInitialEntries(ops[:inBase]); err != nil {
			return err
		}
		// If the content of a version was erased from the log, readChanges cannot yield the entry. It returns the op
		// that wrote the entry's previous version. The next iteration of the loop reads this op.
		ops, err = r.readChanges(ops[inBase:])
		if err != nil {
			return err
		}
	}
	return nil
}

// startEntryReader reads earlier versions from a log.
type startEntryReader struct {
	db         *DB
	log        *wal.Log
	ctx        context.Context
	yield      func(EntryAtStart) bool
	yieldedIDs idset.Set
}

// yieldEntryOnce yields an entry unless it was yielded before.
func (r *startEntryReader) yieldEntryOnce(e *store.Entry, offset int64) error {
	if r.yieldedIDs.Has(e.ID) {
		return nil
	}
	r.yieldedIDs.Add(e.ID)
	if !r.yield(EntryAtStart{e, offset}) {
		return errStopReplay
	}
	return nil
}

// readInitialEntries yields the entries that were written by the ops, if the log still contains these entries. All ops
// must be older than the last compaction. The compaction kept only each entry's newest version, in records at the start
// of the log (the base). An entry that is missing in the base was removed or redacted, and is not yielded. If an op has
// a name and does not add an entry, readInitialEntries returns errReadFromStart, because the base may contain another
// entry with the same name.
func (r *startEntryReader) readInitialEntries(ops []opBeforeStart) error {
	if len(ops) == 0 {
		return nil
	}
	var ids idset.Set
	for _, op := range ops {
		if op.name != "" && !op.precedesAdd {
			// The start of the compacted log may contain another entry with the same name, so this method could return
			// the wrong entry.
			return errReadFromStart
		}
		ids.Add(op.entryID)
	}
	log, err := r.db.openSecondLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if log.Header().BaseSeq != r.log.Header().BaseSeq {
		return errReadFromStart // Another compaction has run since r.log was opened.
	}
	isAtEnd := false
	err = log.Read(func(record *wal.Record) error {
		isAtEnd = record.Type != wal.TypeBaseSection
		if isAtEnd {
			return errStopReplay
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		es, err := decodeEntries(record, ids.Has)
		if err != nil {
			return r.db.unknownBodyError(record, err)
		}
		for _, e := range es {
			if err := r.yieldEntryOnce(e, record.FileOffset); err != nil {
				return err
			}
		}
		return nil
	})
	if isAtEnd && err == errStopReplay {
		return nil
	}
	return err
}

// readChanges passes the entries that the ops wrote to r.yield. All ops must belong to changes after the last
// compaction, because the log contains no separate records of older changes. If an op was erased, its entry is not
// yielded. Instead, the result contains the entry's previous op, which the caller must read next.
func (r *startEntryReader) readChanges(ops []opBeforeStart) (previousOps []opBeforeStart, err error) {
	reader := r.log.NewReader()
	for len(ops) > 0 {
		seq, n := ops[0].seq, 1
		for n < len(ops) && ops[n].seq == seq {
			n++
		}
		r.db.logmu.RLock()
		offset, ok, err := r.db.recordOffset(seq)
		r.db.logmu.RUnlock()
		err = cmp.Or(err, r.ctx.Err())
		if err == nil && !ok {
			err = errReadFromStart
		}
		if err != nil {
			return nil, err
		}
		record, err := reader.RecordAt(offset)
		if err != nil {
			return nil, err
		}
		if record.Seq != seq || record.Type != recordTypeChange {
			return nil, errReadFromStart
		}
		more, err := r.readChange(&record, ops[:n])
		if err != nil {
			return nil, err
		}
		previousOps, ops = append(previousOps, more...), ops[n:]
	}
	slices.SortStableFunc(previousOps, compareEarlierOps)
	return previousOps, nil
}

// readChange reads the change in the argument record. It uses the reader r to yield the entries that the change wrote,
// but only the entries that the list ops names. An op is the part of a change that concerns one entry.
//
// If the op of an entry was erased, readChange does not yield the entry. Instead, it adds the entry's last op in an
// earlier change to the result previousOps. The caller must read the ops in previousOps next.
func (r *startEntryReader) readChange(
	record *wal.Record,
	ops []opBeforeStart,
) (previousOps []opBeforeStart, err error) {
	var heads []opHead
	err = eachOpHead(record.Body, func(op opHead) error {
		heads = append(heads, op)
		return nil
	})
	if err != nil {
		return nil, r.db.unknownBodyError(record, err)
	}
	// Ops of the change by entry ID, because a change may have very many ops.
	var opsByID map[uint64][]int
	if len(heads)*len(ops) > maxOpComparisons {
		opsByID = make(map[uint64][]int, len(heads))
		for i, h := range heads {
			opsByID[h.entryID] = append(opsByID[h.entryID], i)
		}
	}
	for i, op := range ops {
		if i > 0 && op == ops[i-1] {
			continue
		}
		candidates := heads
		if opsByID != nil && op.name == "" {
			candidates = nil
			for _, i := range opsByID[op.entryID] {
				candidates = append(candidates, heads[i])
			}
		}
		more, err := r.readOp(record, candidates, op)
		if err != nil {
			return nil, err
		}
		previousOps = append(previousOps, more...)
	}
	return previousOps, nil
}

// maxOpComparisons is the maximum number of comparisons to find certain ops in a change. Each wanted op is compared
// with each op in the change. If this takes more comparisons, the ops in the change are first put into a map by entry
// ID.
const maxOpComparisons = 64

// readOp yields the entry that the op wrote. An op is the part of a change that concerns one entry. record contains the
// change, and heads describes the ops of this change. If the change has several ops on the entry, readOp yields the
// result of the last op that was not erased. It yields nothing if this op removes the entry. If all ops on the entry
// were erased, the result previousOps contains the entry's previous op, which the caller must read next.
func (r *startEntryReader) readOp(
	record *wal.Record,
	heads []opHead,
	op opBeforeStart,
) (previousOps []opBeforeStart, err error) {
	var first, last *opHead // first op of the entry in the change, and its last op that was not erased
	for i := range heads {
		h := &heads[i]
		if !op.matches(h) {
			continue
		}
		if first == nil {
			first = h
		}
		if !h.isErased {
			last = h
		}
	}
	switch {
	case first == nil:
		return nil, errReadFromStart
	case last == nil && first.prevSeq != 0:
		op.seq = first.prevSeq
		return []opBeforeStart{op}, nil
	case last == nil, last.verb == store.VerbRemove:
		return nil, nil
	}
	e, err := decodeOpOfRecord(record, last)
	if err != nil {
		return nil, r.db.unknownBodyError(record, err)
	}
	return nil, r.yieldEntryOnce(e, record.FileOffset)
}

// matches reports whether h, the head of an op in the log, concerns the same entry as p. If p has no name, or if the op
// in the log was erased and therefore lacks its name, matches compares the entry IDs. Otherwise it compares the names.
func (p *opBeforeStart) matches(h *opHead) bool {
	if p.name == "" || h.isErased {
		return h.entryID == p.entryID
	}
	return string(h.name) == p.name
}

// decodeOpOfRecord returns the entry that an op of a record wrote.
func decodeOpOfRecord(r *wal.Record, op *opHead) (*store.Entry, error) {
	p, err := decodeOp(wire.Field{FieldNumber: recordFieldOp, IsBytes: true, BytesValue: string(op.encodedOp)})
	if err != nil {
		return nil, err
	}
	source, err := decodeBodySource(r.Body)
	if err != nil {
		return nil, err
	}
	v := recordBody{source: source, ops: []loggedOp{p}}
	v.setWriteMetadata(r.Seq, time.Unix(0, r.TimeUnixNano).UTC())
	return p.entry, nil
}
