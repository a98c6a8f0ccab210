// This file runs a short form of the damage campaign.

package faults

import (
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

func TestDamage(t *testing.T) {
	testenv.Sequential(t)
	tally, v := DamageStores(1, workload.Setup{})
	if v != nil {
		t.Fatal(v)
	}
	t.Logf("%+v", tally)
	if tally.Harmless+tally.Refused+tally.Torn+tally.Traceless != tally.Files {
		t.Errorf("some files are in no class: %+v", tally)
	}
	if tally.Files < 20_000 || tally.Harmless == 0 || tally.Refused == 0 || tally.Torn == 0 || tally.Traceless == 0 {
		t.Errorf("the campaign looked at too little: %+v", tally)
	}
}
