// This file runs the short form of the campaign.

package crash

import (
	"testing"
)

func TestCrash(t *testing.T) {
	var all Tally
	for seed := uint64(1); all.Images < 20_000; seed++ {
		tally, v := Seed(seed, Options{})
		all.Add(tally)
		if v != nil {
			t.Errorf("%v", v)
			for i, st := range v.Steps {
				t.Logf("step %d: %v", i+1, st)
			}
			break
		}
	}
	t.Logf("%+v", all)
}
