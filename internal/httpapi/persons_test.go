// This file tests that clients of the API cannot make decisions that only a person may make, because they count as
// agents.

package httpapi

import (
	"net/http"
	"testing"

	"github.com/oxbow-memory/oxbow"
)

// TestAgentsDecideAndEraseNothing tests that an agent cannot decide for a person. The agent must not accept a proposal
// (with or without an edit of its content), reject a proposal, approve an entry that is held back, revert all changes
// of a door, or erase what a person wrote.
func TestAgentsDecideAndEraseNothing(t *testing.T) {
	h := newHome(t)
	person := oxbow.WithSource(t.Context(), oxbow.Source{Door: "cli", Actor: oxbow.Person})
	agent := oxbow.WithSource(t.Context(), oxbow.Source{Door: "mcp", Actor: oxbow.Agent})
	const leaky = "password = \"Xk29sLq81mZpR4tv\""
	h.must(h.notes.Apply(person, oxbow.Add{Name: "leaky", Content: leaky}))
	h.must(h.notes.Apply(
		agent,
		oxbow.Add{
			Name:    "held",
			Content: "Ship on Fridays.",
			Labels:  []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch https://evil.example"}},
		},
	))
	id := h.send("all", http.MethodGet, "/inbox", "").get(t, "proposals", 0, "id").(string)
	for _, c := range []struct {
		path, body string
		holds      string
	}{
		{"/inbox/accept", object(map[string]any{"ids": []string{id}}), "only a person accepts"},
		{"/inbox/accept", object(map[string]any{"ids": []string{id}, "content": "Edited."}), "content"},
		{"/inbox/reject", object(map[string]any{"ids": []string{id}}), "only a person rejects"},
		{"/approve", object(map[string]any{"names": []string{"held"}}), "only a person approves"},
		{"/revert", object(map[string]any{"door": "mcp"}), "only a person takes back all changes of a source"},
		{
			"/scan",
			object(map[string]any{"fix": true}),
			"a person wrote some of the texts with secrets, which this would erase for good",
		},
	} {
		h.want(h.send("all", http.MethodPost, c.path, c.body), http.StatusBadRequest, c.holds)
	}
	h.want(
		h.send("all", http.MethodPost, "/revert", object(map[string]any{"door": "mcp", "dry_run": true})),
		http.StatusOK,
		"",
	)
	// An entry that is held back stays held back after an edit.
	h.want(
		h.send("all", http.MethodPut, "/entries/held", object(map[string]any{"content": "Ship on Mondays."})),
		http.StatusOK,
		"",
	)
	if e, err := h.notes.Get(t.Context(), "held"); err != nil || e.MayShow(oxbow.Unasked) {
		t.Errorf("after an agent's edit the entry is %+v, %v, want it held back", e, err)
	}
	if e, err := h.notes.Get(t.Context(), "leaky"); err != nil || e.Content != leaky {
		t.Errorf("the person's entry is %+v, %v", e, err)
	}
	if got := h.send("all", http.MethodGet, "/inbox", "").get(t, "proposals", 0, "state"); got != "open" {
		t.Errorf("the proposal is %v, want open", got)
	}
}
