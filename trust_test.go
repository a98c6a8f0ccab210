// This file tests the trust in entries, which depends on their authors and labels. It also tests that no search finds
// an entry in quarantine (an entry that is held back until a person approves it).

package oxbow_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

func TestTrust(t *testing.T) {
	fs := vfs.NewMem()
	open := func() *oxbow.Memory {
		m, err := oxbow.Open("memory.oxbow", &oxbow.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := open()
	by := func(a oxbow.Actor) context.Context { return oxbow.WithSource(t.Context(), oxbow.Source{Actor: a}) }
	taint, rule := oxbow.Label{Key: oxbow.LabelTaint, Value: "WebFetch x"}, oxbow.Label{
		Key:   oxbow.LabelQuarantine,
		Value: "lasting",
	}
	for _, e := range []struct {
		name   string
		by     oxbow.Actor
		labels []oxbow.Label
	}{
		{"person", oxbow.Person, nil},
		{"agent", oxbow.Agent, nil},
		{"verified", oxbow.Agent, []oxbow.Label{{Key: oxbow.LabelVerified, Value: "go test"}}},
		{"team", oxbow.Team, nil},
		{"imported", oxbow.Imported, nil},
		{"unvouched", oxbow.Agent, []oxbow.Label{{Key: oxbow.LabelUnvouched, Value: "no-hooks"}}},
		{"tainted", oxbow.Agent, []oxbow.Label{taint}},
		{"quarantined", oxbow.Person, []oxbow.Label{rule, taint}},
	} {
		if err := m.Apply(by(e.by), oxbow.Add{Name: "of " +
			e.name, Content: "The harbor closes at nine.", Labels: e.labels}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 300 { // enough for an index file
		if err := m.Apply(by(oxbow.Agent), oxbow.Add{Name: fmt.Sprint("n", i), Content: "lantern"}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // The second round reads from the index file.
		for _, level := range oxbow.Trusts() {
			f := oxbow.Filter{
				Terms: []oxbow.Term{
					{Key: "trust", Values: []string{string(level)}},
					{Key: "kind", Values: []string{"note"}},
				},
			}
			n := 0
			for e, err := range m.Entries(t.Context(), f) {
				if err != nil || e.Trust() != level {
					t.Fatalf("trust:%s selects %q, which is %s, %v", level, e.Name, e.Trust(), err)
				}
				isHeld := slices.Contains(
					[]oxbow.Trust{
						oxbow.TrustImported,
						oxbow.TrustUnvouched,
						oxbow.TrustTainted,
						oxbow.TrustQuarantined,
					},
					level,
				)
				n++
				if e.MayShow(oxbow.Unasked) == isHeld {
					t.Errorf("%q is volunteered: %t", e.Name, e.MayShow(oxbow.Unasked))
				}
			}
			if n == 0 {
				t.Errorf("trust:%s selects nothing", level)
			}
		}
		hits, err := m.Recall(t.Context(), oxbow.Query{Text: "harbor quarantined", Limit: 10})
		if err != nil || len(hits) != 7 {
			t.Errorf("Recall found %d entries, want 7 of 8, %v", len(hits), err)
		}
		if e, err := m.Get(t.Context(), "of quarantined"); err != nil || e.Content == "" {
			t.Errorf("Get = %+v, %v", e, err)
		}
		storetest.Close(t, m)
		m = open()
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
}
