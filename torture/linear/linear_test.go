// This file runs the short form of the campaign.

package linear

import (
	"testing"

	"github.com/oxbow-memory/oxbow/torture/rig"
)

func TestHistories(t *testing.T) {
	var all Tally
	for seed := range uint64(60) {
		tally, err := Seed(seed, rig.Setup{})
		all.Add(tally)
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%+v", all)
	if all.Pending == 0 || all.Calls < 4000 {
		t.Errorf("the campaign did too little: %+v", all)
	}
}
