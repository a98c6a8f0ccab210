// This file runs a short form of the concurrency campaign, which is a long randomized test that runs goroutines in
// several simulated processes.

package faults

import (
	"testing"

	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

func TestHistories(t *testing.T) {
	var all LinearizabilityTally
	for seed := range uint64(60) {
		tally, err := CheckLinearHistory(seed, workload.StoreSetup{})
		all.Add(tally)
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%+v", all)
	if all.CallsPendingAtKill == 0 || all.Calls < 4000 {
		t.Errorf("the campaign did too little: %+v", all)
	}
}
