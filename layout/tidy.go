// This file declares the interfaces of homes (directories of memories) that can shorten their own files. The verbs
// "consolidate", "compress" and "undo" use these interfaces.

package layout

import "github.com/oxbow-memory/oxbow/internal/verb"

// A Tidier is a [Home] that can shorten the part of its memory that is always in the context. It shortens this part by
// fixed rules. It can also undo the shortening.
type Tidier interface {
	Home
	verb.Tidier
}

// A Compressor is a [Home] that can replace the entries of a period, such as a week, by a shorter digest. It can also
// take this back.
type Compressor interface {
	Home
	verb.Compressor
}

type (
	// Tidied describes the changes that a [Tidier] has made, or would make.
	Tidied = verb.Tidied
	// Step describes how one unit of the memory, such as a fact in MEMORY.md, was changed.
	Step = verb.Step
	// Compression selects the logs that a [Compressor] replaces by digests.
	Compression = verb.Compression
	// Digest describes a digest, an entry that replaces the logs of a period by a shorter text.
	Digest = verb.Digest
	// DigestPart is an entry that belongs to a digest.
	DigestPart = verb.DigestPart
)

// DefaultOver is the default of [Compression.Over], in bytes. A digest of shorter logs would save too little.
const DefaultOver = 2000
