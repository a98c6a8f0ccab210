// Package oxbow is a memory for AI agents that people can read, search, undo and trust. A memory is a store in one
// file, with an index that ranks entries for a query.
//
//	m, err := oxbow.Open("memory.oxbow", nil)
//	…
//	defer m.Close()
//	_, err = m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We ship on Tuesdays."})
//	hits, err := m.Recall(ctx, oxbow.Query{Text: "when do we ship"})
//
// # Types
//
// An [Entry] has a unique name, a content in Markdown, a [Kind], aliases, and labels. A label is a pair of key and
// value, for example for the entry's project, a tag, a related file or a confidence. A [Store] stores entries. A change
// to a store is a list of ops, each an [Op], and is applied completely or not at all. A [Memory] is a Store with an
// index.
//
// A [Filter] selects entries and a [Query] ranks them. A [Hit] is an entry that a query found, and an [Explanation]
// explains the score of a hit. Package store documents the fields of Entry and Filter, because every store
// implementation uses them.
//
// Package query parses queries and filters as people type them. Package scope presents a part of a store as a store,
// for a program that may see only this part. Package profile selects the entries for an agent's job. Each of these
// packages has an example, and so have [Memory.Watch] and most other methods. Package vfs has the file systems that a
// store can use.
//
// # Guarantees
//
// Apply, Remember and Forget return without error only after the change is on stable storage, where neither a crash nor
// a full disk can undo it. If these calls return an error, the change was not made. The only exception is an error that
// matches [ErrUnknownOutcome]. Every read by any process sees every change that was acknowledged before the read began.
// Rankings are deterministic. Hits with equal scores are ordered by newer version, then by lower ID.
//
// The default store is a log file, which keeps a history of all changes ([Memory.History]). Every version of every
// entry can be listed, restored and undone ([Memory.Versions], [Memory.AsOf], [Memory.Undo]). A chain of hashes over
// the history proves that it was not edited ([Memory.Check]). [Memory.Redact] removes a content from the history.
//
// Next to the log file, a memory writes files that are derived from the log, so that the next process can start
// quickly. A program that runs for long writes these files in the background. A short-lived program calls
// [Memory.Checkpoint] after printing its answer. [Memory.Close] never waits for these files.
//
// # Errors
//
// Use errors.Is to test for the sentinel errors ([ErrNotFound], [ErrExists], [ErrConflict], [ErrInvalid], [ErrBusy] …).
// Use errors.As with the struct errors ([InvalidError], [ConflictError], [CorruptError], [BusyError]) to get details.
//
// # Platforms
//
// The package imports only the standard library and this module. The package writes all files through package vfs, and
// therefore runs on Linux, macOS and Windows, in the browser (js/wasm), under WASI, and in memory.
package oxbow
