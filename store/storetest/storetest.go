// Package storetest has the tests that every [oxbow.Store] must pass. To test your own
// store, write
//
//	func TestStore(t *testing.T) { storetest.Run(t, open, storetest.Can{…}) }
//
// A change of the Store interface's contract must begin with a test in this package.
package storetest

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// Run runs the tests of a store. The function open must return a new, empty store. Run closes the store after each
// test. The parameter features specifies which features the store has. If the field Reopen of the parameter features is
// set, Reopen must open once more the store that the function open returned last.
func Run(t *testing.T, open func(t *testing.T) oxbow.Store, features Can) {
	if features.Kinds == nil {
		features.Kinds = oxbow.Kinds()
	}
	for _, tc := range []struct {
		name string
		test func(t *testing.T, s oxbow.Store, can Can)
	}{
		{"Add", testAddEntry}, {"Update", testUpdate}, {"Alias", testAlias}, {"UniqueAliases", testUniqueAliases},
		{"Relabel", testRelabel},
		{"Remove", testRemove}, {"Atomic", testAtomicity}, {"CompareAndSet", testVersionCondition},
		{"Order", testListOrder}, {"Filter", testFilter}, {"Names", testNames}, {"Spellings", testUnicodeSpellings},
		{"OldSpellings", testOldSpellings}, {"Contents", testContents},
		{"Refused", testRefusedOps}, {"Commit", testCommit}, {"CommitParallel", testParallelCommits},
		{"CommitOpID", testCommitOpID}, {"Snapshot", testSnapshot}, {"Parallel", testParallelWrites},
		{"Watch", testWatch}, {"Canceled", testCanceledContext}, {"Reopen", testReopen}, {"Closed", testClosedStore},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t)
			tc.test(t, s, features)
			checkStore(t, s)
			if err := s.Close(); err != nil && !errors.Is(err, oxbow.ErrClosed) {
				t.Errorf("Close() = %v", err)
			}
		})
	}
}
