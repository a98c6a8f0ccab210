// This file tests that a memory implements the same optional interfaces as its store, such as Compactor.

package oxbow_test

import (
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestCapabilitiesOfMemory(t *testing.T) {
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
				oxbow.Add{
					Name:    "crane",
					Content: "It lifts.",
					Labels:  []oxbow.Label{{Key: "project", Value: "harbor"}},
				},
				oxbow.Update{Name: "crane", Content: "It lifts containers."},
				oxbow.Add{Name: "quay", Content: "It is long."},
			},
			Wrap: func(_ *testing.T, base oxbow.Store) oxbow.Store { return oxbow.New(base, nil) },
		},
	)
}
