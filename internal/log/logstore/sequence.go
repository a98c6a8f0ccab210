// This file implements positions in the history, and lists the changes since a position.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// Position implements [store.Sequencer].
func (d *DB) Position(ctx context.Context) (store.Position, error) {
	if err := d.Refresh(ctx); err != nil {
		return "", err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.recentDeltas.newestPosition, nil
}

// Since implements [store.Sequencer].
func (d *DB) Since(ctx context.Context, p store.Position) iter.Seq2[store.Delta, error] {
	return func(yield func(store.Delta, error) bool) {
		if err := d.checkOpenAndContext(ctx); err != nil {
			yield(store.Delta{}, err)
			return
		}
		d.mu.RLock()
		steps, ok := d.recentDeltas.findLaterDeltaSteps(p)
		last, _ := logpos.DecodePosition(d.recentDeltas.newestPosition)
		d.mu.RUnlock()
		if !ok {
			err := d.readSince(p, last.Seq, func(delta store.Delta) bool { return yield(delta, nil) })
			if err != nil && err != errStopReplay {
				yield(store.Delta{}, err)
			}
			return
		}
		for _, s := range steps {
			for _, delta := range s.deltas {
				if !yield(delta, nil) {
					return
				}
			}
		}
	}
}

// readSince reads changes from the log and passes them to yield. It begins after the position start, and ends with the
// change whose number is lastSeq. If the log does not contain the position, the error matches [store.ErrPosition].
func (d *DB) readSince(start store.Position, lastSeq uint64, yield func(store.Delta) bool) error {
	unknown := fmt.Errorf("%w: %s", store.ErrPosition, d.path)
	p, ok := logpos.DecodePosition(start)
	isPosition := ok || start == ""
	if !isPosition || p.Seq > lastSeq {
		return unknown
	}
	log, err := d.openSecondLog()
	if err != nil {
		return err
	}
	defer log.Close()
	if start == "" {
		// An empty position means the start of the history, before the first change.
		p = logpos.Position{LogID: log.Header().ID, ChainHash: wal.FirstChainHash(log.Header().ID)}
	}
	if !log.Exists() || log.Header().ID != p.LogID {
		return unknown
	}
	d.logmu.RLock()
	at := d.recordOffsetOrLast(p.Seq, p.FileOffset)
	d.logmu.RUnlock()
	switch err := log.JumpToRecord(at, p.Seq, p.ChainHash, 0); {
	case errors.As(err, new(*wal.CorruptError)):
		return unknown
	case err != nil:
		return d.convertWALError(err)
	}
	if p.Seq == lastSeq {
		return nil
	}
	reader := &deltaReader{db: d, yield: yield, positionErr: unknown, replacedVersions: previousVersions{db: d}}
	_, err = d.replayLog(log, reader, nil, lastSeq)
	return err
}

// deltaReader reads changes from the log and yields how each change affected entries. It does not build the state of
// all entries.
type deltaReader struct {
	db          *DB
	yield       func(store.Delta) bool
	positionErr error
	// Reads earlier versions of entries. An earlier version is needed if an undo restored an entry and so removed
	// another entry that had the same name.
	replacedVersions previousVersions
}

// applyRecord implements recordApplier.
func (t *deltaReader) applyRecord(r *wal.Record, v *recordBody) ([]store.Delta, error) {
	if isRedactionOrRecovery(r, v) {
		return nil, t.positionErr
	}
	v.source.Time = time.Unix(0, r.TimeUnixNano).UTC()
	if slices.ContainsFunc(v.ops, func(p loggedOp) bool { return p.verb == store.VerbRestore }) {
		t.replacedVersions.wantedNames = nil
		t.replacedVersions.addNames(v)
	}
	for _, p := range v.ops {
		deltas := []store.Delta{{ID: p.entry.ID, Entry: p.entry}}
		switch {
		case p.verb == store.VerbRemove:
			deltas[0].Entry = nil
		case p.verb == store.VerbRestore && p.previousChange != 0:
			// An undo can restore an entry although another entry has its name now. The entry that has the name now is
			// then removed.
			before, err := t.replacedVersions.versionsInChange(p.previousChange, p.entry.Name, p.entry.ID)
			if err != nil {
				return nil, err
			}
			for _, v := range before {
				if v.Entry.ID != p.entry.ID {
					deltas = slices.Insert(deltas, 0, store.Delta{ID: v.Entry.ID})
				}
			}
		}
		p.entry.Version = r.Seq
		p.entry.Updated = v.source.Time
		p.entry.Source = v.source
		for _, delta := range deltas {
			if !t.yield(delta) {
				return nil, errStopReplay
			}
		}
	}
	return nil, nil
}
