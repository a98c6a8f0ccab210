// Recovery: what can be saved of a damaged store, and going on from an older one.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// lose counts the changes from first to last as lost in a report.
func lose(r *store.RecoverReport, first, last uint64) {
	if n := len(r.Lost); n > 0 && r.Lost[n-1][1]+1 == first {
		r.Lost[n-1][1] = last
		return
	}
	r.Lost = append(r.Lost, [2]uint64{first, last})
}

// Recover reads what can be read of the store in the file path, however
// damaged, and writes it to the new file out. The damaged file is not changed.
// Each change holds whole entries, so that a lost one costs only what it
// itself had written. The history in the new file begins after the last
// change that was lost.
func Recover(ctx context.Context, path, out string, o Options) (store.RecoverReport, error) {
	opts := o.orDefault()
	rep := store.RecoverReport{Out: out}
	fsys, name, done, err := locate(path, opts)
	if err != nil {
		return rep, err
	}
	defer done()
	d := &DB{fs: fsys, name: name, path: path, opts: opts, current: current{st: newState()}}

	st, atBase := newState(), newState()
	kept := []wal.Record{}
	var at, base uint64 // the last change read; the last one before those kept
	var chain [32]byte  // at base
	sal, err := wal.Salvage(fsys, name, d.logOptions(), func(r *wal.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if r.Type == wal.Seal {
			if r.Seq > at { // it vouches for changes that are not there
				lose(&rep, at+1, r.Seq)
				kept, at, base, chain = kept[:0], r.Seq, r.Seq, r.Chain
				atBase = st.clone()
			}
			return nil
		}
		if r.Type != wal.Base && r.Seq <= at && at > 0 {
			return nil // a change met twice
		}
		v, err := decodeBody(r.Body)
		if err != nil {
			return d.formError(r, err)
		}
		if r.Type == wal.Base {
			st.apply(r.Seq, time.Unix(0, r.Time).UTC(), v)
			at, base, chain = r.Seq, r.Seq, r.Chain
			atBase = st.clone()
			return nil
		}
		st.apply(r.Seq, time.Unix(0, r.Time).UTC(), v)
		if r.Seq != at+1 {
			lose(&rep, at+1, r.Seq-1)
			kept, base, chain = kept[:0], r.Seq, r.Chain
			atBase = st.clone()
		} else {
			c := *r
			c.Body = slices.Clone(r.Body)
			kept = append(kept, c)
		}
		at = r.Seq
		rep.Changes++
		return nil
	})
	if err != nil {
		return rep, d.describe(err)
	}
	if sal.Header.ID == ([16]byte{}) {
		// No chain is known before the first change: what it left is the base.
		if _, err := io.ReadFull(opts.Rand, sal.Header.ID[:]); err != nil {
			return rep, err
		}
		if len(kept) > 0 && base == 0 {
			first := kept[0]
			v, err := decodeBody(first.Body)
			if err != nil {
				return rep, d.formError(&first, err)
			}
			atBase.apply(first.Seq, time.Unix(0, first.Time).UTC(), v)
			base, chain, kept = first.Seq, first.Chain, kept[1:]
		}
	}
	for _, b := range sal.Bad {
		rep.BadBytes += b[1] - b[0]
		rep.Base = rep.Base || b[0] < sal.Header.BaseEnd
	}
	rep.Header, rep.Entries, rep.First, rep.Last = sal.Guessed, len(st.order), base+1, at
	if len(rep.Lost) == 0 && base == 0 {
		chain = sal.Header.Chain
		if sal.Guessed {
			chain = wal.FirstChain(sal.Header.ID)
		}
	}
	return rep, d.describe(d.writeRecovered(ctx, out, sal.Header, base, chain, atBase, kept, rep))
}

// writeRecovered makes the new file: the state at the base, the changes after
// it, and one that says what happened.
func (d *DB) writeRecovered(ctx context.Context, out string, h wal.Header, base uint64, chain [32]byte, st *state, kept []wal.Record, rep store.RecoverReport) error {
	fsys, name, done, err := locate(out, d.opts)
	if err != nil {
		return err
	}
	defer done()
	baseRecords, sum := baseBodies(st)
	h.Base, h.Chain = base, chain
	if base == 0 {
		baseRecords = nil
	}
	last, lastChain := base, chain
	if n := len(kept); n > 0 {
		last, lastChain = kept[n-1].Seq, kept[n-1].Chain
	}
	v := &body{source: d.source(ctx), note: fmt.Sprintf("recovery: %d changes read, %d stretches of them lost, %d bytes unreadable",
		rep.Changes, len(rep.Lost), rep.BadBytes)}
	if baseRecords != nil {
		v.base = sum[:]
	}
	r := wal.Record{Seq: last + 1, Time: d.opts.Clock().UnixNano(), Type: typeChange}
	var digest [32]byte
	r.Body, digest = encodeBody(v)
	r.Chain = wal.Link(lastChain, r.Seq, r.Time, r.Type, digest)
	return wal.Make(fsys, name, d.logOptions(), h, func(emit func(wal.Record) error) error {
		for _, b := range baseRecords {
			if err := emit(wal.Record{Seq: base, Time: r.Time, Type: wal.Base, Body: b, Chain: chain}); err != nil {
				return err
			}
		}
		for _, k := range append(kept, r) {
			if err := emit(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// Accept goes on from a store that went back to an earlier state
// ([store.ErrRolledBack]), as when a backup was restored on purpose: the changes that
// are missing are given up, and their numbers are used again.
func (d *DB) Accept(ctx context.Context) error {
	d.writerMu.Lock()
	defer d.writerMu.Unlock()
	d.logmu.Lock()
	if errors.Is(d.broken, store.ErrRolledBack) {
		d.broken = nil
		if err := d.reload(false); err != nil {
			d.logmu.Unlock()
			return err
		}
	}
	d.logmu.Unlock()
	return d.locked(ctx, func() error { d.log.Accept(); return nil })
}
