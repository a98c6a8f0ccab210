// Package logstore is the default store: entries in one append-only log of changes, with
// all history.
//
// A change is a record of package wal ([DB.Apply]; record.go has its format). The state
// that the log adds up to is a snapshot, the rows of which are read when they are needed,
// and the changes after it. Concurrent changes share one sync. A compaction writes the log
// again from a change on, next to readers and writers; a redaction takes contents out of
// all of it.
//
// What others make of the log, such as an index, are files next to it ([DB.Derived]): the
// store names them when they are whole, and removes them when what they were made of is
// gone. It does not know what is in them.
package logstore
