// This file finds the entries that may be repeated, with the file of keys and with the changes after it.

package foreign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/keytable"
	"github.com/oxbow-memory/oxbow/internal/base/logpos"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
	"github.com/oxbow-memory/oxbow/vfs"
)

// Index finds entries with foreign text by keys. It is safe for concurrent use. The zero Index is ready to use, and
// reads the file of keys or the entries at the first call. A later call only reads the changes since.
//
// A row in the file or in memory belongs to a version of an entry. Its text consists of the entry's ID and the class
// (id<<2 | class), and of the version's originHash. There is a row for each current version with foreign text. Other
// rows belong to older versions or to removed entries, and are ignored because the entry is read before its text is
// compared.
type Index struct {
	mu sync.Mutex // guards the fields below
	indexState
	comparisonCount int // number of comparisons
	retrySaveAt     int // value of versions from which writing is tried again, after a failed attempt

	leastRows       int // minimum number of rows in memory before the file is written (set by tests)
	maxTaintedBytes int // like the constant of the same name (set by tests)
}

// indexState is what an index has read.
type indexState struct {
	// db is the store whose entries the index has, or nil. The index is complete up to the position.
	db       *logstore.DB
	position oxbow.Position

	file       *keytable.File // nil if there is no file that can be used
	texts      []keytable.TextData
	sortedRuns [][]uint64 // ascending rows of the texts that are not in the file; each run is longer than the next
	// rows that are not in runs yet, in the order of their texts; a row may occur several times
	freshRows []uint64
	keys      []fingerprint.Key // memory for the keys of one text
	// number of texts when the file, or the index without a file, was made from all entries
	fullBuildTexts int
	// number of versions that were read to complete the index, including those without foreign text
	versionsRead int
}

const (
	idShift = 2 // of the entry ID in a text

	// maxRunRows is the maximum number of rows that are sorted at once.
	maxRunRows = 1 << 20

	// A process that compares more than longProcessCalls times is expected to run for long.
	longProcessCalls = 8

	// The file is written if there are at least leastRows rows in memory, or if at least leastVersions versions were
	// read. In a process that runs for long, leastLongRows and leastLongVersions apply.
	leastRows         = 4 << 10
	leastVersions     = 512
	leastLongRows     = 64 << 10
	leastLongVersions = 4 << 10

	leastStaleTexts = 4 << 10 // minimum number of stale texts before the file is made from all entries again
)

// errTooManyTexts is returned if there are more texts than a file can have.
var errTooManyTexts = fmt.Errorf("more than %d texts are foreign", keytable.MaxTexts)

// discardState drops everything that the index has read.
func (x *Index) discardState() {
	if x.file != nil {
		_ = x.file.Close() // ignore the error: the file was only read
	}
	x.indexState = indexState{}
}

// Close closes the file. The index can be used again.
func (x *Index) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.discardState()
}

// catchUp reads all changes of the store that the index does not have yet.
func (x *Index) catchUp(ctx context.Context, db *logstore.DB) error {
	if x.db != db {
		x.discardState()
		if !x.openFile(db) {
			return x.readAll(ctx, db)
		}
	}
	err := x.readNewChanges(ctx)
	if errors.Is(err, oxbow.ErrPosition) { // the log was rewritten, or the file belongs to another history
		return x.readAll(ctx, db)
	}
	return err
}

// openFile opens the file of keys. It returns false if the file cannot be used.
func (x *Index) openFile(db *logstore.DB) bool {
	file, err := db.DerivedFile(keytable.ForeignSuffix).Open()
	if err != nil {
		return false
	}
	table, err := keytable.Open(file)
	if err != nil {
		return false
	}
	at, err := db.RefreshPosition(table.Head.Position)
	if err != nil || !hasCurrentRevision(&table.Head) {
		_ = table.Close() // ignore the error: the file was only read
		return false
	}
	x.indexState = indexState{
		db:             db,
		position:       oxbow.Position(at.Encode()),
		file:           table,
		fullBuildTexts: table.Head.FullTextCount,
	}
	return true
}

// hasCurrentRevision reports whether a file has the keys that texts get now.
func hasCurrentRevision(h *keytable.Head) bool {
	return h.Revision == fingerprint.KeyRevision && h.UnicodeVersion == fingerprint.KeyUnicode
}

// readNewChanges reads the changes since the position.
func (x *Index) readNewChanges(ctx context.Context) error {
	now, err := x.db.Position(ctx) // also reads the changes of other processes
	if err != nil || now == x.position {
		return err
	}
	for delta, err := range x.db.Since(ctx, x.position) {
		x.versionsRead++
		if err == nil && delta.Entry != nil {
			err = x.addEntry(delta.Entry)
		}
		if err != nil {
			return err
		}
	}
	x.position = now
	x.sortFreshRows()
	return nil
}

// readAll reads all entries with foreign text, without the file.
func (x *Index) readAll(ctx context.Context, db *logstore.DB) error {
	x.discardState()
	now, err := db.Position(ctx)
	if err == nil {
		err = eachMatchingEntry(ctx, db, classTerms, x.addEntry)
	}
	if err != nil {
		x.discardState()
		return err
	}
	x.sortFreshRows()
	x.db, x.position = db, now
	x.fullBuildTexts = len(x.texts)
	_, x.versionsRead = db.Size()
	return nil
}

// addEntry adds a version of an entry, if the text of this version is foreign.
func (x *Index) addEntry(e *oxbow.Entry) error {
	c := entryClass(e)
	if c == classOwnText {
		return nil
	}
	number := x.fileTextCount() + len(x.texts)
	if number == keytable.MaxTexts {
		return errTooManyTexts
	}
	x.texts = append(x.texts, keytable.TextData{e.ID<<idShift | uint64(c), originHash(e)})
	x.keys = fingerprint.AppendKeys(x.keys[:0], AllText(e))
	for _, k := range x.keys {
		x.freshRows = append(x.freshRows, keytable.KeyRow(uint64(k), number))
	}
	if len(x.freshRows) >= maxRunRows {
		x.sortFreshRows()
	}
	return nil
}

func (x *Index) fileTextCount() int {
	if x.file == nil {
		return 0
	}
	return x.file.Head.TextCount
}

// sortFreshRows moves the fresh rows into a run. It merges runs of similar lengths, so that there are only a few.
func (x *Index) sortFreshRows() {
	if len(x.freshRows) == 0 {
		return
	}
	x.sortedRuns = append(x.sortedRuns, slices.Compact(keytable.SortRows(x.freshRows)))
	x.freshRows = nil
	for n := len(x.sortedRuns); n > 1 && len(x.sortedRuns[n-2]) < 2*len(x.sortedRuns[n-1]); n-- {
		x.sortedRuns = append(x.sortedRuns[:n-2], keytable.MergeRuns(x.sortedRuns[n-2:]))
	}
}

// rowsInMemory returns the number of rows that are not in the file.
func (x *Index) rowsInMemory() (rows int) {
	for _, run := range x.sortedRuns {
		rows += len(run)
	}
	return rows
}

func (x *Index) isEmpty() bool { return x.fileTextCount()+len(x.texts) == 0 }

// candidate is a version of an entry that has a key in common with written texts.
type candidate struct {
	id          uint64
	class       foreignClass
	originHash  uint64
	textIndexes []int32 // indexes of the written texts
}

// findCandidates returns the versions with any of the keys, in the order in which eachMatchingEntry calls its
// function. keys has the indexes of the written texts.
func (x *Index) findCandidates(keys map[fingerprint.Key][]int32, onlyTainted bool) ([]candidate, error) {
	found := map[int][]int32{}
	for _, k := range slices.Sorted(maps.Keys(keys)) { // in this order, each page of the file is needed once
		add := func(number int) {
			for _, i := range keys[k] {
				if !slices.Contains(found[number], i) {
					found[number] = append(found[number], i)
				}
			}
		}
		if x.file != nil {
			x.file.EachTextWithKey(uint64(k), add)
		}
		for _, run := range x.sortedRuns {
			keytable.EachTextWithKeyIn(run, uint64(k), add)
		}
	}
	var all []candidate
	for number, texts := range found {
		t := x.textAt(number)
		c := candidate{t[0] >> idShift, foreignClass(t[0] & (1<<idShift - 1)), t[1], texts}
		if c.class == classTainted || !onlyTainted {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, compareCandidates)
	if x.file != nil {
		return all, x.file.Err()
	}
	return all, nil
}

func (x *Index) textAt(number int) keytable.TextData {
	if n := x.fileTextCount(); number >= n {
		return x.texts[number-n]
	}
	return x.file.Text(number)
}

// shouldSave reports whether so much is missing in the file that it should be written. Writing costs as much as the
// file is large, and each process that starts has to read the missing versions. The sum of both costs is smallest near
// the square root of the file's size. A process that runs for long keeps the missing rows in memory.
func (x *Index) shouldSave() bool {
	rows := x.rowsInMemory()
	total := rows
	if x.file != nil {
		total += x.file.Head.KeyRowCount
	}
	if x.versionsRead < x.retrySaveAt {
		return false
	}
	if x.leastRows > 0 {
		return rows >= x.leastRows
	}
	if x.comparisonCount > longProcessCalls {
		return rows >= max(leastLongRows, total/16) || x.versionsRead >= max(leastLongVersions, total/16)
	}
	root := int(math.Sqrt(float64(total)))
	return rows >= max(leastRows, 4*root) || x.versionsRead >= max(leastVersions, root)
}

// saveFile writes the file if it lacks many rows. to is the same log as the store of the index. If the file cannot be
// written, for example because another process writes to the log, a later call tries again.
func (x *Index) saveFile(ctx context.Context, to *logstore.DB) error {
	if x.db == nil || !x.shouldSave() {
		return nil
	}
	// If the log is rewritten after this line, the file is not written, so that it cannot have words of erased texts.
	epoch := to.CurrentLogState(func() {}).Epoch
	err := x.catchUp(ctx, x.db)
	if isStale := x.fileTextCount()+len(x.texts) > 2*x.fullBuildTexts+leastStaleTexts; err == nil && isStale {
		err = x.readAll(ctx, x.db)
	}
	at, ok := logpos.Decode(x.position)
	if err != nil || !ok {
		return err
	}
	head := keytable.Head{
		Revision:       fingerprint.KeyRevision,
		UnicodeVersion: fingerprint.KeyUnicode,
		Position:       at,
		FullTextCount:  x.fullBuildTexts,
	}
	err = to.DerivedFile(keytable.ForeignSuffix).Create(ctx, epoch, func(file vfs.File) error {
		return keytable.WriteTable(file, head, x.file, x.texts, x.sortedRuns)
	})
	if err != nil {
		x.retrySaveAt = x.versionsRead + leastVersions/8
		if x.file != nil && x.file.Err() != nil {
			x.discardState()
		}
		return err
	}
	x.retrySaveAt = 0
	x.discardState() // the next call opens the new file
	return nil
}
