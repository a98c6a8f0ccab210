// This file tests the undo of a call that was too large for one change of the log.

package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/labels"
	"github.com/oxbow-memory/oxbow/store/storetest"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestUndoInParts tests the tool undo after an agent labelled so many entries that the log contains several changes. A
// call of undo without arguments must undo all these changes as one. Its answer must list the numbers with which
// another call restores the labels.
func TestUndoInParts(t *testing.T) {
	m := storetest.Open(t, "m.oxbow", &oxbow.Options{FS: vfs.NewMem()})
	var ops []oxbow.Op
	for i := range 20 {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("berth ", i), Content: strings.Repeat("long ", 100)})
	}
	if err := m.Apply(t.Context(), ops...); err != nil {
		t.Fatal(err)
	}
	w := &verb.Workspace{
		Open:           func(context.Context, verb.MemoryAccess) (*oxbow.Memory, error) { return m, nil },
		Source:         oxbow.Source{Actor: oxbow.Agent, Door: "mcp", Session: "s"},
		MaxChangeBytes: 2000,
	}
	in := labels.EditLabelsIn{Labels: []string{"tag:full"}, AllEntries: true}
	if _, err := labels.AddLabels(t.Context(), w, in); err != nil {
		t.Fatal(err)
	}
	cs := overMemory(t, New(w, nil), "")
	said := say(t, cs, "undo", nil)
	if !strings.HasPrefix(said, "undid 1 change\nchanges 2 to ") || !strings.Contains(said, "undo with seq [") {
		t.Errorf("undo = %q, want all parts as one change, and how to redo it", said)
	}
	if n := countLabelled(t, m); n != 0 {
		t.Errorf("after the undo, %d entries have the label, want 0", n)
	}
	list := said[strings.Index(said, "undo with seq [")+len("undo with seq ["):]
	list, _, _ = strings.Cut(list, "]")
	var seqs []int
	for _, s := range strings.Fields(list) {
		var n int
		if _, err := fmt.Sscan(s, &n); err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, n)
	}
	say(t, cs, "undo", obj{"seq": seqs})
	if n := countLabelled(t, m); n != 20 || len(seqs) < 3 {
		t.Errorf("after the redo of the changes %v, %d entries have the label, want 20 and several changes", seqs, n)
	}
}

// countLabelled returns the number of entries that have a label with the key "tag" and the value "full".
func countLabelled(t *testing.T, m *oxbow.Memory) (n int) {
	t.Helper()
	full := oxbow.Filter{Terms: []oxbow.Term{{Key: "tag", Values: []string{"full"}}}}
	for _, err := range m.Entries(t.Context(), full) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}
