// This file tests what happens if a caller repeats a call with the same operation ID (op ID) while the store refuses
// changes because it is busy.

package provenance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// busyStore refuses changes while it is busy.
type busyStore struct {
	oxbow.Store
	busy bool
}

func (s *busyStore) Apply(ctx context.Context, ops ...oxbow.Op) error {
	if s.busy {
		return &oxbow.BusyError{Path: "memory.oxbow", Waited: time.Second, PID: 1}
	}
	return s.Store.Apply(ctx, ops...)
}

// TestRepeatedForgetOfABusyStore repeats a call of forget that succeeded, while the store is too busy to find out what
// the first call did. The answer must be to wait, and not that the entry does not exist. (A test with real processes
// found this error after 15 minutes under load.)
func TestRepeatedForgetOfABusyStore(t *testing.T) {
	m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	s := &busyStore{Store: m.Store()}
	d := &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) {
		return oxbow.New(s, nil), nil
	}, Now: time.Now}
	verb := func(name string) verb.Tool {
		for _, v := range verb.Tools() {
			if v.Name == name {
				return v
			}
		}
		t.Fatalf("there is no %s", name)
		return verb.Tool{}
	}
	if _, err := verb("remember").CallForModel(t.Context(), d, []byte(`{"name":"n","content":"text"}`)); err != nil {
		t.Fatal(err)
	}
	forget := func(args string) error {
		_, err := verb("forget").CallForModel(t.Context(), d, []byte(args))
		return err
	}
	if err := forget(`{"name":"n","op_id":"A"}`); err != nil {
		t.Fatal(err)
	}
	s.busy = true
	if err := forget(`{"name":"n","op_id":"A"}`); !errors.Is(err, oxbow.ErrBusy) || errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("a repeat while the store is busy: %v, want that it is busy", err)
	}
	s.busy = false
	if err := forget(`{"name":"n","op_id":"A"}`); err != nil {
		t.Errorf("a repeat afterwards: %v, want that it was forgotten", err)
	}
	if err := forget(`{"name":"n","op_id":"B"}`); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("another call: %v, want that there is no such entry", err)
	}
	storetest.Close(t, m)
}
