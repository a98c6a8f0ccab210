// This file tests an import or another run with many changes. If a text repeats a tainted entry, the run must recognize
// the repetition. A tainted entry contains text that nobody vouched for.

package provenance

import (
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestTaintedEntriesOfARun imports texts that repeat a tainted entry. The entry is either from before the import or
// from an earlier change of the import. The texts must become tainted in both cases, with and without the list of
// tainted entries that a run keeps.
func TestTaintedEntriesOfARun(t *testing.T) {
	const (
		old = "The harbour master said that every boat must leave the northern quay before the autumn storms arrive."
		own = "Visitors reported that the lighthouse keeper sells tickets for the morning ferry behind the old cannery."
	)
	taint := func(value string) []oxbow.Label { return []oxbow.Label{{Key: oxbow.LabelTaint, Value: value}} }
	for _, keepsList := range []bool{true, false} {
		screener := Screener{}
		m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem(), Screen: screener.ScreenOps})
		if err != nil {
			t.Fatal(err)
		}
		before := oxbow.Add{Name: "before", Content: old, Labels: taint("web")}
		if err := m.Store().Apply(t.Context(), before); err != nil {
			t.Fatal(err)
		}
		ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported})
		if keepsList {
			ctx = verb.WithTaintedEntries(ctx)
		}
		for _, op := range []oxbow.Op{
			oxbow.Add{Name: "plain", Content: "The crane was oiled."},
			oxbow.Add{Name: "repeats old", Content: "A note. " + old},
			oxbow.Add{Name: "own", Content: own, Labels: taint("mail")},
			oxbow.Add{Name: "repeats own", Content: "A note. " + own},
		} {
			if err := m.Apply(ctx, op); err != nil {
				t.Fatal(err)
			}
		}
		for name, want := range map[string][]string{"plain": nil, "repeats old": {"web"}, "repeats own": {"mail"}} {
			e, err := m.Get(t.Context(), name)
			if got := e.Values(oxbow.LabelTaint); err != nil || !slices.Equal(got, want) {
				t.Errorf("with the list %t, %s has the taints %q, %v, want %q", keepsList, name, got, err, want)
			}
		}
		storetest.Close(t, m)
	}
}
