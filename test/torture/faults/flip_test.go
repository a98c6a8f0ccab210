// This file runs a short form of the damage campaign, which is a long test that damages the files of stores.

package faults

import (
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
	"github.com/oxbow-memory/oxbow/test/torture/workload"
)

func TestDamage(t *testing.T) {
	testenv.SkipInShortMode(t)
	tally, v := DamageStores(1, workload.StoreSetup{})
	if v != nil {
		t.Fatal(v)
	}
	t.Logf("%+v", tally)
	if tally.FilesWithAllEntries+tally.FilesRefusedAtOpen+tally.FilesWithReportedLoss+tally.FilesWithUnreportedLoss != tally.DamagedFiles {
		t.Errorf("some files are in no class: %+v", tally)
	}
	if tally.DamagedFiles < 20_000 || tally.FilesWithAllEntries == 0 || tally.FilesRefusedAtOpen == 0 ||
		tally.FilesWithReportedLoss == 0 ||
		tally.FilesWithUnreportedLoss == 0 {
		t.Errorf("the campaign looked at too little: %+v", tally)
	}
}
