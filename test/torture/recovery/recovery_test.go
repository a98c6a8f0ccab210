// This file runs the campaign of this package, which damages memories and then follows the advice that oxbow gives. By
// default, it damages only some positions of each file. Flags can ask for the long form, which damages every byte.

package recovery

import (
	"flag"
	"sync"
	"testing"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

var (
	files   = flag.Int("files", 40, "damaged files of each kind of store; all there are with 0")
	seed    = flag.Uint64("seed", 1, "which damages, and what lies next to each file")
	workers = flag.Int("workers", 2, "files tried at the same time")
	large   = flag.Int("entries", 8, "entries of a store")
)

// TestRecovery damages stores of each kind at positions that are spread evenly over the file. Nothing outside the
// damaged records may be lost. The long form damages every byte:
//
//	go test ./recovery -timeout 0 -args -files 0
func TestRecovery(t *testing.T) {
	testenv.SkipInShortMode(t)
	var all DamageTally
	for _, kind := range StoreKinds {
		s, err := BuildStore(t.Context(), t.TempDir(), kind, *large)
		if err != nil {
			t.Fatal(kind, err)
		}
		damages := s.DamageAllBytes(*seed)
		step := 1
		if *files > 0 {
			step = max(1, len(damages) / *files)
			// Three kinds of damage follow each other. A step that is a multiple of three would choose only one of
			// them.
			if step%3 == 0 {
				step++
			}
		}
		tried := s.ListRecordDamages()
		for i := int(*seed) % step; i < len(damages); i += step {
			tried = append(tried, damages[i])
		}
		var mu sync.Mutex // mu guards tally, next and failed.
		var tally DamageTally
		next, failed := 0, 0
		var wg sync.WaitGroup
		for range *workers {
			dir := t.TempDir()
			wg.Go(func() {
				var own DamageTally
				for {
					mu.Lock()
					i := next
					next++
					stop := i >= len(tried) || failed >= 5
					mu.Unlock()
					if stop {
						break
					}
					if err := s.TestDamage(t.Context(), dir, tried[i], *seed, &own); err != nil {
						mu.Lock()
						failed++
						mu.Unlock()
						t.Errorf("%s, damage %d: %v", kind, i, err)
					}
				}
				mu.Lock()
				tally.Add(own)
				mu.Unlock()
			})
		}
		wg.Wait()
		t.Logf("%s, %d bytes: %+v", kind, s.UsedBytes(), tally)
		all.Add(tally)
	}
	t.Logf("all: %+v", all)
	if all.LostEntryCount > 0 || all.ReportedDamageCount == 0 || all.HarmlessCount == 0 || all.RolledBackCount == 0 ||
		all.UnnoticedLossCount == 0 {
		t.Errorf("the campaign lost entries, or saw too little: %+v", all)
	}
}
