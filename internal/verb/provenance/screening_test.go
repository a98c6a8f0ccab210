// This file tests the settings with which changes are screened.

package provenance

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestLayoutIsFoundOnce checks that the layout of a home is not looked for again with each change of an opened memory,
// but that it is looked for again if it could not be found.
func TestLayoutIsFoundOnce(t *testing.T) {
	calls, findErr := 0, errors.New("the home cannot be read")
	s := NewScreening(ScreeningSettings{
		FindMemoryPlace: func() (verb.Place, error) {
			calls++
			return verb.Place{}, findErr
		},
		AllowSecrets:   func() bool { return false },
		ProvenanceData: func() verb.ProvenanceData { return verb.ProvenanceData{} },
		ReopenMemory:   func() (*oxbow.Memory, error) { return nil, oxbow.ErrUnsupported },
	})
	var m *oxbow.Memory
	screenOps := s.ScreenFuncForMemory(&m)
	m = storetest.Open(t, "memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	ctx := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent, Door: "mcp"})
	screenTwice := func() (callCount int) {
		t.Helper()
		before := calls
		for range 2 {
			if _, err := screenOps(ctx, m.Store(), []oxbow.Op{oxbow.Add{Name: "n", Content: "text"}}); err != nil {
				t.Fatal(err)
			}
		}
		return calls - before
	}
	if n := screenTwice(); n != 2 {
		t.Errorf("two changes looked %d times for a home that cannot be read, want 2 times", n)
	}
	findErr = nil
	if n := screenTwice(); n != 1 {
		t.Errorf("two changes looked %d times for the layout of the home, want once", n)
	}
	if n := screenTwice(); n != 0 {
		t.Errorf("two further changes looked %d times for the layout of the home, want not at all", n)
	}
}
