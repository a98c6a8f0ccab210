// This file checks a store. It reads the whole file, verifies the hash chain, and compares the entries in the file
// with the state in memory.

package logstore

import (
	"bytes"
	"cmp"
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

	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Check implements [store.Checker].
//
// Other processes may write, compact or redact during the check. A problem that one pass over the files finds may
// therefore be only an unfinished write. So Check repeats a pass that found a problem, and tries to block all other
// writers during the repetition. It returns the result of the first pass for which one of these conditions holds:
//   - The pass found no problem.
//   - The writers were blocked.
//   - The pass found the same problems as the pass before.
//
// After maxCheckPasses repetitions, Check returns the last result with an error. The error matches [store.ErrBusy] if
// no other error occurred.
func (d *DB) Check(ctx context.Context) (store.CheckReport, error) {
	look, err := d.runCheckPass(ctx)
	if err == nil && look.foundNoProblem() {
		return look.report, nil
	}
	if ctx.Err() != nil {
		return look.report, ctx.Err()
	}
	for range maxCheckPasses {
		before, beforeErr := look, err
		quiet, lerr := d.withWritersBlocked(ctx, func() { look, err = d.runCheckPass(ctx) })
		switch {
		case ctx.Err() != nil:
			return look.report, ctx.Err()
		case lerr != nil || quiet, err == nil && look.foundNoProblem():
			return look.report, cmp.Or(lerr, err)
		case look.hasSameProblems(before) && (err == nil) == (beforeErr == nil):
			// Another process held the lock during the whole check but wrote nothing.
			return look.report, err
		}
	}
	return look.report, cmp.Or(err, fmt.Errorf("%w: others write faster than it can be checked", store.ErrBusy))
}

// While another process can write, a check of the store may see its half-written changes, so the check is repeated.
// maxCheckPasses is the maximum number of repetitions.
const maxCheckPasses = 10

// checkPass is the result of reading and comparing the store once.
type checkPass struct {
	report            store.CheckReport
	isComparedWithLog bool // everything was compared with the log, or the log is damaged
}

// foundNoProblem reports whether the check compared everything and found no problem.
func (c checkPass) foundNoProblem() bool { return c.isComparedWithLog && len(c.report.Problems) == 0 }

// hasSameProblems reports whether two passes over the store found the same problems at the same last change.
func (c checkPass) hasSameProblems(o checkPass) bool {
	return c.isComparedWithLog == o.isComparedWithLog && c.report.Last == o.report.Last &&
		slices.Equal(c.report.Problems, o.report.Problems)
}

// withWritersBlocked calls fn while no process can write to, compact or redact the log. If this cannot be ensured, it
// calls fn anyway, and areWritersBlocked is false. There are these reasons: the lock file is missing or cannot be
// opened, the file system does not support locks, or another process holds the lock for longer than d.opts.LockWait. If
// ctx is done while withWritersBlocked waits for the lock, it returns an error and does not call fn.
func (d *DB) withWritersBlocked(ctx context.Context, fn func()) (areWritersBlocked bool, err error) {
	name := wal.LockName(d.logName)
	if _, err := d.fs.Stat(name); err != nil {
		// Without a lock file, the store cannot be locked. Do not create the file, because the caller, a check of the
		// store, must only read.
		fn()
		return false, nil
	}
	lock, err := d.fs.OpenLock(name)
	if err != nil {
		fn() // The lock file is not writable, so the store cannot be locked.
		return false, nil
	}
	defer lock.Close()
	areWritersBlocked, _, err = vfs.AcquireLock(ctx, lock, d.opts.LockWait)
	if err != nil && ctx.Err() != nil {
		return areWritersBlocked, err
	}
	if err != nil {
		// The file system does not support locks, so another process may write during the check.
		areWritersBlocked = false
	}
	fn()
	return areWritersBlocked, nil
}

// runCheckPass checks the store once and returns the result. It compares the log with the entries that the store
// returns and with the files that were made from the log, such as the snapshot. It does not lock the store.
func (d *DB) runCheckPass(ctx context.Context) (pass checkPass, err error) {
	pass.report.Path = d.path
	// Read the lock file first. Otherwise a change by another process after the log was read would look like a lost
	// change.
	meta, _ := wal.ReadLockFileContent(d.fs, d.logName)
	have, herr := d.openListing(ctx, store.Filter{})
	if have != nil {
		defer have.close()
	}
	var damaged *store.CorruptError
	if herr != nil && !errors.As(herr, &damaged) {
		return pass, herr
	}
	// Open these files before the log is read. Otherwise they may be newer than the log.
	files := d.openCheckedFiles(ctx)
	defer files.close()
	log, err := d.openVerifiedLog()
	if err != nil && !errors.As(err, &damaged) {
		return pass, err
	}
	if err != nil {
		pass.report.Damaged, pass.isComparedWithLog = true, true
		pass.report.Problems = []store.Problem{newDamageProblem(damaged)}
		return pass, nil
	}
	defer log.Close()
	var wg sync.WaitGroup
	replay := &logStateComparer{newVersionState(log, d.countEntries()), files.comparisons}
	seed := replay.seed // Copy the seed, because replay changes while the goroutine below runs.
	var answered []store.Problem
	if herr == nil {
		var hashes []uint64
		wg.Go(func() { hashes, herr = have.hashEntries(ctx, d, seed) })
		compare := func(p *versionState) error {
			wg.Wait()
			if herr == nil {
				answered = p.compareHashes(hashes)
			}
			hashes = nil // Free the memory.
			return nil
		}
		c := &stateComparison{changeNumber: have.lastSeq, compare: compare}
		if !log.Exists() {
			// The log does not exist, so the store must return no entries. 0 means the state before the first change.
			c.changeNumber = 0
		}
		replay.stateComparisons = append(replay.stateComparisons, c)
	}
	pass.report, err = d.checkLog(ctx, log, meta, replay)
	wg.Wait()
	if err != nil {
		return pass, err
	}
	if herr != nil {
		if !errors.As(herr, &damaged) || !pass.report.Damaged {
			// The damage in the log, if any, does not explain this error, so return the error.
			return pass, herr
		}
	}
	pass.isComparedWithLog = pass.report.Damaged || replay.areStateComparisonsDone()
	if !pass.report.Damaged {
		pass.report.Problems = append(pass.report.Problems, answered...)
	}
	if len(pass.report.Problems) == 0 {
		pass.report.Problems, err = files.findProblems(ctx)
	}
	pass.report.Problems = append(pass.report.Problems, d.findStaleFiles()...)
	return pass, err
}

// countEntries returns the number of entries in the store's current state in memory.
func (d *DB) countEntries() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.st.len()
}

// checkLog verifies the whole log, passes its records to p, and compares the end of the log with lockContent, the
// content of the lock file. Damage is returned as a problem in the report, not as an error.
func (d *DB) checkLog(
	ctx context.Context,
	log *wal.Log,
	lockContent wal.LockFileContent,
	p *logStateComparer,
) (store.CheckReport, error) {
	rep, err := d.readAndVerifyLog(ctx, log, p)
	if !log.Exists() {
		return rep, err
	}
	var c *wal.CorruptError
	if errors.As(err, &c) {
		var damaged *store.CorruptError
		errors.As(d.convertWALError(c), &damaged)
		rep.Damaged = true
		rep.Problems = slices.Insert(rep.Problems, 0, newDamageProblem(damaged))
		return rep, nil
	}
	if err != nil {
		return rep, d.convertWALError(err)
	}
	n, err := log.TornBytes()
	if err != nil || n == 0 {
		return rep, d.convertWALError(err)
	}
	torn := store.Problem{Offset: log.EndOffset(),
		What: fmt.Sprintf(
			"%d bytes after the last change are what an interrupted write left; nothing acknowledged is in them",
			n,
		),
		Mend: "nothing to do: the next change moves them to " + d.path + ".lost"}
	if lockContent.DurableSeq > log.LastSeq() && lockContent.LogID == fmt.Sprintf("%x", log.Header().ID) {
		rep.Damaged = true
		torn.What = fmt.Sprintf(
			"%d bytes after change %d are no change, and change %d had been written",
			n,
			log.LastSeq(),
			lockContent.DurableSeq,
		)
		torn.Mend = damageAdvice
	}
	rep.Problems = append(rep.Problems, torn)
	return rep, nil
}

// damageAdvice tells the user what to do about a damaged log.
const damageAdvice = "nothing was changed; oxbow recover saves what can be read into a new file, or put a backup in " +
	"the place of this one"

// newDamageProblem returns the problem to report for damage in the log.
func newDamageProblem(c *store.CorruptError) store.Problem {
	what := c.Reason
	switch n := len(c.Lost); {
	case n == 1:
		what = fmt.Sprintf("%s (change %d)", c.Reason, c.Lost[0])
	case n > 1:
		what = fmt.Sprintf("%s (changes %d to %d)", c.Reason, c.Lost[0], c.Lost[n-1])
	}
	return store.Problem{Offset: c.Offset, What: what, Mend: damageAdvice}
}

// readAndVerifyLog reads the whole log and verifies the hash chain of its records. It passes each record to p, which
// compares the resulting state with the state in memory. At the first damage that may have lost a change, it stops and
// returns an error. Less serious damage is listed in the report's Problems: for example, if entries that the last
// compaction kept were edited.
func (d *DB) readAndVerifyLog(ctx context.Context, log *wal.Log, p *logStateComparer) (store.CheckReport, error) {
	rep := store.CheckReport{Path: d.path, First: log.Header().BaseSeq + 1}
	base := sha256.New()
	// hash of the entries that the last compaction kept, as recorded in the change that the compaction added
	var vouched []byte
	var at int64
	if !log.Exists() {
		return rep, p.compareAtCurrentChange()
	}
	tell := progress.Reporter(ctx)
	err := log.Read(func(r *wal.Record) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		tell(progress.State{Unit: progress.UnitBytes, DoneCount: r.FileOffset, TotalCount: log.Size()})
		rep.Records++
		if r.Type == wal.TypeSeal {
			return nil
		}
		if r.Type == wal.TypeBaseSection {
			base.Write(r.Body)
		}
		v, err := decodeBody(r.Body)
		if err != nil {
			return d.unknownBodyError(r, err)
		}
		if v.initialEntriesHash != nil {
			vouched, at = v.initialEntriesHash, r.FileOffset
		}
		return p.applyRecord(r, v)
	})
	if err == nil {
		err = p.compareAtCurrentChange()
	}
	wasCompacted := err == nil && rep.First > 1
	if wasCompacted && !bytes.Equal(vouched, base.Sum(nil)) {
		rep.Problems = append(rep.Problems, store.Problem{Offset: at,
			What: "the entries kept by the last compaction are not those that it vouched for: they were edited",
			Mend: "restore a backup; or, to accept what is there, oxbow recover --replace"})
	}
	rep.Entries = p.entryCount()
	rep.Bytes = log.EndOffset()
	rep.Last = log.LastSeq()
	chain := log.LastChainHash()
	rep.Head = fmt.Sprintf("%x", chain[:])
	for _, g := range log.Gaps() {
		if g.IsIncompleteSeal {
			continue
		}
		what := fmt.Sprintf("%d bytes are damaged; they held no change", g.EndOffset-g.StartOffset)
		if g.EndOffset-g.StartOffset == wal.RecordOverhead {
			what = "a commit mark is damaged; it held no change, but it may be the first sign of a bad disk"
		}
		rep.Problems = append(rep.Problems, store.Problem{Offset: g.StartOffset, What: what,
			Mend: "no change is lost, and oxbow recover --replace writes the file anew; then look after the disk"})
	}
	return rep, err
}

// findStaleFiles returns a problem for each temporary file that an interrupted rewrite of the log left. It ignores the
// temporary files for derived files, because a process may be writing such a file, and the next write of the derived
// file removes the temporary file.
func (d *DB) findStaleFiles() []store.Problem {
	dir, base := path.Split(d.logName)
	es, err := d.fs.ReadDir(path.Clean(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return []store.Problem{{Offset: -1, What: "the directory of the store cannot be read: " +
			err.Error(), Mend: "mend its permissions"}}
	}
	derived := []string{SnapshotSuffix}
	for _, k := range d.opts.DerivedFileKinds {
		derived = append(derived, k.Suffix)
	}
	var ps []store.Problem
	for _, e := range es {
		if slices.ContainsFunc(derived, func(suffix string) bool {
			return strings.HasPrefix(e.Name(), base+suffix+".")
		}) {
			continue
		}
		isTemp := strings.HasSuffix(e.Name(), ".tmp") || strings.HasSuffix(e.Name(), ".tmp"+SnapshotSuffix)
		if !isTemp || !strings.HasPrefix(e.Name(), base+".") {
			continue
		}
		if !d.isRecentFile(e) {
			ps = append(ps, store.Problem{Offset: -1, What: "a rewrite was interrupted and left " + e.Name(),
				Mend: "nothing needs it; when no other oxbow is running: rm " +
					text.ShellQuote(path.Join(path.Dir(d.path), e.Name()))})
		}
	}
	return ps
}

// isRecentFile reports whether a file was changed in the last minute. Such a file may belong to a compaction that is
// still running.
func (d *DB) isRecentFile(e fs.DirEntry) bool {
	fi, err := e.Info()
	return err == nil && d.opts.Clock().Sub(fi.ModTime()).Abs() < time.Minute
}
