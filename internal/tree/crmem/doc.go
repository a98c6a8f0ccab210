// This file contains the package documentation and the specification of the format.

// Package crmem stores a memory in a single file in the format CRMEM v1, exactly as specified in
// crabtalk's RFC 0150, so that crabtalk and oxbow can use the same file alternately. [Open] returns
// an [oxbow.Store]. [Import] also reads other layouts that start with the same bytes.
//
// # The format
//
// All integers are little-endian. A string is the number of its bytes as u32, followed by the
// bytes, which are UTF-8. The format does not use sections, padding, checksums or indexes.
//
//	offset  size
//	     0     6  "CRMEM" and a zero byte
//	     6     4  version, u32: 1
//	    10     2  flags, u16: 0
//	    12     4  reserved: 0
//	    16     8  next id, u64: above every id given so far
//	    24     4  number of entries, u32
//	    28        the entries, in order of their ids, up to the end of the file
//
// An entry:
//
//	8  id, u64
//	8  created at, u64: seconds since 1970-01-01 UTC
//	4  kind, u32: 0 a note, 1 an archive
//	   name, a string
//	   content, a string
//	4  number of aliases, u32
//	   the aliases, strings
//
// An empty store without any previous entries has 28 bytes:
//
//	43524d454d00 01000000 0000 00000000  0100000000000000 00000000
//
// # What a reader accepts
//
// According to the RFC, a file is refused with a [*FormatError] if the magic, version or flags are different, if the
// file ends too early, if a string is not UTF-8, or if a kind is unknown. This package also refuses data that
// rewriting the file would lose silently: reserved bytes that are not zero, bytes after the last entry, and two
// entries with the same ID or name. It accepts entries in any order. It also accepts and corrects a next ID that is
// too low, because this loses nothing. Counts and lengths are checked against the number of remaining bytes before
// memory is allocated. Decoding uses at most 16 times the size of the input plus 1 MiB.
//
// # Writing
//
// Every change writes the whole file. A change writes a temporary file next to the old file, syncs
// the temporary file, renames it to the final name, and syncs the directory. A change that could
// not be synced does not become visible. After the error, the store returns the previous entries.
// Writing processes are serialized by a lock on a file next to the store (its name plus .lock).
// Each process reads the changes of other processes before it writes. Crabtalk does not use a lock.
// To detect a change by crabtalk, the store checks the file again just before the rename.
//
// The format can store notes and archives with name, content, aliases and a date in seconds. It
// cannot store labels, other kinds, sources and a history. Labels and other kinds are refused with
// an error that matches [oxbow.ErrUnsupported]. The source of an entry is not stored. An entry's
// Version is computed from the entry's bytes, so that every reader gets the same Version. Updated
// is equal to Created.
package crmem
