// This file runs the short form of the campaign.

package linear

import (
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/torture/rig"
	"github.com/oxbow-memory/oxbow/internal/wal"
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

// A store that is broken on purpose is found out: by the judge, or by the
// store itself.
func TestBreaksAreCaught(t *testing.T) {
	for name, b := range map[string]wal.Breaks{
		"a writer does not read what others wrote": wal.BreakCatchUp,
		"a replaced file goes unnoticed":           wal.BreakIdentity,
	} {
		caught := ""
		for seed := range uint64(100) {
			_, err := Seed(seed, rig.Setup{Breaks: b})
			if err != nil {
				caught = err.Error()
				break
			}
		}
		if caught == "" {
			t.Errorf("%s: not caught", name)
		}
		t.Logf("%s: %.200s", name, strings.ReplaceAll(caught, "\n", " "))
	}
}
