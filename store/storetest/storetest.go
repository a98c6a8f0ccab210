// Package storetest holds the tests that every [oxbow.Store] must pass. A store
// of one's own runs them with
//
//	func TestStore(t *testing.T) { storetest.Run(t, open, storetest.Can{…}) }
//
// New behaviour of the seam starts here.
package storetest

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// Run runs the contract. Open returns an empty store for each test; the test
// closes it. With can.Reopen, the store that was opened last is opened again.
func Run(t *testing.T, open func(t *testing.T) oxbow.Store, can Can) {
	if can.Kinds == nil {
		can.Kinds = oxbow.Kinds()
	}
	for _, tc := range []struct {
		name string
		test func(t *testing.T, s oxbow.Store, can Can)
	}{
		{"Add", testAdd}, {"Update", testUpdate}, {"Alias", testAlias}, {"UniqueAliases", testUniqueAliases}, {"Relabel", testRelabel},
		{"Remove", testRemove}, {"Atomic", testAtomic}, {"CompareAndSet", testIf},
		{"Order", testOrder}, {"Filter", testFilter}, {"Names", testNames}, {"Spellings", testSpellings}, {"OldSpellings", testOldSpellings}, {"Contents", testContents},
		{"Refused", testRefused}, {"Commit", testCommit}, {"CommitParallel", testCommitParallel}, {"CommitOpID", testCommitOpID}, {"Snapshot", testSnapshot}, {"Parallel", testParallel},
		{"Watch", testWatch}, {"Canceled", testCanceled}, {"Reopen", testReopen}, {"Closed", testClosed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := open(t)
			tc.test(t, s, can)
			check(t, s)
			if err := s.Close(); err != nil && !errors.Is(err, oxbow.ErrClosed) {
				t.Errorf("Close() = %v", err)
			}
		})
	}
}
