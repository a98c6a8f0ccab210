// Package wal keeps records of bytes in one append-only file that several
// processes share. A record that [Log.Append] returned is on stable storage; a
// crash leaves every such record and at most a prefix of those in flight.
//
// The file is a header and then records without gaps. Behind the last record
// the file is filled with zeros: free space that makes an append an overwrite,
// which costs less to sync than growing does, and leaves room to write when
// the disk is full.
//
// One process writes at a time, under an exclusive lock on a file next to the
// log. Readers take no lock: they look whether the file of that name is still
// the one they have open, and whether a record stands where their last one
// ended.
package wal
