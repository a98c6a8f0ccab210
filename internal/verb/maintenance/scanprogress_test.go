// This file tests the progress that a scan reports.

package maintenance

import (
	"context"
	"fmt"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/progress"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestScanProgress(t *testing.T) {
	m := storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	for i := range 20 {
		if err := m.Apply(t.Context(), oxbow.Add{Name: fmt.Sprint("a", i), Content: "one"}); err != nil {
			t.Fatal(err)
		}
	}
	w := &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil }}
	var told []progress.State
	ctx := progress.WithReporter(t.Context(), func(s progress.State) { told = append(told, s) })
	if _, err := ScanSecrets(ctx, w, ScanIn{}); err != nil {
		t.Fatal(err)
	}
	if len(told) != 40 { // The scan reports its progress at each entry and at each change.
		t.Fatalf("a scan of 20 entries told %d times how far it was: %v", len(told), told)
	}
	for i, s := range told {
		if s.Unit != progress.UnitTexts || s.DoneCount != int64(i+1) ||
			(i > 0 && s.FinishedWorkShare < told[i-1].FinishedWorkShare) {
			t.Errorf("told %+v at step %d", s, i)
		}
	}
	if last := told[len(told)-1]; last.FinishedWorkShare != 1 {
		t.Errorf("at the end it told %+v", last)
	}
}
