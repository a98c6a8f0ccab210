// This file compares new texts with existing entries, to find out which entries the texts repeat.

package foreign

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/log/logstore"
	"github.com/oxbow-memory/oxbow/internal/screening/fingerprint"
)

// Texts are new texts that a caller is about to write into entries, and that are compared with the texts of existing
// entries.
type Texts struct {
	EntryNames []string // names of the entries into which the texts in the field Texts are written (or "")
	Texts      []string
	// IgnoredTexts contains a second text for each of the Texts, such as its earlier version. Words that the second
	// text contains as well do not count as repeated from an entry.
	IgnoredTexts []string
	// If ComparesOnlyTaintedEntries is set, the new texts are compared only with entries that are labeled as tainted,
	// because an agent wrote them after it had read text by others.
	ComparesOnlyTaintedEntries bool
}

// maxComparedBytes is the maximum size, in bytes, of the foreign text that is read in a store without an index. If the
// store has more, the comparison fails with ErrTooManyEntries.
const maxComparedBytes = 32 << 20

// maxTaintedEntryBytes decides how new texts are compared with tainted entries. An entry is tainted if an agent wrote
// it after it had read text by others. If the tainted entries have at most this total size in bytes, they are compared
// one by one. This is the usual case, because most memories have few tainted entries, and is then faster. If the total
// size is larger, the index is used.
const maxTaintedEntryBytes = 64 << 10

// ErrTooManyEntries is returned if so much text in the store was written by others, or by unknown writers, that
// comparing a new text with it takes too long.
var ErrTooManyEntries = errors.New("too many entries that nobody vouches for")

// EachRepeatedEntry compares the texts with the entries of the store that others wrote or for which nobody vouches. If
// texts.ComparesOnlyTaintedEntries is set, it compares them only with entries that are labeled as tainted, because an
// agent wrote them after it had read text by others. If a text repeats an entry, EachRepeatedEntry calls onRepeat with
// the entry e and the index i of the text. An entry never counts as a repetition of itself. If a text repeats several
// entries with the same origin (see hashEntryOrigin), EachRepeatedEntry may call onRepeat for only one of them.
//
// If the store is a log, EachRepeatedEntry uses the index x to find the entries. It may also write the file of this
// index, if writerMemory is not nil and the file lacks many entries. writerMemory must be a memory that uses the same
// log. If the store is not a log, EachRepeatedEntry reads all these entries. In this case it returns ErrTooManyEntries
// if the entries have more than 32 MiB of text.
func (x *Index) EachRepeatedEntry(
	ctx context.Context,
	store oxbow.Store,
	writerMemory *oxbow.Memory,
	texts *Texts,
	onRepeat func(e *oxbow.Entry, i int),
) error {
	c := &textComparison{texts: texts, reportRepeat: onRepeat}
	db, isLog := store.(*logstore.DB)
	if !isLog {
		return c.compareAllEntries(ctx, store, maxComparedBytes)
	}
	if texts.ComparesOnlyTaintedEntries {
		if err := c.compareAllEntries(ctx, store, cmp.Or(x.maxTaintedEntryBytes, maxTaintedEntryBytes)); !errors.Is(
			err,
			ErrTooManyEntries,
		) {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.comparisonCallCount++
	found, err := x.findRepeatCandidates(ctx, db, c)
	if err == nil {
		err = c.compareWithCandidateEntries(db, found)
	}
	if to := writableLogStore(writerMemory); err == nil && to != nil {
		_ = x.saveIndexFile(ctx, to) // Ignore the error: a later call tries to write the file again.
	}
	return err
}

// EachTaintedEntry calls the function fn with each tainted entry of a store, until fn returns an error. An entry is
// tainted if an agent wrote the entry after the agent had read text by others. If the tainted entries have more than
// maxTaintedEntryBytes bytes of text, EachTaintedEntry returns ErrTooManyEntries, because EachRepeatedEntry would be
// faster.
func EachTaintedEntry(ctx context.Context, store oxbow.Store, fn func(*oxbow.Entry) error) error {
	left := maxTaintedEntryBytes
	return eachMatchingEntry(ctx, store, filterTermsByReason[:reasonTaintedEntry+1], func(e *oxbow.Entry) error {
		left -= len(e.Content)
		if left < 0 {
			return ErrTooManyEntries
		}
		return fn(e)
	})
}

// EachRepeatedEntryIn compares the texts with entries that the caller chooses. It calls the function eachEntry once,
// with a function compare. eachEntry must call compare for each entry that it wants to compare. If the text with index
// i repeats the entry e, EachRepeatedEntryIn calls onRepeat with e and i. EachRepeatedEntryIn returns the error of
// eachEntry. See also EachRepeatedEntry, which chooses the entries itself.
func (t *Texts) EachRepeatedEntryIn(
	eachEntry func(compare func(*oxbow.Entry) error) error,
	onRepeat func(e *oxbow.Entry, i int),
) error {
	c := &textComparison{texts: t, reportRepeat: onRepeat}
	return eachEntry(func(e *oxbow.Entry) error {
		c.reportRepeatsOfEntry(e)
		return nil
	})
}

// SaveIndex updates the index file of a memory. Whenever entries are changed, oxbow reads this file to find out whether
// the new texts repeat texts by others that the memory contains. Call SaveIndex after writing many entries, because
// otherwise the next writer would have to read all entries that the file lacks. If the file lacks only a few entries,
// SaveIndex does not write it. SaveIndex also does nothing if the memory has no log store, or if its options do not
// allow an index file to be written.
func SaveIndex(ctx context.Context, m *oxbow.Memory) error {
	db := writableLogStore(m)
	if db == nil {
		return nil
	}
	x := new(Index)
	defer x.Close()
	x.mu.Lock()
	err := x.catchUpWithLog(ctx, db)
	if err == nil {
		err = x.saveIndexFile(ctx, db)
	}
	x.mu.Unlock()
	return err
}

// writableLogStore returns the store of a memory if it is a log file and the options allow writing an index file in
// the log's directory. Otherwise it returns nil.
func writableLogStore(m *oxbow.Memory) *logstore.DB {
	if m == nil {
		return nil
	}
	if o := m.Options(); o.ReadOnly && !o.KeepIndex {
		return nil
	}
	db, _ := m.Store().(*logstore.DB)
	return db
}

// findRepeatCandidates returns the entry versions that the texts may repeat, according to the index. If the index
// file is damaged, it builds the index from all entries.
func (x *Index) findRepeatCandidates(
	ctx context.Context,
	db *logstore.DB,
	c *textComparison,
) ([]repeatedEntryCandidate, error) {
	if err := x.catchUpWithLog(ctx, db); err != nil || x.isEmpty() {
		return nil, err
	}
	keys := c.repeatComparison().TextIndexesByKey()
	found, err := x.findCandidatesByKey(keys, c.texts.ComparesOnlyTaintedEntries)
	if err == nil {
		return found, nil
	}
	if err := x.indexAllEntries(ctx, db); err != nil {
		return nil, err
	}
	return x.findCandidatesByKey(keys, c.texts.ComparesOnlyTaintedEntries)
}

// textComparison compares texts with entries.
type textComparison struct {
	texts        *Texts
	reportRepeat func(e *oxbow.Entry, i int)
	// the fingerprints for comparing the new texts (nil until the first comparison)
	fingerprints *fingerprint.RepeatFinder
	foundRepeats map[foundRepeat]bool
}

// foundRepeat records that one of the new texts repeats an entry. textIndex is the index of the new text.
// entryOriginHash is a hash of the properties that the new text inherits from the entry, such as its trust.
type foundRepeat struct {
	entryOriginHash uint64
	textIndex       int32
}

func (c *textComparison) repeatComparison() *fingerprint.RepeatFinder {
	if c.fingerprints == nil {
		c.fingerprints = fingerprint.NewRepeatFinder(c.texts.Texts, c.texts.IgnoredTexts)
		c.foundRepeats = map[foundRepeat]bool{}
	}
	return c.fingerprints
}

// compareAllEntries compares the new texts in c.texts with all entries whose text is foreign, which means that others
// wrote the text or that nobody vouches for it. If c.texts.ComparesOnlyTaintedEntries is set, it compares the new texts
// only with tainted entries, which an agent wrote after it had read text by others. It reports each entry that a new
// text repeats. It returns ErrTooManyEntries if the contents of the entries have more than maxBytes bytes.
func (c *textComparison) compareAllEntries(ctx context.Context, store oxbow.Store, maxBytes int) error {
	terms := filterTermsByReason
	if c.texts.ComparesOnlyTaintedEntries {
		terms = terms[:reasonTaintedEntry+1]
	}
	return eachMatchingEntry(ctx, store, terms, func(e *oxbow.Entry) error {
		maxBytes -= len(e.Content)
		if maxBytes < 0 {
			return ErrTooManyEntries
		}
		c.reportRepeatsOfEntry(e)
		return nil
	})
}

// reportRepeatsOfEntry calls reportRepeat for each new text that repeats words of an entry, unless the text belongs to
// the entry itself.
func (c *textComparison) reportRepeatsOfEntry(e *oxbow.Entry) {
	for _, i := range c.repeatComparison().FindRepeats(ComparableText(e)) {
		if c.texts.EntryNames[i] != e.Name {
			c.reportRepeat(e, i)
			c.foundRepeats[foundRepeat{hashEntryOrigin(e), int32(i)}] = true
		}
	}
}

// compareWithCandidateEntries reads the entries in candidates from db, and compares the new texts in c with them. It
// reports each entry that a new text repeats. It skips candidates that were removed or no longer count as foreign.
func (c *textComparison) compareWithCandidateEntries(db *logstore.DB, candidates []repeatedEntryCandidate) error {
	compared := map[uint64]bool{}
	for _, candidate := range candidates {
		if compared[candidate.entryID] || c.isKnownRepeat(&candidate) {
			continue
		}
		compared[candidate.entryID] = true
		e, err := db.EntryByID(candidate.entryID)
		if err != nil {
			return err
		}
		if e == nil || !c.mustCompareWith(e) {
			continue // Skip an entry that was removed, or whose text no longer counts as foreign.
		}
		c.reportRepeatsOfEntry(e)
	}
	return nil
}

// mustCompareWith reports whether the new texts must be compared with an entry. This is the case if others wrote the
// entry or nobody vouches for it. If only tainted entries are wanted, the entry must be tainted.
func (c *textComparison) mustCompareWith(e *oxbow.Entry) bool {
	class := foreignTextReasonOf(e)
	return class == reasonTaintedEntry || (class != reasonNone && !c.texts.ComparesOnlyTaintedEntries)
}

// isKnownRepeat reports whether the caller need not compare the candidate, which is a version of an entry, with the new
// texts. This is the case if each new text in candidate.newTextIndexes is already known to repeat an entry whose text
// comes from the same source as the candidate.
func (c *textComparison) isKnownRepeat(candidate *repeatedEntryCandidate) bool {
	return !slices.ContainsFunc(candidate.newTextIndexes, func(i int32) bool {
		return !c.foundRepeats[foundRepeat{candidate.entryOriginHash, i}]
	})
}

func compareCandidates(a, b repeatedEntryCandidate) int {
	return cmp.Or(cmp.Compare(a.foreignReason, b.foreignReason), cmp.Compare(a.entryID, b.entryID))
}
