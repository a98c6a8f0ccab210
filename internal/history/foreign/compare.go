// This file compares new texts with the entries that they may repeat.

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

// Texts are texts that are being written.
type Texts struct {
	Names []string // names of the entries with the texts, or ""
	Texts []string
	// IgnoredTexts contains, for each text, another text whose words are ignored, such as the earlier version.
	IgnoredTexts []string
	// OnlyTainted limits the comparison to tainted entries.
	OnlyTainted bool
}

// maxReadBytes limits a comparison in a store without an index. Such a comparison reads foreign entries one by one, and
// fails with ErrTooManyEntries if their total size exceeds this number of bytes.
const maxReadBytes = 32 << 20

// maxTaintedBytes is the maximum total size, in bytes, of the tainted entries that texts are compared with before
// the index is used. Most memories have only a few tainted entries, and reading these takes less time than using
// the index.
const maxTaintedBytes = 64 << 10

// ErrTooManyEntries is returned if entries have too much foreign text to read all of it.
var ErrTooManyEntries = errors.New("too many entries that nobody vouches for")

// EachRepeatedEntry calls fn with each entry whose foreign text is repeated, and with the index of the text that
// repeats this entry. The text of an entry does not repeat the entry itself. If text i repeats several entries that
// have the same trust, taints and reasons why nobody vouches for them, EachRepeatedEntry may call fn for one of
// these entries only.
//
// If the store is a log, EachRepeatedEntry uses the index, and writes the index file if it lacks many entries and
// writer is not nil. writer must be a memory over the same log. Other stores are read, and EachRepeatedEntry
// returns ErrTooManyEntries if the entries have more than 32 MiB of foreign text.
func (x *Index) EachRepeatedEntry(
	ctx context.Context,
	store oxbow.Store,
	writer *oxbow.Memory,
	texts *Texts,
	fn func(e *oxbow.Entry, i int),
) error {
	c := &comparison{texts: texts, onRepeat: fn}
	db, isLog := store.(*logstore.DB)
	if !isLog {
		return c.readEntries(ctx, store, maxReadBytes)
	}
	if texts.OnlyTainted {
		if err := c.readEntries(ctx, store, cmp.Or(x.maxTaintedBytes, maxTaintedBytes)); !errors.Is(
			err,
			ErrTooManyEntries,
		) {
			return err
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.comparisonCount++
	found, err := x.candidatesFor(ctx, db, c)
	if err == nil {
		err = c.readCandidates(db, found)
	}
	if to := writableLog(writer); err == nil && to != nil {
		_ = x.saveFile(ctx, to) // after an error, a later call writes the file
	}
	return err
}

// EachTaintedEntry calls fn with each tainted entry of a store until fn returns an error. It returns
// ErrTooManyEntries if these entries have so much text that EachRepeatedEntry is faster.
func EachTaintedEntry(ctx context.Context, store oxbow.Store, fn func(*oxbow.Entry) error) error {
	left := maxTaintedBytes
	return eachMatchingEntry(ctx, store, classTerms[:classTainted+1], func(e *oxbow.Entry) error {
		left -= len(e.Content)
		if left < 0 {
			return ErrTooManyEntries
		}
		return fn(e)
	})
}

// EachRepeatedEntryIn is like EachRepeatedEntry, for entries that each passes to its function.
func (t *Texts) EachRepeatedEntryIn(
	each func(compare func(*oxbow.Entry) error) error,
	fn func(e *oxbow.Entry, i int),
) error {
	c := &comparison{texts: t, onRepeat: fn}
	return each(func(e *oxbow.Entry) error {
		c.compareEntry(e)
		return nil
	})
}

// SaveIndex writes the index file of a memory if it lacks many entries. Call it after writing many entries, so that
// the next change does not have to read them.
func SaveIndex(ctx context.Context, m *oxbow.Memory) error {
	db := writableLog(m)
	if db == nil {
		return nil
	}
	x := new(Index)
	defer x.Close()
	x.mu.Lock()
	err := x.catchUp(ctx, db)
	if err == nil {
		err = x.saveFile(ctx, db)
	}
	x.mu.Unlock()
	return err
}

// writableLog returns the log of a memory that may write files next to the log, otherwise nil.
func writableLog(m *oxbow.Memory) *logstore.DB {
	if m == nil {
		return nil
	}
	if o := m.Options(); o.ReadOnly && !o.KeepIndex {
		return nil
	}
	db, _ := m.Store().(*logstore.DB)
	return db
}

// candidatesFor returns the versions of entries that may be repeated. If the file is damaged, it reads all entries.
func (x *Index) candidatesFor(ctx context.Context, db *logstore.DB, c *comparison) ([]candidate, error) {
	if err := x.catchUp(ctx, db); err != nil || x.isEmpty() {
		return nil, err
	}
	keys := c.fingerprintComparison().Keys()
	found, err := x.findCandidates(keys, c.texts.OnlyTainted)
	if err == nil {
		return found, nil
	}
	if err := x.readAll(ctx, db); err != nil {
		return nil, err
	}
	return x.findCandidates(keys, c.texts.OnlyTainted)
}

// comparison is a comparison of texts with entries.
type comparison struct {
	texts        *Texts
	onRepeat     func(e *oxbow.Entry, i int)
	fingerprints *fingerprint.Comparison // nil until it is needed
	foundRepeats map[repeat]bool
}

// repeat means that a text repeats an entry with an originHash.
type repeat struct {
	originHash uint64
	textIndex  int32
}

func (c *comparison) fingerprintComparison() *fingerprint.Comparison {
	if c.fingerprints == nil {
		c.fingerprints = fingerprint.NewComparison(c.texts.Texts, c.texts.IgnoredTexts)
		c.foundRepeats = map[repeat]bool{}
	}
	return c.fingerprints
}

// readEntries reads all entries with foreign text and compares the texts with them. It returns ErrTooManyEntries as
// soon as the contents that it has read have more than most bytes together.
func (c *comparison) readEntries(ctx context.Context, store oxbow.Store, most int) error {
	terms := classTerms
	if c.texts.OnlyTainted {
		terms = terms[:classTainted+1]
	}
	return eachMatchingEntry(ctx, store, terms, func(e *oxbow.Entry) error {
		most -= len(e.Content)
		if most < 0 {
			return ErrTooManyEntries
		}
		c.compareEntry(e)
		return nil
	})
}

// compareEntry compares the texts with an entry.
func (c *comparison) compareEntry(e *oxbow.Entry) {
	for _, i := range c.fingerprintComparison().FindRepeats(AllText(e)) {
		if c.texts.Names[i] != e.Name {
			c.onRepeat(e, i)
			c.foundRepeats[repeat{originHash(e), int32(i)}] = true
		}
	}
}

// readCandidates compares the texts with the entries of candidates.
func (c *comparison) readCandidates(db *logstore.DB, all []candidate) error {
	compared := map[uint64]bool{}
	for _, candidate := range all {
		if compared[candidate.id] || c.isKnownRepeat(&candidate) {
			continue
		}
		compared[candidate.id] = true
		e, err := db.EntryByID(candidate.id)
		if err != nil {
			return err
		}
		if e == nil || !c.mustCompare(e) {
			continue // the entry was removed, or a person vouches for the text now
		}
		c.compareEntry(e)
	}
	return nil
}

// mustCompare reports whether the texts must be compared with the entry.
func (c *comparison) mustCompare(e *oxbow.Entry) bool {
	class := entryClass(e)
	return class == classTainted || (class != classOwnText && !c.texts.OnlyTainted)
}

// isKnownRepeat reports whether each written text that has a key in common with the candidate is already known to
// repeat an entry with the same labels and trust. Reading the candidate could then add nothing, so the caller skips
// the candidate. The candidate may be an old version of its entry. Skipping an old version is correct as well, because
// the current version is a candidate of its own.
func (c *comparison) isKnownRepeat(candidate *candidate) bool {
	return !slices.ContainsFunc(candidate.textIndexes, func(i int32) bool {
		return !c.foundRepeats[repeat{candidate.originHash, i}]
	})
}

func compareCandidates(a, b candidate) int {
	return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.id, b.id))
}
