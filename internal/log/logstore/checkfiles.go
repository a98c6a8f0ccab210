// This file checks the snapshot and the derived files of other packages against the log.

package logstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/log/keydir"
	"github.com/oxbow-memory/oxbow/store"
)

// checkedFiles are the snapshot and all further files derived from the log. A check of the store compares them with the
// log.
type checkedFiles struct {
	db       *DB
	snapshot *snapshot // open snapshot file, or nil if it cannot be used
	// Each element compares one derived file with the entries in the log. Such a file was written after a certain
	// change, and describes the entries directly after this change. Therefore the comparison is made at the moment when
	// the check has read the log up to this change.
	comparisons         []*stateComparison
	uncomparedKinds     []DerivedFileKind
	snapshotProblems    []store.Problem
	derivedFileProblems []store.Problem
}

// openCheckedFiles opens the snapshot and prepares the comparison of each file that was derived from the log. A file
// was derived from the changes up to a certain change. The caller reads the log and makes the comparison when it
// reaches this change. If the change is not known, the kind of file is added to uncomparedKinds.
func (d *DB) openCheckedFiles(ctx context.Context) *checkedFiles {
	files := &checkedFiles{db: d}
	if s := d.openReadableSnapshot(); s != nil {
		files.snapshot = s
		files.comparisons = append(
			files.comparisons,
			&stateComparison{changeNumber: s.head.lastSeq, compare: files.compareSnapshot},
		)
	}
	for _, k := range d.opts.DerivedFileKinds {
		file := DerivedFile{d, k.Suffix}
		seq, ok := uint64(0), false
		if k.Position != nil {
			seq, ok = k.Position(checkedFile{file, nil})
		}
		if !ok {
			files.uncomparedKinds = append(files.uncomparedKinds, k)
			continue
		}
		compare := func(p *versionState) error {
			found, err := k.Check(ctx, checkedFile{file, p})
			files.derivedFileProblems = append(files.derivedFileProblems, found...)
			return err
		}
		files.comparisons = append(files.comparisons, &stateComparison{changeNumber: seq, compare: compare})
	}
	return files
}

func (f *checkedFiles) close() { f.snapshot.release() }

// findProblems checks the files that can be checked without the entries of the log. It returns the problems of these
// files, together with the problems that earlier checks stored in snapshotProblems and derivedFileProblems.
func (f *checkedFiles) findProblems(ctx context.Context) ([]store.Problem, error) {
	problems := slices.Concat(f.snapshotProblems, f.derivedFileProblems)
	var err error
	for _, k := range f.uncomparedKinds {
		found, kerr := k.Check(ctx, checkedFile{DerivedFile{f.db, k.Suffix}, nil})
		// errFileStateMismatch means that another process has written the file meanwhile.
		if !errors.Is(kerr, errFileStateMismatch) {
			err = errors.Join(err, kerr)
		}
		problems = append(problems, found...)
	}
	return problems, err
}

// openReadableSnapshot opens the snapshot and verifies its checksums. It returns nil if the file is missing, damaged or
// from another history, which is not a problem, because the store ignores such a file.
func (d *DB) openReadableSnapshot() *snapshot {
	s, err := d.openSnapshot()
	if err != nil {
		return nil
	}
	for i := range snapshotSectionCount {
		if s.tables.EachTablePage(i, func([]byte) {}) != nil {
			s.release()
			return nil
		}
	}
	return s
}

// compareSnapshot compares the snapshot with p, the state that the log has after the snapshot's last change. If the
// snapshot differs from p, compareSnapshot sets f.snapshotProblems. It returns errFileStateMismatch if the hashes show
// that p is a state of another history.
func (f *checkedFiles) compareSnapshot(p *versionState) error {
	s := f.snapshot
	if s.head.lastChain != p.lastChain {
		return errFileStateMismatch
	}
	table, err := p.findDifferentTable(s)
	if err != nil || s.snapshotReadError() != nil {
		return err
	}
	what := errUnusableSnapshot.Error()
	switch {
	case table < snapshotSectionCount:
		what = "its table of " + sectionTitles[table] + " is not that of the log"
	case s.head.nextEntryID == p.nextID():
		return nil
	}
	path := f.db.path + SnapshotSuffix
	f.snapshotProblems = []store.Problem{{
		Offset: -1,
		What:   fmt.Sprintf("the snapshot %s: %s at change %d", path, what, s.head.lastSeq),
		Mend:   "nothing is lost, and it is made again: rm " + text.ShellQuote(path),
	}}
	return nil
}

// findDifferentTable returns the number of the first table in the snapshot that does not fit the state p. If all tables
// fit, it returns the number of tables, snapshotSectionCount.
func (p *versionState) findDifferentTable(s *snapshot) (table int, err error) {
	forms, err := decodeLabelSetTable(s.tables.TableBytes(sectionLabelSets))
	if err != nil {
		return sectionLabelSets, nil
	}
	c := keydir.NewSnapshotComparison(s.file, s.tables, forms.texts)
	scan := newVersionStateScan(p)
	sums := &entryTotals{entryCountsByLabel: map[store.Label]int{}}
	var aliasHashes []uint64
	for i, row := range p.currentRows() {
		e, err := scan.readEntry(i)
		e, err = requireEntry(e, err, row.id)
		if err != nil {
			return 0, err
		}
		aliasHashes = aliasHashes[:0]
		for _, a := range e.Aliases {
			aliasHashes = append(aliasHashes, textHash(a))
		}
		r := newRowWithoutLabelSet(e, row.recordOffset)
		if !c.AddEntry(&r, encodeLabelSet(e), textHash(e.Name), aliasHashes) {
			return c.FirstDifferentTable(), nil
		}
		sums.addEntry(e, 1)
	}
	removed := slices.Collect(maps.Values(p.removedNames))
	return c.FinishComparison(removed, p.changeOffsets, encodeOpIDs(p.opIDState.rememberedOpIDs()), sums.encode())
}

// sectionTitles are the names that messages use for the parts of a snapshot file.
var sectionTitles = [snapshotSectionCount]string{
	"entries",
	"names",
	"aliases",
	"removed names",
	"changes",
	"op ids",
	"sums",
	"heads",
	"newest",
	"forms",
	"texts",
}
