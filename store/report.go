// This file defines the reports of stores, and the interface for redaction.

package store

import (
	"context"
	"time"
)

// A Summary describes the entries of a memory in numbers.
type Summary struct {
	Entries int
	Content int64 // total size of the entries' contents, in bytes
	// number of entries for each kind, project and tag (the label keys are the keys that filters use)
	Counts         map[Label]int
	Oldest, Newest time.Time // creation times of the first and the last entry
}

// A RecoverReport describes which data was saved from a damaged store.
type RecoverReport struct {
	Out     string // path of the new file
	Entries int    // number of entries in the new file
	Changes int    // number of changes that could be read
	// Number of the first change in the new file's history. The effect of earlier changes is contained in the state
	// with which the new file begins.
	First    uint64
	Last     uint64      // number of the last change that could be read
	Lost     [][2]uint64 // ranges [first, last] of changes that could not be read
	BadBytes int64       // number of bytes that belong to no record
	Header   bool        // The header of the log file was damaged and was reconstructed from the log's records.
	// The log's base contains the state after a compaction. Base is set if some entries in the base could not be read.
	Base bool
}

// HeadName is the key by which a caller of [HeadViewer.ViewHeads] requests the entries' names and aliases.
const HeadName = "name"

// A Head is an entry without its content. If a store has the whole entry in memory, the head may contain the whole
// entry (see package heads).
type Head struct {
	// If Whole is set, Entry is the whole entry. Otherwise, Entry contains only the ID, version, kind, times and the
	// labels with the requested keys. If [HeadName] is a requested key, Entry also contains the name and the aliases.
	// Entry is valid only until the iteration returns the next Head.
	Entry *Entry
	Whole bool
	Size  int // number of bytes in the content
}

// A Redactor is a Store that can remove contents from its history.
type Redactor interface {
	// Redact removes all versions of the entry with this name from the store and its
	// history. This cannot be undone. If dryRun is set, it only counts the versions. If the
	// name was never used, the error matches ErrNotFound.
	Redact(ctx context.Context, name string, dryRun bool) (RedactReport, error)

	// RedactVersions removes old versions of entries from the history. The function match is called with each version,
	// and must not call the store. If match returns true, the version is removed, unless it is the current version of
	// its entry. If dryRun is set, nothing is removed.
	RedactVersions(ctx context.Context, match func(e Entry, isCurrent bool) bool, dryRun bool) (RedactReport, error)
}

// A RedactReport describes a redaction.
type RedactReport struct {
	Versions int    // number of removed versions, including the current version
	Seq      uint64 // number of the change that records the redaction, or 0 if nothing was removed
	// Left lists places that may still contain a copy of the removed content, because the store could not remove it
	// there.
	Left []string
}
