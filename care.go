// This file implements checking, redaction, backup and recovery of a memory.

package oxbow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/store"
)

// Check examines the store and compares the index with it. See [Checker].
func (m *Memory) Check(ctx context.Context) (CheckReport, error) {
	checker := m.capabilities.Checker
	if d := findLog(m.store); d != nil {
		checker = d
	}
	if checker == nil {
		return CheckReport{}, fmt.Errorf("%w: it has nothing to check", ErrUnsupported)
	}
	rep, err := checker.Check(ctx)
	if err != nil || rep.Damaged {
		return rep, err // do not compare the index with the entries, because the entries are damaged
	}
	missing, err := m.findUnindexedEntries(ctx)
	for _, e := range missing {
		rep.Problems = append(
			rep.Problems,
			Problem{Offset: -1, What: fmt.Sprintf("the index lacks version %d of entry %q", e.Version, e.Name),
				Mend: "this is a defect of oxbow: please report it; a restart builds the index again"},
		)
	}
	return rep, err
}

// findUnindexedEntries returns the entries that are missing in the index or have another version there.
func (m *Memory) findUnindexedEntries(ctx context.Context) (missing []*Entry, err error) {
	// An entry may have been written after the index was read. Therefore compare the entries that seem to be missing
	// with the present index again.
	versions, err := m.findUnindexedVersions(ctx, m.eachVersion)
	if err != nil || len(versions) == 0 {
		return nil, err
	}
	versions, err = m.findUnindexedVersions(ctx, func(_ context.Context, fn func(id, version uint64) bool) error {
		for _, id := range slices.Sorted(maps.Keys(versions)) {
			fn(id, versions[id])
		}
		return nil
	})
	if err != nil || len(versions) == 0 {
		return nil, err
	}
	// Read the entries again, and report only entries that still have the version that the index lacks. If an entry was
	// changed or removed after its version was read, the index is right to lack the old version.
	for e, err := range m.store.Entries(ctx, Filter{}) {
		if err != nil {
			return nil, err
		}
		if version, ok := versions[e.ID]; ok && version == e.Version {
			missing = append(missing, &e)
		}
	}
	return missing, nil
}

// findUnindexedVersions returns the versions of entries that the index lacks, as a map from entry ID to version. The
// caller passes a function, called eachVersion, which supplies the versions to look up in the index. The function
// eachVersion must call its parameter fn with the ID and the version of each entry, in ascending order of the IDs. If
// the index files cannot be read, findUnindexedVersions returns nil without an error. If refreshing the index or the
// function eachVersion fails, findUnindexedVersions returns the error.
func (m *Memory) findUnindexedVersions(
	ctx context.Context,
	eachVersion func(ctx context.Context, fn func(id, version uint64) bool) error,
) (map[uint64]uint64, error) {
	s, err := m.refreshIndex(ctx)
	if err != nil {
		return nil, err
	}
	v := s.newView(ctx, s.scorer(m.opts.Ranking))
	ids, versions := v.entryVersions()
	if v.firstReadError() != nil {
		return nil, nil // index files are checked separately
	}
	unindexed := map[uint64]uint64{}
	i := 0
	err = eachVersion(ctx, func(id, version uint64) bool {
		for i < len(ids) && ids[i] < id {
			i++
		}
		isIndexed := i < len(ids) && ids[i] == id && versions[i] == version
		if !isIndexed {
			unindexed[id] = version
		}
		return true
	})
	return unindexed, err
}

// eachVersion calls fn with the ID and the version of each entry, ordered by ID, until fn returns false.
func (m *Memory) eachVersion(ctx context.Context, fn func(id, version uint64) bool) error {
	if d := findLog(m.store); d != nil {
		return d.EachVersion(ctx, fn)
	}
	for e, err := range m.store.Entries(ctx, Filter{}) {
		if err != nil {
			return err
		}
		if !fn(e.ID, e.Version) {
			return nil
		}
	}
	return nil
}

// Stats returns the size of the store. It reads no entries. If the store is not a [Counter], the error
// matches [ErrUnsupported].
func (m *Memory) Stats(ctx context.Context) (Stats, error) {
	if m.capabilities.Counter == nil {
		return Stats{}, fmt.Errorf("counting: %w", ErrUnsupported)
	}
	s, err := m.capabilities.Counter.Stats(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf("counting: %w", err)
	}
	return s, nil
}

// A Compaction says which history [Memory.Compact] drops.
type Compaction struct {
	Before time.Time // versions that were replaced or removed before this time are dropped
	DryRun bool      // only report what would be dropped
}

// Compact drops old history. If the store is not a [Compactor], the error matches [ErrUnsupported].
func (m *Memory) Compact(ctx context.Context, c Compaction) (CompactReport, error) {
	if m.capabilities.Compactor == nil {
		return CompactReport{}, fmt.Errorf("compacting: %w", ErrUnsupported)
	}
	r, err := m.capabilities.Compactor.Compact(ctx, c.Before, c.DryRun)
	if err != nil {
		return CompactReport{}, fmt.Errorf("compacting: %w", err)
	}
	return r, nil
}

// Redact permanently removes all versions of the entry with this name from the store and its history. If dryRun is set,
// it removes nothing and only counts the versions. The report contains the number of versions. If the store is not a
// [Redactor], Redact returns an error that matches ErrUnsupported. See [Redactor].
func (m *Memory) Redact(ctx context.Context, name string, dryRun bool) (RedactReport, error) {
	if m.capabilities.Redactor == nil {
		return RedactReport{}, errors.Join(
			ErrUnsupported,
			errors.New("it keeps no history to erase from: forget is final there"),
		)
	}
	return m.capabilities.Redactor.Redact(ctx, name, dryRun)
}

// RedactVersions permanently removes earlier versions of entries from the history. It removes each earlier version for
// which the function match returns true. Current versions are never removed. If dryRun is set, RedactVersions removes
// nothing and only counts the versions. The report contains the number of versions. If the store is not a [Redactor],
// RedactVersions returns ErrUnsupported.
func (m *Memory) RedactVersions(
	ctx context.Context,
	match func(e Entry, isCurrent bool) bool,
	dryRun bool,
) (RedactReport, error) {
	if m.capabilities.Redactor == nil {
		return RedactReport{}, ErrUnsupported
	}
	return m.capabilities.Redactor.RedactVersions(ctx, match, dryRun)
}

// Accept makes a store usable again if the store went back to an earlier state ([ErrRolledBack]), for example because a
// backup was restored on purpose. The changes after that state are lost, and their numbers are used again. Accept has
// an effect only if the store is a log.
func (m *Memory) Accept(ctx context.Context) error {
	if d, ok := m.store.(*logstore.DB); ok {
		return d.AcceptRollback(ctx)
	}
	return nil
}

// Create creates the file of an empty store, which would otherwise be created by the first
// change. If the file exists, Create does nothing.
func (m *Memory) Create(ctx context.Context) error {
	if d, ok := m.store.(*logstore.DB); ok {
		return d.Create(ctx)
	}
	return nil
}

// Summary returns statistics of the memory's entries. If the memory is a single file,
// the store maintains these numbers, so Summary does not read the entries.
func (m *Memory) Summary(ctx context.Context) (Summary, error) {
	if d, ok := m.store.(*logstore.DB); ok {
		return d.Summary(ctx)
	}
	return logstore.SummarizeEntries(m.store.Entries(ctx, Filter{}))
}

// Newest returns one page of the entries that match the filter f, most recently written first. total is the number of
// all entries that match. If the whole store is one file, and if f contains only conditions on kind, project, tag and
// creation time, Newest reads only the entries of the page. The same is true for other labels if the memory has an
// index. Otherwise Newest reads more entries.
func (m *Memory) Newest(ctx context.Context, f Filter, offset, limit int) (page []Entry, total int, err error) {
	end, err := store.PageEnd(offset, limit)
	if err != nil {
		return nil, 0, err
	}
	if p := m.capabilities.Pager; p != nil {
		page, total, ok, err := m.newestFromIndex(ctx, f, offset, end)
		if ok || err != nil {
			return page, total, err
		}
		return p.Newest(ctx, f, offset, end-offset)
	}
	return store.Newest(ctx, m.store, f, offset, limit)
}

// Backup copies the store to a new file. The copy is a snapshot of one moment. Others can
// continue to write during the copy. When Backup returns, the copy is durable. If the
// file exists and mayReplace is false, the error matches fs.ErrExist. Backup returns the
// number of the last change in the copy. If Options.FS is set, path is a path in that
// file system.
func (m *Memory) Backup(ctx context.Context, path string, mayReplace bool) (uint64, error) {
	d, err := m.requireLog()
	if err != nil {
		return 0, err
	}
	return d.Backup(ctx, path, mayReplace)
}

// BackupTo checks the store like [Memory.Check] and then writes a copy of it to w, with the
// same bytes as the file that [Memory.Backup] creates. If the store is damaged, BackupTo
// writes nothing. The report describes exactly the state that was written.
func (m *Memory) BackupTo(ctx context.Context, w io.Writer) (CheckReport, error) {
	d, err := m.requireLog()
	if err != nil {
		return CheckReport{}, err
	}
	return d.BackupTo(ctx, w)
}

// requireLog returns the log that the memory uses as its store. If the store is not a log, the
// error matches [ErrUnsupported].
func (m *Memory) requireLog() (*logstore.DB, error) {
	d := findLog(m.store)
	if d == nil {
		return nil, fmt.Errorf("%w: only a store in one file is copied; use dump or export", ErrUnsupported)
	}
	return d, nil
}

// Recover reads the undamaged part of a store, and writes it to a new file. The parameter path is the path of the
// damaged file, and the parameter out is the path of the new file. The damaged file is not changed. A damaged change
// cannot be read and is missing in the new file. Each change contains whole entries, so that only the entries that it
// wrote are affected. The new file contains the last state of all other entries, but their history only after the last
// damaged change.
func Recover(ctx context.Context, path, out string, o *Options) (RecoverReport, error) {
	opts := o.orDefault()
	return logstore.RecoverStore(ctx, path, out, opts.logOptions())
}
