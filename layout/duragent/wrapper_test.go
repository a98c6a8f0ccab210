// Tests that no optional interface of the backend oxbow shows the entries of another agent.

package duragent

import (
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestNothingBypassesScopedStore(t *testing.T) {
	storetest.RunWrapper(
		t,
		func(t *testing.T) oxbow.Store {
			m, err := oxbow.Open("m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
			if err != nil {
				t.Fatal(err)
			}
			return m.Store()
		},
		storetest.Wrapper{
			Ops: []oxbow.Op{
				oxbow.Add{Name: "agents/rei/MEMORY", Content: "one"},
				oxbow.Add{Name: "agents/zymurgist/MEMORY", Content: "I am the zymurgist."},
				oxbow.Add{Name: "people", Content: "Alice", Kind: oxbow.World},
				oxbow.Update{Name: "agents/rei/MEMORY", Content: "two"},
				oxbow.Update{Name: "agents/zymurgist/MEMORY", Content: "The zymurgist rests."},
			},
			Secret: "zymurgist",
			Wrap: func(_ *testing.T, base oxbow.Store) oxbow.Store {
				return &scopedStore{oxbow.New(base, nil), "agents/rei/"}
			},
		},
	)
}
