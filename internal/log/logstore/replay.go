// A check of the store reads the log. Meanwhile, this file compares the log with the store's answers and with the files
// that are derived from the log. Each comparison is made when the check reaches the change to which the answer or file
// belongs, so that the log is read only once.

package logstore

import (
	"errors"
	"iter"

	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/log/wal"
	"github.com/oxbow-memory/oxbow/store"
)

// stateComparison checks data that should be equal to the entries in the log up to the change with the number
// changeNumber. The data are a file that was derived from the log, or a list of entries that the store returned.
type stateComparison struct {
	changeNumber uint64
	compare      func(p *versionState) error
	isDone       bool
}

// logStateComparer applies the records of a log one after another. Each comparison belongs to a change. After this
// change, logStateComparer compares a file or a list of entries with the entries that the log contains up to the
// change.
type logStateComparer struct {
	*versionState
	stateComparisons []*stateComparison
}

// applyRecord applies a log record to the state. If the record is a change, applyRecord first makes the comparisons
// that are due, because they compare the state before this change.
func (c *logStateComparer) applyRecord(r *wal.Record, v *recordBody) error {
	if r.Type == recordTypeChange {
		if err := c.compareAtCurrentChange(); err != nil {
			return err
		}
	}
	c.versionState.applyRecord(r, v)
	return nil
}

// compareAtCurrentChange makes all comparisons for which the last applied change is the right moment. The caller must
// call compareAtCurrentChange after each change and at the end of the log. If a comparison returns
// errFileStateMismatch, it is not marked as done.
func (c *logStateComparer) compareAtCurrentChange() error {
	for _, o := range c.stateComparisons {
		if o.isDone || o.changeNumber != c.lastSeq {
			continue
		}
		err := o.compare(c.versionState)
		if errors.Is(err, errFileStateMismatch) {
			continue
		}
		if err != nil {
			return err
		}
		o.isDone = true
	}
	return nil
}

// areStateComparisonsDone reports whether all comparisons in c.stateComparisons were made. Each compares a file or a
// list of entries with the entries in the log.
func (c *logStateComparer) areStateComparisonsDone() bool {
	for _, o := range c.stateComparisons {
		if !o.isDone {
			return false
		}
	}
	return true
}

// errFileStateMismatch means that a derived file does not belong to the present state. It was written for another
// history, or for another change than the change at which the present state ends.
var errFileStateMismatch = errors.New("the state is not that of the file")

// checkedFile implements [CheckedFile] with the state of the whole log.
type checkedFile struct {
	DerivedFile
	state *versionState
}

// RefreshPosition implements [CheckedFile].
func (f checkedFile) RefreshPosition(p logpos.Position) (logpos.Position, error) {
	return f.db.RefreshPosition(p)
}

// StateAt implements [CheckedFile].
func (f checkedFile) StateAt(p logpos.Position) (StateAfterChange, error) {
	if f.state == nil || f.state.lastSeq != p.Seq || f.state.lastChain != p.ChainHash {
		return nil, errFileStateMismatch
	}
	return &stateAfterChange{f.state, f.state.log.NewReader()}, nil
}

// stateAfterChange implements [StateAfterChange].
type stateAfterChange struct {
	state  *versionState
	reader *wal.Reader
}

func (s *stateAfterChange) Len() int       { return s.state.entryCount() }
func (s *stateAfterChange) NextID() uint64 { return s.state.nextID() }

func (s *stateAfterChange) Versions() iter.Seq[CheckedVersion] {
	return func(yield func(CheckedVersion) bool) {
		for _, row := range s.state.currentRows() {
			if !yield(CheckedVersion{row.id, row.version}) {
				return
			}
		}
	}
}

func (s *stateAfterChange) ReadEntry(id uint64) (*store.Entry, error) {
	row, found := s.state.findRow(id)
	if !found {
		return nil, store.ErrNotFound
	}
	return s.state.readEntryFromLog(s.reader, row)
}
