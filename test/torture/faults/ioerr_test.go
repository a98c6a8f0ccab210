// This file runs a short form of the I/O error campaign, which is a long randomized test that lets disk operations
// fail.

package faults

import (
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestFaults(t *testing.T) {
	testenv.SkipInShortMode(t)
	var all DiskErrorTally
	for seed := uint64(1); seed <= 4; seed++ {
		tally, v := FindErrors(seed, DiskErrorOptions{ImagesPerError: 12})
		all.Add(tally)
		if v != nil {
			for i, st := range v.Steps {
				t.Logf("step %d: %v", i+1, st)
			}
			t.Fatal(v)
		}
	}
	t.Logf("%+v", all)
	if all.Faults < 800 || all.PossibleImages < 8000 || all.FailedSyncsAcknowledged == 0 ||
		all.UnknownOutcomeChanges == 0 {
		t.Errorf("the campaign looked at too little: %+v", all)
	}
}
