// Package browser implements a file system in a web browser. The files survive a page reload, and the end of the tab
// or the browser. The package is empty unless GOOS is js.
//
//	fsys, err := browser.Open(ctx, "notes", nil)
//	…
//	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: fsys})
//
// # Where the files are
//
// The files are in an IndexedDB database of the page's origin (https://www.w3.org/TR/IndexedDB/), which pages and
// workers can use alike. All tabs and workers of the origin that open the same name share the files, as processes
// share a directory. The package does not cache data, so each tab reads the data that any tab has written.
//
// Each method is one transaction, so each write, truncation and rename is done completely
// or not at all. Writes are passed to the browser at once. File.Sync and SyncDir end with a
// transaction of durability "strict". According to the browser, such a transaction is
// complete only when all earlier changes are on stable storage.
//
// If the disk is full, a browser may delete the data of an origin, unless the page has asked the
// browser to keep the data (see FS.Persist).
//
// # Locks
//
// A lock is a Web Lock (https://www.w3.org/TR/web-locks/). The lock ends with the page or
// worker that holds it, and is never taken from a living page. Browsers provide Web Locks
// only to secure pages, which were loaded by https or from localhost.
//
// # Waiting
//
// Every method waits for the browser, which answers only while JavaScript runs. In a
// function that JavaScript calls (js.FuncOf), a method would therefore wait forever. As
// package syscall/js requires, such a function must start a goroutine and return.
package browser
