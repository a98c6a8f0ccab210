// This file tests the type ReadOnlyMemory, which opens a memory a second time, only for reading.

package verb_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/history/foreign"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/provenance"
)

// TestSecondReader checks that a ReadOnlyMemory opens the memory only once for the comparisons of several changes,
// and opens it again after a comparison failed. If the memory cannot be opened, the comparison must read the store that
// is passed to CallWithReadOnlyStore.
func TestSecondReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memory.oxbow")
	m, err := oxbow.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	opened := 0
	var openErr error
	second := &verb.ReadOnlyMemory{OpenMemory: func() (*oxbow.Memory, error) {
		opened++
		if openErr != nil {
			return nil, openErr
		}
		return oxbow.Open(path, &oxbow.Options{ReadOnly: true})
	}}
	defer second.Close()
	k := verb.ProvenanceData{Memory: m, ComparisonMemory: second}
	write := func(name string) {
		t.Helper()
		ops, err := (&provenance.Screener{ProvenanceData: k}).ScreenOps(
			t.Context(),
			m.Store(),
			[]oxbow.Op{oxbow.Add{Name: name, Content: "text " + name}},
		)
		if err == nil {
			err = m.Apply(t.Context(), ops...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		write(name)
	}
	if opened != 1 {
		t.Errorf("3 changes opened the memory %d times, want 1", opened)
	}
	failed := errors.New("damaged")
	var names []string
	err = second.CallWithReadOnlyStore(m.Store(), func(s oxbow.Store, _ *foreign.Index) error {
		for e, err := range s.Entries(t.Context(), oxbow.Filter{}) {
			if err != nil {
				return err
			}
			names = append(names, e.Name)
		}
		return failed
	})
	if err != failed || len(names) != 3 {
		t.Errorf("Read saw %q and returned %v, want the three entries and the error of the function", names, err)
	}
	write("d")
	if opened != 2 {
		t.Errorf("after a failed comparison the memory was opened %d times, want 2", opened)
	}
	second.Close()
	openErr = failed
	if err := second.CallWithReadOnlyStore(m.Store(), func(s oxbow.Store, _ *foreign.Index) error {
		if s != m.Store() {
			t.Error("the store was not read although the memory could not be opened")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if rep, err := m.Check(t.Context()); err != nil || len(rep.Problems) > 0 {
		t.Error(rep.Problems, err)
	}
}
