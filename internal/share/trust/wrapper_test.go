// A foreign home is a directory with a memory that another user owns. This file tests that the store of a foreign home
// returns each entry with the actor oxbow.Foreign and without the label "pinned", also through each optional interface.

package trust

import (
	"errors"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestNothingBypassesServe(t *testing.T) {
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
				oxbow.Add{Name: "crane", Content: "It lifts.", Labels: []oxbow.Label{{Key: "pinned", Value: "true"}}},
				oxbow.Add{Name: "quay", Content: "It is long.", Labels: []oxbow.Label{{Key: "project", Value: "x"}}},
			},
			Check: func(e oxbow.Entry) error {
				if _, isPinned := e.Label("pinned"); isPinned {
					return errors.New("it is pinned")
				}
				if e.Name != "" && e.Source.Actor != oxbow.Foreign {
					return errors.New("its author is not marked as foreign")
				}
				return nil
			},
			Wrap: func(_ *testing.T, base oxbow.Store) oxbow.Store {
				return NewForeignMemory(oxbow.New(base, nil), oxbow.ErrReadOnly).Store()
			},
		},
	)
}
