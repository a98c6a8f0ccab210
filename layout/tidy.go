// This file declares the interfaces of homes that can shorten their own files. The verbs consolidate, compress and undo
// use them.

package layout

import "github.com/oxbow-memory/oxbow/internal/verb"

// A Tidier is a [Home] that can shorten, by fixed rules, the memory that is always in the context,
// and can undo the change.
type Tidier interface {
	Home
	verb.Tidier
}

// A Compressor is a Home that can replace the entries of a period, such as a week, by a shorter
// digest, and can undo the replacement.
type Compressor interface {
	Home
	verb.Compressor
}

type (
	// Tidied describes a change by a [Tidier], made or planned.
	Tidied = verb.Tidied
	// Step describes the change to a fact.
	Step = verb.Step
	// Compression selects what Compress of a [Compressor] compresses.
	Compression = verb.Compression
	// Digest describes the digest of a period.
	Digest = verb.Digest
	// DigestPart is an entry in a digest.
	DigestPart = verb.DigestPart
)

// DefaultOver is the default of [Compression.Over], in bytes. Shorter logs are not worth a digest.
const DefaultOver = 2000
