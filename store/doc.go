// Package store has the words of a memory, and the seam between it and what keeps it: the
// [Entry], the [Op] that changes it, the [Filter] that selects, the errors, and the
// interface [Store].
//
// Programs find all of it in package oxbow, under the same names. A store of one's own
// imports this package, implements [Store] and as much of [Watcher], [Sequencer],
// [Historian], [Checker], [Counter], [Compactor] and [Redactor] as it can, and is tested
// with package storetest.
package store
