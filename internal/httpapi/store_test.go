// This file tests the store that programs access over the API.

package httpapi

import (
	"context"
	"errors"
	"net/http/httptest"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/share/remote"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/rights"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// served returns a remote store and the memory that the server serves.
func served(t *testing.T) (*remote.Store, *oxbow.Memory) {
	t.Helper()
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	w := &verb.Workspace{Open: func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil }}
	const secret = "a-token-of-enough-length"
	srv := httptest.NewServer(New(&rights.Options{Workspace: w}, nil).Handler(auth.RequestGuard{
		Tokens: auth.Tokens{auth.NewToken("t", secret, auth.Permissions{})},
	}))
	t.Cleanup(srv.Close)
	s, err := remote.Open(srv.URL, secret, &remote.Options{Client: srv.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return s, m
}

func TestStoreContract(t *testing.T) {
	storetest.Run(t, func(t *testing.T) oxbow.Store {
		s, _ := served(t)
		// Hide the method Check: the remote store leaves out quarantined entries, so it cannot check the whole memory.
		return struct {
			oxbow.Committer
			oxbow.Watcher
		}{s, s}
	}, storetest.Can{Labels: true, Aliases: true})
}

// TestStoreQuarantine checks that programs can neither read nor change quarantined entries by any route of the store.
func TestStoreQuarantine(t *testing.T) {
	s, m := served(t)
	ctx := t.Context()
	held := []oxbow.Label{{Key: oxbow.LabelQuarantine, Value: "role"}}
	for _, e := range []oxbow.Add{
		{Name: "plain", Content: "The plain text."},
		{Name: "held", Content: "The marker text.", Labels: held},
	} {
		if err := m.Apply(ctx, e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Get(ctx, "held"); !errors.Is(err, oxbow.ErrNotFound) {
		t.Errorf("Get = %v, want that there is none", err)
	}
	for e, err := range s.Entries(ctx, oxbow.Filter{}) {
		if err != nil || e.Name != "plain" {
			t.Errorf("Entries yields %q, %v", e.Name, err)
		}
	}
	for c, err := range s.Log(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range c.Versions {
			if v.Entry.Name == "held" {
				t.Errorf("Log yields %+v", v)
			}
		}
	}
	for v, err := range s.Versions(ctx, "held") {
		if !errors.Is(err, oxbow.ErrNotFound) {
			t.Errorf("Versions yields %+v, %v", v, err)
		}
	}
	for _, op := range []oxbow.Op{
		oxbow.Relabel{Name: "held"},
		oxbow.Update{Name: "held", Content: "x"},
		oxbow.Remove{Name: "held"},
	} {
		if err := s.Apply(ctx, op); err == nil {
			t.Errorf("Apply(%T) changed what is in quarantine", op)
		}
	}
	if e, err := m.Get(ctx, "held"); err != nil || e.Content != "The marker text." ||
		e.Trust() != oxbow.TrustQuarantined {
		t.Errorf("the entry is %+v, %v", e, err)
	}
	if e, err := s.Get(ctx, "plain"); err != nil || e.Content != "The plain text." {
		t.Errorf("Get = %+v, %v", e, err)
	}
}
