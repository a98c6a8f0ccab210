// Package oxbow is memory for agents that people can read, search, undo and
// trust: a store of entries in one file, and an index that ranks them.
//
//	m, err := oxbow.Open("memory.oxbow", nil)
//	…
//	defer m.Close()
//	_, err = m.Remember(ctx, oxbow.Entry{Name: "deploy", Content: "We ship on Tuesdays."})
//	hits, err := m.Recall(ctx, oxbow.Query{Text: "when do we ship"})
//
// # Words
//
// An [Entry] has a unique name, a content in Markdown, a [Kind], aliases to find
// it by, and labels: pairs of key and value that serve project, tag, file and
// confidence alike. A [Store] keeps entries; a change to it is a list of [Op],
// applied whole or not at all. A [Filter] selects, a [Query] ranks, a [Hit] is
// what was found, and an [Explanation] accounts for its score. A [Memory] is a
// Store with an index over it. Package query reads queries and filters as people
// type them, package scope shows a part of a store as a store, and package vfs
// has the file systems that a store can live in.
//
// # Promises
//
// When Apply, Remember or Forget return without error, the change is on stable
// storage: no crash, no other process, no full disk takes it back. A change that
// failed was not made, unless the error matches [ErrUnknownOutcome]. Every read
// by any process sees every change acknowledged before it began. Rankings are
// deterministic: equal scores are ordered by newer version, then lower ID.
//
// The default store keeps history ([Memory.History]): every version of every
// entry can be listed, gone back to, and undone ([Memory.Versions],
// [Memory.AsOf], [Memory.Undo]), and the chain of hashes over it proves that it
// was not edited ([Memory.Check]). [Memory.Redact] removes a content from the log as well.
//
// Next to the log are files made from it, so that a start reads little. A program
// that stays open renews them in the background; one that ends soon calls
// [Memory.Checkpoint] after its answer. [Memory.Close] never waits for that.
//
// # Errors
//
// Callers branch on the sentinel errors ([ErrNotFound], [ErrExists],
// [ErrConflict], [ErrInvalid], [ErrBusy] …) with errors.Is, and take facts from
// the struct errors ([InvalidError], [ConflictError], [CorruptError],
// [BusyError]) with errors.As.
//
// # Platforms
//
// The package imports nothing but the standard library and this module. All
// writing goes through package vfs, so that it runs on Linux, macOS and
// Windows, in the browser (js/wasm) and under WASI, and in memory.
package oxbow
