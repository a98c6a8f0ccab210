// Package wal stores records of bytes in an append-only file, which several processes share. When
// [Log.Append] returns, the appended records are on stable storage. After a crash, the file has all
// these records and at most a prefix of the records that were being written.
//
// The file has a header and then the records without gaps. The rest of the file is filled
// with zeros. Because of this free space, an append overwrites bytes, which is faster to
// sync than extending the file, and there is room to write when the disk is full.
//
// At most one process writes at a time, and holds an exclusive lock on a file next to the log. Readers do not need a
// lock. They check whether the file name still refers to the open file, and whether a new record follows the last
// record that was read.
package wal
