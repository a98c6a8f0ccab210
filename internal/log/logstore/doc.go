// Package logstore is the default store, which keeps entries in a single append-only log of changes, with the complete
// history.
//
// A change is a record of package wal (written by [DB.Apply], with the format in record.go). The current state consists
// of a snapshot, which reads rows only when needed, and the changes after the snapshot. Concurrent changes share a
// single sync. A compaction drops the oldest changes by rewriting the log, while other processes read and write the
// log. A redaction removes contents from the whole log.
//
// Other packages can store derived files next to the log, such as an index ([DB.DerivedFile]). The store renames a
// derived file when the file is complete, and removes the file when the content becomes invalid. The store does not
// interpret the content.
package logstore
