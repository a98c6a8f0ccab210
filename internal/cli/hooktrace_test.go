// This file tests the label that a note gets if the agent has read text by others before it wrote the note.

package cli

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestLabelWrittenNotes tests that all notes that the command line wrote since a time get the label. There are more
// notes than a query returns, another writer changes notes while they are labelled, and some notes already have the
// maximum number of labels.
func TestLabelWrittenNotes(t *testing.T) {
	now := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	collide := false // if true, another writer changes "note 3" before the next change
	m := storetest.Open(t, "memory.oxbow", &oxbow.Options{
		FS:    vfs.NewMem(),
		Clock: func() time.Time { return now },
		Screen: func(ctx context.Context, s oxbow.Store, ops []oxbow.Op) ([]oxbow.Op, error) {
			if collide {
				collide = false
				e, err := s.Get(ctx, "note 3")
				if err != nil {
					return nil, err
				}
				other := oxbow.Update{Name: e.Name, Content: "changed", Labels: e.Labels, If: e.Version}
				if err := s.Apply(ctx, other); err != nil {
					return nil, err
				}
			}
			return ops, nil
		},
	})
	add := func(door string, actor oxbow.Actor, ops ...oxbow.Op) {
		t.Helper()
		ctx := oxbow.WithSource(t.Context(), oxbow.Source{Door: door, Actor: actor})
		if err := m.Apply(ctx, ops...); err != nil {
			t.Fatal(err)
		}
		now = now.Add(time.Second)
	}
	add("cli", oxbow.Agent, oxbow.Add{Name: "earlier", Content: "x"})
	since := now
	var ops []oxbow.Op
	for i := range oxbow.MaxLimit + 5 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("note ", i), Content: "x"})
	}
	add("cli", oxbow.Agent, ops...)
	var full []oxbow.Label
	for i := range oxbow.MaxLabels {
		full = append(full, oxbow.Label{Key: oxbow.LabelTag, Value: fmt.Sprintf("t%03d", i)})
	}
	add("cli", oxbow.Agent, oxbow.Add{Name: "full", Content: "x", Labels: full})
	add("mcp", oxbow.Agent, oxbow.Add{Name: "by mcp", Content: "x"})
	add("cli", oxbow.Person, oxbow.Add{Name: "by a person", Content: "x"})

	w := commandLineNotes{minWriteTime: since, labelToAdd: oxbow.Label{Key: oxbow.LabelTaint, Value: "Bash curl"}}
	collide = true
	if err := w.labelAllNotes(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if collide {
		t.Fatal("no other writer collided")
	}
	for e, err := range m.Entries(t.Context(), oxbow.Filter{}) {
		if err != nil {
			t.Fatal(err)
		}
		isOther := e.Name == "earlier" || e.Name == "by mcp" || e.Name == "by a person"
		if slices.Contains(e.Labels, w.labelToAdd) == isOther {
			t.Errorf("%q has the labels %v", e.Name, e.Labels[:min(3, len(e.Labels))])
		}
	}
	if e, err := m.Get(t.Context(), "note 3"); err != nil || e.Content != "changed" {
		t.Errorf("the other writer's text is %q, %v", e.Content, err)
	}
	w.includesPersonNotes = true
	if err := w.labelAllNotes(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	if e, err := m.Get(t.Context(), "by a person"); err != nil || !slices.Contains(e.Labels, w.labelToAdd) {
		t.Errorf("the note of a person has the labels %v, %v", e.Labels, err)
	}
}
