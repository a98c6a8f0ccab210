// Package store defines the types that the memory and its storage share, such as the [Entry], the
// [Op] that changes an entry, and the interface [Store].
//
// Package oxbow has aliases for all these types, so most programs need only that package.
// To write a new kind of store, import this package and implement [Store]. The interfaces
// [Watcher], [Sequencer], [Historian], [Checker], [Counter], [Compactor] and [Redactor] are
// optional. Package storetest has the tests that every store must pass.
package store
