// This file declares what the verbs need from a home in another layout: how it shortens its own files, and undoes that.

package verb

import (
	"context"
	"time"

	"github.com/oxbow-memory/oxbow"
)

// LayoutHome is an opened home in another layout than oxbow's own. It may also be a [Tidier] or a [Compressor].
type LayoutHome interface {
	Memory() *oxbow.Memory
}

// A Tidier is a home that can shorten, by fixed rules, the memory that is always in the context,
// and can undo the change.
type Tidier interface {
	// Consolidate removes facts that repeat other facts. With dry, it changes nothing, and returns
	// the changes that a call without dry would make.
	Consolidate(ctx context.Context, dry bool) (Tidied, error)
	// Compress shortens the memory to at most budget tokens. The budget is at least 1. Removed text
	// is moved to another file of the home. If that is impossible, nothing changes and the error
	// matches oxbow.ErrInvalid.
	Compress(ctx context.Context, budget int, dry bool) (Tidied, error)
	// Revert undoes the change with the given number, or the last change if number is 0. The error
	// matches oxbow.ErrNotFound if the change does not exist, and oxbow.ErrConflict if the memory
	// was changed since.
	Revert(ctx context.Context, number int, dry bool) (Tidied, error)
}

// Tidied describes a change that shortens the memory, made or planned.
type Tidied struct {
	Number int       `json:"number,omitempty"` // number to pass to Revert (0 if nothing was changed)
	What   string    `json:"what"`             // "consolidate", "compress" or "overwrite"
	Time   time.Time `json:"time"`
	// estimated tokens, before the change, of the memory that is always in the context
	Before int      `json:"tokens_before"`
	After  int      `json:"tokens_after"`
	Steps  []Step   `json:"steps"`
	Notes  []string `json:"notes,omitempty"` // remarks for the user
}

// Step describes the change to a fact.
type Step struct {
	Did  string `json:"did"`            // "drop", "move", "shorten" or "put back"
	Text string `json:"text"`           // the fact
	Kept string `json:"kept,omitempty"` // text that remains instead of the fact
	Why  string `json:"why"`
}

// A Compressor is a home that can replace the entries of a period, such as a week, by a shorter
// digest, and can undo the replacement.
type Compressor interface {
	// Spans returns the lengths of the periods that can be compressed, such as "week" and "month",
	// the shortest first.
	Spans() []string
	// Compress replaces entries by digests and returns the digests. If no entries need
	// compressing, it returns an empty list.
	Compress(ctx context.Context, r Compression) ([]Digest, error)
	// Decompress deletes the named digests and restores the entries that the digests replaced. With
	// dry, it deletes nothing, and returns the digests that a call without dry would delete.
	Decompress(ctx context.Context, dry bool, names ...string) ([]Digest, error)
}

// Compression selects what [Compressor.Compress] compresses.
type Compression struct {
	Span   string // length of the period, one of the results of Spans
	Period string // the period, for example 2026-W16, or "" for all periods that have ended
	// Texts contains the text of each digest, by [DigestPart.Group]. If a group's text is
	// missing, the layout generates it. Texts requires a Period.
	Texts map[string]string
	// Over is a size in bytes. Logs that are not longer than Over are not compressed. 0 means the
	// layout's default, or 1 if Texts are given.
	Over int
	Dry  bool // only return the digests, and change nothing
}

// Digest describes the digest of a period.
type Digest struct {
	Name   string       `json:"name"`  // for example week-2026-W16
	File   string       `json:"file"`  // file that contains the digest
	Covers []string     `json:"files"` // files that the digest replaces
	Parts  []DigestPart `json:"parts"`
	Notes  []string     `json:"notes,omitempty"`
	// Skipped is the reason why the period was not compressed.
	Skipped string `json:"skipped,omitempty"`
}

// DigestPart is an entry in a digest. Entries that differ in labels other than tags, files and
// confidence are put into different parts. A filter by labels then selects the parts that replace
// the entries it would have selected.
type DigestPart struct {
	Entry string `json:"entry"`
	// labels that distinguish this part from the digest's other parts, such as "project:vtt" (may
	// be empty)
	Group   string        `json:"group"`
	Labels  []oxbow.Label `json:"labels"`
	Entries int           `json:"entries"` // number of entries that the part replaces
	Before  int           `json:"before"`  // size of the contents of these entries, in bytes
	After   int           `json:"after"`   // size of Text, in bytes
	Text    string        `json:"text"`
}
