// A home is the directory of a memory, and its layout is the way in which entries are stored in files. This file
// declares operations that a home in a layout other than oxbow's may offer. Such a home can shorten its own files, and
// can undo that change.

package verb

import (
	"context"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// LayoutHome is an open home with a layout other than oxbow's own. It may also be a [Tidier] or a [Compressor].
type LayoutHome interface {
	Memory() *oxbow.Memory
}

// A Tidier is a home (the directory of a memory) with a file that every model receives as a whole. It can shorten this
// file by fixed rules, and can undo that.
type Tidier interface {
	// Consolidate removes facts that repeat other facts. If dry is set, it changes nothing, and returns the changes
	// that a call without dry would make.
	Consolidate(ctx context.Context, dry bool) (Tidied, error)
	// Compress shortens the memory to at most budget tokens, which must be at least 1. It moves the removed text to
	// another file of the home. If that is impossible, nothing changes, and the error matches oxbow.ErrInvalid.
	Compress(ctx context.Context, budget int, dry bool) (Tidied, error)
	// Revert undoes the change with the given number, or the last change if number is 0. The error matches
	// oxbow.ErrNotFound if such a change does not exist, and oxbow.ErrConflict if the memory has changed since.
	Revert(ctx context.Context, number int, dry bool) (Tidied, error)
}

// Tidied describes a change that has shortened the memory or, in a dry run, would shorten it.
type Tidied struct {
	// number with which Revert can undo the change (0 if nothing was changed)
	Number int       `json:"number,omitempty"`
	What   string    `json:"what"` // kind of change: "consolidate", "compress" or "overwrite"
	Time   time.Time `json:"time"`
	// estimated number of tokens in the memory before the change
	Before int      `json:"tokens_before"`
	After  int      `json:"tokens_after"`
	Steps  []Step   `json:"steps"`
	Notes  []string `json:"notes,omitempty"` // remarks for the user
}

// Step describes how a shortening of the memory, or its undo, changed one fact.
type Step struct {
	Did  string `json:"did"`  // the action on the fact: "drop", "move", "shorten" or "put back"
	Text string `json:"text"` // text of the fact before the change
	// text that remains in the memory in place of Text: another fact's text, or the shortened fact
	Kept string `json:"kept,omitempty"`
	Why  string `json:"why"`
}

// A Compressor is a home that can replace the entries of a period, such as a week, by a digest, which is a shorter
// text. It can also undo that.
type Compressor interface {
	// Spans returns the lengths of periods that can be compressed, such as "week" and "month", the shortest first.
	Spans() []string
	// Compress replaces entries by digests and returns the digests. The list is empty if nothing could be compressed.
	Compress(ctx context.Context, r Compression) ([]Digest, error)
	// Decompress deletes the named digests, and restores the entries that they replaced. If dry is set, it changes
	// nothing, and returns the digests that a call without dry would delete.
	Decompress(ctx context.Context, dry bool, names ...string) ([]Digest, error)
}

// Compression says what [Compressor.Compress] should compress.
type Compression struct {
	Span   string // length of the period to compress, such as "week"; a result of [Compressor.Spans]
	Period string // the period to compress, such as 2026-W16, or "" for all periods that have ended
	// Texts contains the text of each digest, by [DigestPart.Group]. The layout generates the text of a group that is
	// missing. If Texts is set, Period must be set.
	Texts map[string]string
	// Over is a size in bytes: only logs that are longer than Over bytes are compressed. If Over is 0, the layout's
	// default size is used. But if Texts is set, 0 means 1, so that every log for which Texts contains a text is
	// compressed.
	Over int
	Dry  bool // return the digests without changing anything
}

// Digest describes the shorter text that replaces the entries of a period.
type Digest struct {
	Name   string       `json:"name"`  // name of the digest, for example week-2026-W16
	File   string       `json:"file"`  // name of the file that contains the digest
	Covers []string     `json:"files"` // names of the files that the digest replaces
	Parts  []DigestPart `json:"parts"`
	Notes  []string     `json:"notes,omitempty"`
	// Skipped says why the entries of this period were not replaced by a digest ("" if they were).
	Skipped string `json:"skipped,omitempty"`
}

// DigestPart is one entry of a digest. A digest is a file that replaces older entries. The replaced entries with the
// same labels are combined in one DigestPart, so that a filter by labels still finds the right text. Entries with
// different labels are in different parts. Differences in tags, files and confidence are ignored.
type DigestPart struct {
	Entry string `json:"entry"`
	// labels that the replaced entries have in common, such as "project:vtt" (may be empty)
	Group   string        `json:"group"`
	Labels  []oxbow.Label `json:"labels"`
	Entries int           `json:"entries"` // number of entries that this part of the digest replaces
	Before  int           `json:"before"`  // total size of the replaced entries' contents, in bytes
	After   int           `json:"after"`   // size of the new text in Text, in bytes
	Text    string        `json:"text"`
}
