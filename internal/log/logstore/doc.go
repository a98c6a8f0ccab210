// Package logstore is the default store. It keeps entries in one append-only log of
// changes, with the complete history.
//
// A change is a record of package wal ([DB.Apply]; see record.go for its format). The
// current state consists of a snapshot, whose rows are read when they are needed, and the
// changes after it. Concurrent changes share one sync. A compaction rewrites the log from a
// later change on, while others read and write it. A redaction removes contents from the
// whole log.
//
// Other packages can store derived files next to the log, such as an index ([DB.Derived]).
// The store renames such a file when it is complete, and removes it when it is not valid
// any more. It does not interpret the content.
package logstore
