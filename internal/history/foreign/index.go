// This file finds the existing entries that a new text may repeat. It looks them up in an index file next to the
// memory's log, and reads the changes that the index file does not contain yet.

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

// Index finds entries with foreign text, which others wrote or for which nobody vouches. It finds them by keys, which
// are hashes of word sequences. It is safe for concurrent use. The zero Index is ready to use. Its first use reads the
// index file or, without a usable file, all entries. Later uses read only the changes since.
//
// Each row, in the file or in memory, connects a key with a version of an entry. The version is described by two
// numbers. The first number contains the entry's ID and, in its two lowest bits, the reason why the text counts as
// foreign. The second number is a hash of the text's origin. Each current version with foreign text has rows. Rows of
// older versions and removed entries may remain. Such rows do no harm, because the entry is read before its text is
// compared.
type Index struct {
	mu sync.Mutex // guards all other fields
	indexState
	comparisonCallCount int // how often new texts were compared with the entries in this index
	// If the index file could not be written, the next attempt is made when the number of entry versions that were read
	// from the log has reached this number.
	retrySaveVersionCount int

	minRowsBeforeSave    int // The index file is written when this many index rows are in memory (0 means the default).
	maxTaintedEntryBytes int // replaces the constant maxTaintedEntryBytes in tests
}

// indexState contains the data that an [Index] has read from its file and from the log.
type indexState struct {
	// db is the log whose entries are in the index, up to indexedPosition. It is nil if nothing was read yet.
	db              *logstore.DB
	indexedPosition oxbow.Position

	indexFile      *keytable.File // index file, or nil if no usable file exists
	textsNotInFile []keytable.TextRow
	// Sorted slices of index rows, for the texts that are not in the index file. Each slice is longer than the next.
	sortedRowRuns [][]uint64
	// Index rows that were added last and are in none of the sortedRowRuns yet. A row may occur several times.
	newestUnsortedRows []uint64
	keyBuffer          []fingerprint.TextKey // reused buffer for the hashes of one text's word sequences
	// number of texts when the index was last built from all entries
	textCountAtFullBuild int
	// Number of entry versions that were read from the log because the index file does not cover them. Versions that
	// need no index row are counted as well.
	versionsReadFromLog int
}

const (
	// number of low bits that contain the entry's foreignTextReason; the higher bits contain the entry ID
	foreignReasonBits = 2

	// When more than maxUnsortedRows new index rows have been added, they are sorted.
	maxUnsortedRows = 1 << 20

	// An index that has answered more than minCallsOfLongRunningProcess calls of EachRepeatedEntry is probably used by
	// a process that runs for long, such as a server.
	minCallsOfLongRunningProcess = 8

	// The index file is written when at least minRowsBeforeFileSave rows are in memory, or when at least
	// minVersionsBeforeFileSave versions were read. For a process that runs for long, minRowsBeforeServerSave and
	// minVersionsBeforeServerSave are used instead.
	minRowsBeforeFileSave       = 4 << 10
	minVersionsBeforeFileSave   = 512
	minRowsBeforeServerSave     = 64 << 10
	minVersionsBeforeServerSave = 4 << 10

	// The index is built from all entries again only if it contains more than this number of outdated texts.
	minTextsBeforeRebuild = 4 << 10
)

// errTooManyTexts is returned if the memory has more foreign texts than an index file can contain.
var errTooManyTexts = fmt.Errorf("more than %d texts are foreign", keytable.MaxTexts)

// discardIndexState discards everything that the index has read, and closes the file.
func (x *Index) discardIndexState() {
	if x.indexFile != nil {
		_ = x.indexFile.Close() // Ignore the error: the file was only read.
	}
	x.indexState = indexState{}
}

// Close closes the index file. The index can still be used, and then opens the file again.
func (x *Index) Close() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.discardIndexState()
}

// catchUpWithLog brings the index up to date with the log db. If the index contains another log or nothing, it first
// opens the index file. Then it reads all changes that are not in the index yet. If there is no usable index file, or
// if the log was rewritten, it builds the index from all entries.
func (x *Index) catchUpWithLog(ctx context.Context, db *logstore.DB) error {
	if x.db != db {
		x.discardIndexState()
		if !x.openIndexFile(db) {
			return x.indexAllEntries(ctx, db)
		}
	}
	err := x.indexNewChanges(ctx)
	// The log was rewritten, or the index belongs to another log. Build the index again.
	if errors.Is(err, oxbow.ErrPosition) {
		return x.indexAllEntries(ctx, db)
	}
	return err
}

// openIndexFile opens the index file. It returns false if no usable file exists.
func (x *Index) openIndexFile(db *logstore.DB) bool {
	file, err := db.DerivedFile(keytable.ForeignTextTableSuffix).Open()
	if err != nil {
		return false
	}
	table, err := keytable.Open(file)
	if err != nil {
		return false
	}
	at, err := db.RefreshPosition(table.Head.Position)
	if err != nil || !hasCurrentIndexFormat(&table.Head) {
		_ = table.Close() // Ignore the error: the file was only read.
		return false
	}
	x.indexState = indexState{
		db:                   db,
		indexedPosition:      oxbow.Position(at.Encode()),
		indexFile:            table,
		textCountAtFullBuild: table.Head.TextCountAtRebuild,
	}
	return true
}

// hasCurrentIndexFormat reports whether this version of the program can use an index file with the header h. It can use
// the file if the version that wrote the file splits texts into words and computes their hashes in the same way as this
// version.
func hasCurrentIndexFormat(h *keytable.FileHeader) bool {
	return h.KeyRulesVersion == fingerprint.TextKeyRevision && h.UnicodeVersion == fingerprint.TextKeyUnicodeVersion
}

// indexNewChanges adds the entries that were changed since the position of the index.
func (x *Index) indexNewChanges(ctx context.Context) error {
	now, err := x.db.Position(ctx) // Position also reads changes that other processes made.
	if err != nil || now == x.indexedPosition {
		return err
	}
	for delta, err := range x.db.Since(ctx, x.indexedPosition) {
		x.versionsReadFromLog++
		if err == nil && delta.Entry != nil {
			err = x.addEntry(delta.Entry)
		}
		if err != nil {
			return err
		}
	}
	x.indexedPosition = now
	x.sortNewestRows()
	return nil
}

// indexAllEntries builds the index from all entries with foreign text. Foreign text was written by others, or nobody
// has vouched for it. indexAllEntries does not read the index file.
func (x *Index) indexAllEntries(ctx context.Context, db *logstore.DB) error {
	x.discardIndexState()
	now, err := db.Position(ctx)
	if err == nil {
		err = eachMatchingEntry(ctx, db, filterTermsByReason, x.addEntry)
	}
	if err != nil {
		x.discardIndexState()
		return err
	}
	x.sortNewestRows()
	x.db, x.indexedPosition = db, now
	x.textCountAtFullBuild = len(x.textsNotInFile)
	_, x.versionsReadFromLog = db.Size()
	return nil
}

// addEntry adds the current version of an entry to the index. It ignores an entry whose text does not come from others
// and for which somebody vouches.
func (x *Index) addEntry(e *oxbow.Entry) error {
	c := foreignTextReasonOf(e)
	if c == reasonNone {
		return nil
	}
	number := x.fileTextCount() + len(x.textsNotInFile)
	if number == keytable.MaxTexts {
		return errTooManyTexts
	}
	x.textsNotInFile = append(
		x.textsNotInFile,
		keytable.TextRow{e.ID<<foreignReasonBits | uint64(c), hashEntryOrigin(e)},
	)
	x.keyBuffer = fingerprint.AppendTextKeys(x.keyBuffer[:0], ComparableText(e))
	for _, k := range x.keyBuffer {
		x.newestUnsortedRows = append(x.newestUnsortedRows, keytable.PackKeyRow(uint64(k), number))
	}
	if len(x.newestUnsortedRows) >= maxUnsortedRows {
		x.sortNewestRows()
	}
	return nil
}

func (x *Index) fileTextCount() int {
	if x.indexFile == nil {
		return 0
	}
	return x.indexFile.Head.TextCount
}

// sortNewestRows sorts newestUnsortedRows, which are the rows that were added since the last call of sortNewestRows. It
// appends the sorted rows as a new slice to sortedRowRuns. It then merges slices of similar lengths, so that only a
// few slices remain.
func (x *Index) sortNewestRows() {
	if len(x.newestUnsortedRows) == 0 {
		return
	}
	x.sortedRowRuns = append(x.sortedRowRuns, slices.Compact(keytable.SortRows(x.newestUnsortedRows)))
	x.newestUnsortedRows = nil
	for n := len(x.sortedRowRuns); n > 1 && len(x.sortedRowRuns[n-2]) < 2*len(x.sortedRowRuns[n-1]); n-- {
		x.sortedRowRuns = append(x.sortedRowRuns[:n-2], keytable.MergeRowLists(x.sortedRowRuns[n-2:]))
	}
}

// countRowsNotInFile returns the number of index rows that the index file does not contain.
func (x *Index) countRowsNotInFile() (rows int) {
	for _, run := range x.sortedRowRuns {
		rows += len(run)
	}
	return rows
}

func (x *Index) isEmpty() bool { return x.fileTextCount()+len(x.textsNotInFile) == 0 }

// repeatedEntryCandidate is a version of an entry that a new text may repeat, because both have a key in common. A key
// is a hash of some consecutive words.
type repeatedEntryCandidate struct {
	entryID         uint64
	foreignReason   foreignTextReason
	entryOriginHash uint64
	newTextIndexes  []int32 // indexes of the new texts that may repeat this version
}

// findCandidatesByKey returns the entry versions that have a sequence of words in common with a new text, sorted by
// foreignReason and then by entryID. The argument textIndexesByKey maps a key, which is the hash of a word sequence, to
// the indexes of the new texts with this sequence. If onlyTainted is set, the result contains only versions of tainted
// entries, which an agent wrote after it had read text by others.
func (x *Index) findCandidatesByKey(
	textIndexesByKey map[fingerprint.TextKey][]int32,
	onlyTainted bool,
) ([]repeatedEntryCandidate, error) {
	found := map[int][]int32{}
	// In sorted order, each page of the file is read only once.
	for _, k := range slices.Sorted(maps.Keys(textIndexesByKey)) {
		add := func(number int) {
			for _, i := range textIndexesByKey[k] {
				if !slices.Contains(found[number], i) {
					found[number] = append(found[number], i)
				}
			}
		}
		if x.indexFile != nil {
			x.indexFile.EachTextWithKey(uint64(k), add)
		}
		for _, run := range x.sortedRowRuns {
			keytable.EachTextInRows(run, uint64(k), add)
		}
	}
	var all []repeatedEntryCandidate
	for number, texts := range found {
		t := x.textAt(number)
		c := repeatedEntryCandidate{
			t[0] >> foreignReasonBits,
			foreignTextReason(t[0] & (1<<foreignReasonBits - 1)),
			t[1],
			texts,
		}
		if c.foreignReason == reasonTaintedEntry || !onlyTainted {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, compareCandidates)
	if x.indexFile != nil {
		return all, x.indexFile.Err()
	}
	return all, nil
}

func (x *Index) textAt(textNumber int) keytable.TextRow {
	if n := x.fileTextCount(); textNumber >= n {
		return x.textsNotInFile[textNumber-n]
	}
	return x.indexFile.TextAt(textNumber)
}

// shouldSave reports whether the index file should be written, because it lacks many index rows or entry versions.
// Writing a large file takes long, but each new process must read the versions that the file lacks. The total work is
// smallest if the file lacks about as many versions as the square root of its row count. A process that runs for long
// keeps the rows in memory, so it writes the file less often.
func (x *Index) shouldSave() bool {
	rows := x.countRowsNotInFile()
	total := rows
	if x.indexFile != nil {
		total += x.indexFile.Head.KeyRowCount
	}
	if x.versionsReadFromLog < x.retrySaveVersionCount {
		return false
	}
	if x.minRowsBeforeSave > 0 {
		return rows >= x.minRowsBeforeSave
	}
	if x.comparisonCallCount > minCallsOfLongRunningProcess {
		return rows >= max(minRowsBeforeServerSave, total/16) ||
			x.versionsReadFromLog >= max(minVersionsBeforeServerSave, total/16)
	}
	root := int(math.Sqrt(float64(total)))
	return rows >= max(minRowsBeforeFileSave, 4*root) || x.versionsReadFromLog >= max(minVersionsBeforeFileSave, root)
}

// saveIndexFile writes the index file next to the log "to", if the present file lacks many rows of the index. The index
// must have been built from this log. Before saveIndexFile writes the file, it adds the newest entries of the log to
// the index. If the index then contains more than about twice as many texts as when it was last built completely, it is
// built again from all entries. After the file was written, the rows in memory are discarded. If writing fails, for
// example because another process is writing to the log, a later call tries again.
func (x *Index) saveIndexFile(ctx context.Context, to *logstore.DB) error {
	if x.db == nil || !x.shouldSave() {
		return nil
	}
	// The epoch is a number that changes if the log is rewritten, for example to erase texts. Create does not write the
	// file if the epoch has changed since this line. Otherwise the file could contain words of erased texts.
	epoch := to.CurrentLogState(func() {}).LogEpoch
	err := x.catchUpWithLog(ctx, x.db)
	isStale := x.fileTextCount()+len(x.textsNotInFile) > 2*x.textCountAtFullBuild+minTextsBeforeRebuild
	if err == nil && isStale {
		err = x.indexAllEntries(ctx, x.db)
	}
	at, ok := logpos.DecodePosition(x.indexedPosition)
	if err != nil || !ok {
		return err
	}
	head := keytable.FileHeader{
		KeyRulesVersion:    fingerprint.TextKeyRevision,
		UnicodeVersion:     fingerprint.TextKeyUnicodeVersion,
		Position:           at,
		TextCountAtRebuild: x.textCountAtFullBuild,
	}
	err = to.DerivedFile(keytable.ForeignTextTableSuffix).Create(ctx, epoch, func(file vfs.File) error {
		return keytable.WriteTable(file, head, x.indexFile, x.textsNotInFile, x.sortedRowRuns)
	})
	if err != nil {
		x.retrySaveVersionCount = x.versionsReadFromLog + minVersionsBeforeFileSave/8
		if x.indexFile != nil && x.indexFile.Err() != nil {
			x.discardIndexState()
		}
		return err
	}
	x.retrySaveVersionCount = 0
	x.discardIndexState() // Forget the rows in memory, because the next comparison reads them from the new index file.
	return nil
}
