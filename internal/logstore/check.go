// The examination of a store: the whole file, its
// chain, and the state in memory against it.

package logstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// Check implements [store.Checker].
func (d *DB) Check(ctx context.Context) (store.CheckReport, error) {
	rep, _, err := d.CheckEntries(ctx)
	return rep, err
}

// CheckEntries is Check, and returns the entries that the store answers with, too.
func (d *DB) CheckEntries(ctx context.Context) (store.CheckReport, []*store.Entry, error) {
	rep := store.CheckReport{Path: d.path}
	// A file that changed since it was read is another process's write, so
	// the comparison waits for one that did not.
	for range 10 {
		was, _ := wal.ReadLockMeta(d.fs, d.name) // first: what is appended after it is no loss
		log, err := d.another(true)
		if err != nil {
			return rep, nil, err
		}
		var have []*store.Entry
		var herr error
		var last uint64
		var wg sync.WaitGroup
		wg.Go(func() {
			have, herr = store.EntriesOf(ctx, d)
			_, last = d.span()
		})
		p, r, err := d.examine(ctx, log, was)
		if wg.Wait(); herr != nil {
			return rep, nil, errors.Join(herr, log.Close())
		}
		if err == nil && log.Seq() == last {
			r.Problems = append(r.Problems, compareStates(have, p.st.order)...)
		}
		same := err != nil || log.Seq() == last
		if cerr := log.Close(); cerr != nil {
			return rep, nil, cerr
		}
		if same {
			r.Problems = append(r.Problems, d.staleFiles()...)
			if err != nil || len(r.Problems) > 0 {
				return r, have, err
			}
			r.Problems, err = d.checkDerived(ctx, p)
			return r, have, err
		}
	}
	return rep, nil, fmt.Errorf("%w: others write faster than it can be checked", store.ErrBusy)
}

// checkDerived says what is wrong with the snapshot, and with what others make.
func (d *DB) checkDerived(ctx context.Context, p *placing) (ps []store.Problem, err error) {
	var snapshot []store.Problem
	var serr error
	var wg sync.WaitGroup
	wg.Go(func() { snapshot, serr = d.checkSnapshot(p) })
	for _, k := range d.opts.Derived {
		found, kerr := k.Check(ctx, checkedFile{d.Derived(k.Suffix), p})
		ps, err = append(ps, found...), errors.Join(err, kerr)
	}
	wg.Wait()
	return append(snapshot, ps...), errors.Join(serr, err)
}

// examine reads the whole log, checking all of it against what the lock file said before.
// Damage is a problem, no error.
func (d *DB) examine(ctx context.Context, log *wal.Log, was wal.LockMeta) (*placing, store.CheckReport, error) {
	p, rep, err := d.readThrough(ctx, log)
	if !log.Exists() {
		return p, rep, err
	}
	var c *wal.CorruptError
	if errors.As(err, &c) {
		rep.Problems = slices.Insert(rep.Problems, 0, store.Problem{Offset: c.Offset, What: d.describe(err).Error(),
			Mend: "restore a backup, or export what can still be read"})
		err = nil
	}
	if n, terr := log.Torn(); terr == nil && n > 0 && c == nil {
		torn := store.Problem{Offset: log.End(),
			What: fmt.Sprintf("%d bytes behind the last change are what an interrupted write left; nothing acknowledged is in them", n),
			Mend: "nothing to do: the next change keeps them aside in " + d.path + ".lost and cuts them off"}
		if was.Durable > log.Seq() && was.ID == fmt.Sprintf("%x", log.Header().ID) {
			torn.What = fmt.Sprintf("%d bytes after change %d are no change, and change %d had been written", n, log.Seq(), was.Durable)
			torn.Mend = "oxbow recover saves what can be read; or put a backup in the place of the file"
		}
		rep.Problems = append(rep.Problems, torn)
	}
	return p, rep, d.describe(err)
}

// readThrough reads the log up to the first damage, which is its error.
func (d *DB) readThrough(ctx context.Context, log *wal.Log) (*placing, store.CheckReport, error) {
	rep := store.CheckReport{Path: d.path, First: log.Header().Base + 1}
	p := newPlacing()
	base := sha256.New()
	var vouched []byte // the hash of the base, by the last compaction
	var at int64
	if !log.Exists() {
		return p, rep, nil
	}
	err := log.Read(func(r *wal.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		rep.Records++
		if r.Type == wal.Seal {
			return nil
		}
		if r.Type == wal.Base {
			base.Write(r.Body)
		}
		v, err := decodeBody(r.Body)
		if err != nil {
			return d.formError(r, err)
		}
		if v.base != nil {
			vouched, at = v.base, r.Offset
		}
		_, err = p.applyRecord(r, v)
		return err
	})
	if err == nil && rep.First > 1 && !bytes.Equal(vouched, base.Sum(nil)) {
		rep.Problems = append(rep.Problems, store.Problem{Offset: at,
			What: "the entries kept by the last compaction are not those that it vouched for: they were edited",
			Mend: "restore a backup, or accept what is there with a new compaction"})
	}
	rep.Entries, rep.Bytes, rep.Last = len(p.st.order), log.End(), log.Seq()
	chain := log.Chain()
	rep.Head = fmt.Sprintf("%x", chain[:])
	for _, g := range log.Gaps() {
		// A seal is never synced: a crash may lose it and keep the record after
		// it. That is no damage, and nothing was lost.
		if g[1]-g[0] == wal.Overhead {
			continue
		}
		rep.Problems = append(rep.Problems, store.Problem{Offset: g[0],
			What: fmt.Sprintf("%d bytes are damaged; they held no change", g[1]-g[0]),
			Mend: "oxbow compact writes the file anew; look after the disk"})
	}
	return p, rep, err
}

// compareStates says where the state in memory is not that of the file.
func compareStates(have, want []*store.Entry) []store.Problem {
	if len(have) != len(want) {
		return []store.Problem{{Offset: -1, What: fmt.Sprintf("%d entries are answered from, %d are in the file", len(have), len(want)),
			Mend: "this is a defect of oxbow: please report it; a restart reads the file anew"}}
	}
	for i, e := range have {
		if w := want[i]; e.Name != w.Name || e.Version != w.Version || !leftAs(e, put{verb: store.VerbUpdate, entry: w}) {
			return []store.Problem{{Offset: -1, What: fmt.Sprintf("entry %q in memory is not the one in the file", e.Name),
				Mend: "this is a defect of oxbow: please report it; a restart reads the file anew"}}
		}
	}
	return nil
}

// staleFiles finds the temporary files of interrupted rewrites of the log. Those of a
// derived file may be in the making, by this process too, and the next
// one that is made removes them.
func (d *DB) staleFiles() []store.Problem {
	dir, base := path.Split(d.name)
	es, err := d.fs.ReadDir(path.Clean(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []store.Problem{{Offset: -1, What: "the directory of the store cannot be read: " + err.Error(), Mend: "mend its permissions"}}
	}
	derived := []string{snapshotSuffix}
	for _, k := range d.opts.Derived {
		derived = append(derived, k.Suffix)
	}
	var ps []store.Problem
	for _, e := range es {
		if slices.ContainsFunc(derived, func(suffix string) bool { return strings.HasPrefix(e.Name(), base+suffix+".") }) {
			continue
		}
		if strings.HasPrefix(e.Name(), base+".") && (strings.HasSuffix(e.Name(), ".tmp") || strings.HasSuffix(e.Name(), ".tmp"+snapshotSuffix)) && !d.recentFile(e) {
			ps = append(ps, store.Problem{Offset: -1, What: "a rewrite was interrupted and left " + e.Name(),
				Mend: "when no other oxbow is running, remove it: nothing needs it"})
		}
	}
	return ps
}

// recentFile reports whether a file was written to in the last minute, as that of
// a compaction under way is.
func (d *DB) recentFile(e fs.DirEntry) bool {
	fi, err := e.Info()
	return err == nil && d.opts.Clock().Sub(fi.ModTime()).Abs() < time.Minute
}
