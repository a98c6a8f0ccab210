// This file runs a short form of the crash campaign, which is a long randomized test that lets the simulated disk
// crash.

package faults

import (
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

func TestCrash(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]CrashOptions{
		"two processes": {},
		"one process":   {ProcessCount: 1},
		"plain":         {UsesPlainDisk: true, ImagesPerRecoveryCrash: -1},
		"short texts":   {UsesShortTexts: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			most := 10_000
			if testing.Short() || o.UsesPlainDisk {
				most = 1_000
			}
			var all CrashTally
			for seed := uint64(1); all.PossibleDiskContents < most; seed++ {
				tally, v := FindCrashViolation(seed, o)
				all.Add(tally)
				if v != nil {
					for i, st := range v.Steps {
						t.Logf("step %d: %v", i+1, st)
					}
					t.Fatal(v)
				}
			}
			t.Logf("%+v", all)
			if all.DistinctCrashContents < most/10 || (o.ProcessCount != 1 && all.Kills == 0) ||
				(o.ImagesPerRecoveryCrash == 0 && all.RecoveryCrashes == 0) {
				t.Errorf("the campaign looked at too little: %+v", all)
			}
		})
	}
}

// TestSeedsRepeat tests that two runs with the same seed find no violation and return the same counts. One of the
// counts is the number of different disk contents after a crash. Contents are different if the names or bytes of their
// files are.
func TestSeedsRepeat(t *testing.T) {
	testenv.SkipInShortMode(t)
	for _, seed := range []uint64{1, 2, 4} { // These seeds have few images.
		a, va := FindCrashViolation(seed, CrashOptions{})
		b, vb := FindCrashViolation(seed, CrashOptions{})
		if a != b || va != nil || vb != nil {
			t.Errorf("seed %d: %+v, %v and then %+v, %v", seed, a, va, b, vb)
		}
	}
}

// TestMisjudged repeats the script of a seed that the test of crashes once reported as wrong by mistake. In this
// script, a change with an op ID is refused while the repetition of another change is in progress.
func TestMisjudged(t *testing.T) {
	testenv.SkipInShortMode(t)
	for _, seed := range []uint64{1343} {
		if tally, v := FindCrashViolation(seed, CrashOptions{}); v != nil || tally.PossibleDiskContents == 0 {
			t.Errorf("seed %d: %+v, %v", seed, tally, v)
		}
	}
}
