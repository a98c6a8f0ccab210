// This file tests requests whose work is too large for one change of the log.

package httpapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestWorkInParts adds a label to many entries, and undoes and redoes this, with a low limit for the size of a change.
func TestWorkInParts(t *testing.T) {
	const count = 20
	h := newHome(t)
	h.views.Workspace.MaxChangeBytes = 2000
	var ops []oxbow.Op
	for i := range count {
		ops = append(ops, oxbow.Add{Name: fmt.Sprint("berth ", i), Content: strings.Repeat("long ", 100),
			Labels: []oxbow.Label{{Key: oxbow.LabelTag, Value: "berth"}}})
	}
	h.must(h.notes.Apply(t.Context(), ops...))
	labelled := func() (n int) {
		for _, err := range h.notes.Entries(t.Context(), oxbow.Filter{
			Terms: []oxbow.Term{{Key: "tag", Values: []string{"full"}}}}) {
			h.must(err)
			n++
		}
		return n
	}
	last, err := h.notes.Stats(t.Context())
	h.must(err)
	h.want(h.send("all", http.MethodPost, "/labels/add", `{"labels":["tag:full"],"where":["tag:berth"]}`),
		http.StatusOK)
	now, err := h.notes.Stats(t.Context())
	h.must(err)
	if n := labelled(); n != count || now.Last-last.Last < 3 {
		t.Fatalf("%d entries have the label after %d changes, want %d after several", n, now.Last-last.Last, count)
	}
	// The second request repeats the first one, so that it must undo nothing else.
	for range 2 {
		got := h.send("all", http.MethodPost, "/undo", `{}`, "Idempotency-Key", "k1")
		h.want(got, http.StatusOK)
		var out struct{ Undone []struct{ Seq uint64 } }
		h.must(json.Unmarshal([]byte(got.body), &out))
		if len(out.Undone) != int(now.Last-last.Last) || labelled() != 0 {
			t.Fatalf("undo = %s, and %d entries have the label, want all %d parts undone", got.body, labelled(),
				now.Last-last.Last)
		}
	}
	undos, err := h.notes.Stats(t.Context())
	h.must(err)
	var seqs []string
	for seq := now.Last + 1; seq <= undos.Last; seq++ {
		seqs = append(seqs, fmt.Sprint(seq))
	}
	if len(seqs) < 3 {
		t.Errorf("the undo made the changes %v, want several", seqs)
	}
	h.want(h.send("all", http.MethodPost, "/undo", `{"seq":[`+strings.Join(seqs, ",")+`]}`), http.StatusOK)
	if n := labelled(); n != count {
		t.Errorf("after the redo, %d entries have the label, want %d", n, count)
	}
}
