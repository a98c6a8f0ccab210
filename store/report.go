// What stores report, and erasure.

package store

import (
	"context"
	"time"
)

// Summary is what the entries of a memory sum up to.
type Summary struct {
	Entries        int
	Content        int64         // bytes
	Counts         map[Label]int // entries by kind, project and tag, under the keys of filters
	Oldest, Newest time.Time     // creation of the first and the last
}

// RecoverReport is what was saved of a damaged store, and what was not.
type RecoverReport struct {
	Out      string      // the new file
	Entries  int         // entries in it
	Changes  int         // changes read
	First    uint64      // first change that the new file holds in its history; those before are in its base
	Last     uint64      // last change read
	Lost     [][2]uint64 // numbers of changes that could not be read, as [first, last]
	BadBytes int64       // bytes that are no record
	Header   bool        // the header was damaged and was worked out from the records
	Base     bool        // some entries that a compaction had kept could not be read
}

// Head is an entry as far as it is known without reading it; see package heads.
type Head struct {
	// Entry is whole; or it has the ID, the version, the kind, the times and the
	// labels of the keys asked for, and is valid until the next head.
	Entry *Entry
	Whole bool
	Size  int // bytes of the content
}

// A Redactor is a Store that can take what an entry held out of its history.
type Redactor interface {
	// Redact removes the entry of that name, with all its versions, from the
	// store and from its history. It cannot be undone. With dry, it only
	// counts. A name that was never used is ErrNotFound.
	Redact(ctx context.Context, name string, dry bool) (RedactReport, error)

	// RedactVersions removes, from the history alone, each version for which match
	// returns true, of any entry. Match is called with every version that the
	// store holds, its Version set; what it returns for one that is current counts
	// for nothing. It must not call the store. With dry, nothing is removed.
	RedactVersions(ctx context.Context, match func(e Entry, current bool) bool, dry bool) (RedactReport, error)
}

// RedactReport is what was erased.
type RedactReport struct {
	Versions int    // versions erased, the current one among them
	Seq      uint64 // the change that records it, 0 when nothing was done
	// Left says what an erasure cannot reach: copies that were made before.
	Left []string
}
