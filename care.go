// The care of a memory: what is done to its store now and then.

package oxbow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/store"
)

// Check examines the store and the index over it. See [Checker].
func (m *Memory) Check(ctx context.Context) (CheckReport, error) {
	rep, all, err := m.checkStore(ctx)
	if err != nil || rep.Damaged {
		return rep, err // an index of damaged entries cannot be compared
	}
	missing, err := m.unindexed(ctx, all)
	for _, e := range missing {
		rep.Problems = append(rep.Problems, Problem{Offset: -1, What: fmt.Sprintf("the index lacks version %d of entry %q", e.Version, e.Name),
			Mend: "this is a defect of oxbow: please report it; a restart builds the index again"})
	}
	return rep, err
}

// checkStore examines the store, and returns its entries.
func (m *Memory) checkStore(ctx context.Context) (CheckReport, []*Entry, error) {
	if d := logOf(m.store); d != nil {
		return d.CheckEntries(ctx)
	}
	c, ok := m.store.(Checker)
	if !ok {
		return CheckReport{}, nil, fmt.Errorf("%w: it has nothing to check", ErrUnsupported)
	}
	rep, err := c.Check(ctx)
	if err != nil {
		return rep, nil, err
	}
	all, err := store.EntriesOf(ctx, m.store)
	return rep, all, err
}

// unindexed returns the entries that the index does not have as they
// are.
func (m *Memory) unindexed(ctx context.Context, all []*Entry) ([]*Entry, error) {
	s, err := m.refresh(ctx)
	if err != nil {
		return nil, err
	}
	v := s.view(ctx, s.scorer(m.opts.Ranking))
	ids, versions := v.versions()
	missing := slices.DeleteFunc(slices.Clone(all), func(e *Entry) bool {
		i, found := slices.BinarySearch(ids, e.ID)
		return found && versions[i] == e.Version
	})
	if v.failed() != nil {
		return nil, nil // the index file is checked by itself
	}
	// What changed meanwhile is in the index by a newer version, or gone.
	changed := func(e *Entry) bool {
		now, err := m.store.Get(ctx, e.Name)
		return err != nil || now.Version != e.Version
	}
	return slices.DeleteFunc(missing, changed), nil
}

// Redact takes the entry of that name, with all its versions, out of the store
// for good. See [Redactor].
func (m *Memory) Redact(ctx context.Context, name string, dry bool) (RedactReport, error) {
	e, ok := m.store.(Redactor)
	if !ok {
		return RedactReport{}, errors.Join(ErrUnsupported, errors.New("it keeps no history to erase from: forget is final there"))
	}
	return e.Redact(ctx, name, dry)
}

// RedactVersions takes versions out of the history for good. See [Redactor].
func (m *Memory) RedactVersions(ctx context.Context, match func(e Entry, current bool) bool, dry bool) (RedactReport, error) {
	e, ok := m.store.(Redactor)
	if !ok {
		return RedactReport{}, ErrUnsupported
	}
	return e.RedactVersions(ctx, match, dry)
}

// Accept goes on from a store that went back to an earlier state
// ([ErrRolledBack]), as when a backup was restored on purpose: the changes that
// are missing are given up, and their numbers are used again.
func (m *Memory) Accept(ctx context.Context) error {
	if d, ok := m.store.(*logstore.DB); ok {
		return d.Accept(ctx)
	}
	return nil
}

// Create makes the file of an empty store, so that it can be seen. It does
// nothing when there is one.
func (m *Memory) Create(ctx context.Context) error {
	if d, ok := m.store.(*logstore.DB); ok {
		return d.Create(ctx)
	}
	return nil
}

// Summary sums up the entries of the memory, without reading all of them where the
// store can do that.
func (m *Memory) Summary(ctx context.Context) (Summary, error) {
	if d, ok := m.store.(*logstore.DB); ok {
		return d.Summary(ctx)
	}
	return logstore.Summarize(m.store.Entries(ctx, Filter{}))
}

// Newest returns a page of the entries that the filter selects, those written
// last first, and how many it selects in all. Of a store in one file no others are
// read, if the filter is by kind, project, tag or time of creation.
func (m *Memory) Newest(ctx context.Context, f Filter, offset, limit int) (page []Entry, total int, err error) {
	end, err := store.PageEnd(offset, limit)
	if err != nil {
		return nil, 0, err
	}
	if p, ok := m.store.(pager); ok {
		return p.Newest(ctx, f, offset, end-offset)
	}
	return store.Newest(ctx, m.store, f, offset, limit)
}

// pager is a store that has pages of its own, of which no end is beyond an int.
type pager interface {
	Newest(ctx context.Context, f Filter, offset, limit int) (page []Entry, total int, err error)
}

// Backup copies the store to a new file, as it is at one moment, while others
// go on writing. The copy is durable when Backup returns. An existing file is
// fs.ErrExist unless replace is set. It returns the number of the last change
// in the copy. A path inside Options.FS is meant where that is set.
func (m *Memory) Backup(ctx context.Context, path string, replace bool) (uint64, error) {
	d, err := m.oneFile()
	if err != nil {
		return 0, err
	}
	return d.Backup(ctx, path, replace)
}

// BackupTo checks the store as [Memory.Check] does, and then writes what it read to
// w: a file of these bytes is what [Memory.Backup] makes. Of a damaged store nothing
// is written. The report is of what was written.
func (m *Memory) BackupTo(ctx context.Context, w io.Writer) (CheckReport, error) {
	d, err := m.oneFile()
	if err != nil {
		return CheckReport{}, err
	}
	return d.BackupTo(ctx, w)
}

// oneFile returns the log that is the memory's store, if it is one.
func (m *Memory) oneFile() (*logstore.DB, error) {
	d := logOf(m.store)
	if d == nil {
		return nil, fmt.Errorf("%w: only a store in one file is copied; use dump or export", ErrUnsupported)
	}
	return d, nil
}

// Recover reads what can be read of the store in the file path, however
// damaged, and writes it to the new file out. The damaged file is not changed.
// Each change holds whole entries, so that a lost one costs only what it
// itself had written. The history in the new file begins after the last
// change that was lost.
func Recover(ctx context.Context, path, out string, o *Options) (RecoverReport, error) {
	opts := o.orDefault()
	return logstore.Recover(ctx, path, out, opts.store())
}
