// Tour of the package, and specification of the format.

// Package crmem keeps a memory in one file of the format CRMEM v1, byte for
// byte as crabtalk's RFC 0150 has it, so that crabtalk and oxbow can use the
// same file in turn. [Open] gives an [oxbow.Store]; [Import] reads the other
// layouts that begin with the same bytes, too.
//
// # The format
//
// All integers are little-endian. A string is the number of its bytes, as u32,
// and that many bytes of UTF-8. There are no sections, no padding, no checksum
// and no index.
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
// An empty store that has given no id yet is 28 bytes:
//
//	43524d454d00 01000000 0000 00000000  0100000000000000 00000000
//
// # What a reader accepts
//
// A file is refused with a [*FormatError] when the magic, the version or the
// flags are others, when it ends too early, when a string is not UTF-8, or when
// a kind is unknown: this is the list of the RFC. Also refused is what a whole
// rewrite would drop without a word: reserved bytes that are not zero, bytes
// after the last entry, and two entries of one id or of one name. Accepted are
// entries in any order, and a next id that is too low, which is raised: neither
// loses anything. No count and no length is believed before that many bytes are
// there: decoding takes at most 16 times the input and 1 MiB of memory.
//
// # Writing
//
// Every change writes the whole file: to a temporary file next to it, which is
// synced, then renamed over the name, and then the directory is synced. What
// cannot be made durable is not visible: after an error the store answers as
// before it. Writers of several processes take turns by a lock on a file
// next to the store (its name and .lock), and read what others wrote before
// they write. Crabtalk itself takes no lock: against it, the file is read
// again just before the rename.
//
// The format holds notes and archives with name, content, aliases and a date
// in seconds. Labels, other kinds, sources and history have no place in it:
// labels and other kinds are refused with an error that matches
// [oxbow.ErrUnsupported]; the source of an entry is not kept. An entry's Version is made of its bytes, so it
// is the same for every reader, and Updated is Created.
package crmem
