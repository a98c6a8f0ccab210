// Package browser is a file system in a web browser: files that stay when the
// page is reloaded, the tab closed, or the browser killed. It is there for
// GOOS=js alone; elsewhere the package is empty.
//
//	fsys, err := browser.Open(ctx, "notes", nil)
//	…
//	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: fsys})
//
// # Where the files are
//
// In an IndexedDB database of the page's origin (https://www.w3.org/TR/IndexedDB/),
// which pages and workers have alike. All tabs and workers of one origin that
// open the same name share the files, as processes share a directory. Nothing
// is kept in between: what one has written, the others read.
//
// Each method is one transaction, so that each write, truncation and rename
// happens whole or not at all. A write is handed to the browser at once; File.Sync
// and SyncDir end a transaction of durability "strict", of which the browser
// says that it is done only when all that came before is on stable storage.
//
// A browser may throw away the data of an origin when its disk is full, unless
// it was asked not to: see FS.Persist.
//
// # Locks
//
// A lock is a Web Lock (https://www.w3.org/TR/web-locks/): it ends with the page
// or worker that holds it, and is never taken from a living one. Browsers offer
// Web Locks to secure pages only: those that came by https or from localhost.
//
// # Waiting
//
// Every method waits for the browser, which answers only when JavaScript has
// its turn. Inside a function that JavaScript calls (js.FuncOf) they would wait
// for ever: such a function starts a goroutine and returns, as is the rule of
// package syscall/js.
package browser
