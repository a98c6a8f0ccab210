// This file tests that the index is updated after a change of many labels.

package labels

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/search/index"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
)

// TestIndexAfterApproval tests that ApproveEntries updates the index of the memory, so that the index file changes.
// Otherwise the next hook would have to update the index. A hook must answer within one second, and it cannot save an
// index that it did not complete. No session would then begin with notes until the next recall.
func TestIndexAfterApproval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.oxbow")
	m := storetest.Open(t, path, nil)
	imported := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Imported, Door: "cli", Ref: "notes.jsonl"})
	var names []string
	for i := range 400 {
		names = append(names, fmt.Sprint("note", i))
		if err := m.Apply(imported, oxbow.Add{Name: names[i], Content: "The crane turns left."}); err != nil {
			t.Fatal(err)
		}
	}
	indexFile := func(m *oxbow.Memory) string {
		if err := m.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path + index.FileSuffix)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if err := m.MakeIndex(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := indexFile(m)
	m = storetest.Open(t, path, nil) // The memory is opened again, as the next command does.
	w := &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil }}
	person := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Person, Door: "cli"})
	if out, err := ApproveEntries(person, w, ApproveEntriesIn{EntryNames: names}); err != nil ||
		len(out.Entries) != len(names) {
		t.Fatalf("Approve changed %d entries, %v", len(out.Entries), err)
	}
	if indexFile(m) == before {
		t.Error("the index file does not know of the approval")
	}
}
