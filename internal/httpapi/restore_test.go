// The response about a forgotten entry suggests a request that restores the entry. This file tests that the suggested
// request works.

package httpapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestRestoreAsAdvised checks that the remedy of a 404 response is a request that works as printed. Without a change
// number, it restores the last version of the forgotten entry.
func TestRestoreAsAdvised(t *testing.T) {
	h := newHome(t)
	put := func() {
		t.Helper()
		if got := h.send(
			"all",
			http.MethodPut,
			"/entries/two%20words",
			`{"content":"old text","tags":"q,r"}`,
		); got.status >= 300 {
			t.Fatalf("PUT = %d %s", got.status, got.body)
		}
	}
	put()
	for _, body := range []string{"", `{}`} {
		if got := h.send("all", http.MethodDelete, "/entries/two%20words", ""); got.status >= 300 {
			t.Fatalf("DELETE = %d %s", got.status, got.body)
		}
		gone := h.send("all", http.MethodGet, "/entries/two%20words", "")
		var problem struct{ Remedy string }
		if err := json.Unmarshal([]byte(gone.body), &problem); err != nil || gone.status != http.StatusNotFound {
			t.Fatalf("GET of a forgotten entry = %d %s (%v), want a 404", gone.status, gone.body, err)
		}
		_, request, _ := strings.Cut(problem.Remedy, "; ")
		method, request, _ := strings.Cut(request, " ")
		target, rest, ok := strings.Cut(request, " with ")
		advised, _, _ := strings.Cut(rest, " brings")
		if !ok || method != http.MethodPost || !strings.HasPrefix(advised, `{"seq":`) {
			t.Fatalf("the remedy is %q, want a request with a number", problem.Remedy)
		}
		if body == "" {
			body = advised
		}
		if got := h.send("all", method, strings.TrimPrefix(target, "/api/v1"), body); got.status != http.StatusOK {
			t.Errorf("%s %s with %s = %d %s, want 200", method, target, body, got.status, got.body)
		}
		back := h.send("all", http.MethodGet, "/entries/two%20words", "")
		if !strings.Contains(back.body, "old text") || !strings.Contains(back.body, `"tag":["q","r"]`) {
			t.Errorf("the restored entry is %s, want its text and two tags", back.body)
		}
	}
	if got := h.send(
		"all",
		http.MethodPost,
		"/entries/two%20words/restore",
		`{}`,
	); got.status != http.StatusBadRequest && got.status != http.StatusUnprocessableEntity {
		t.Errorf("restore of an entry that was not forgotten = %d %s, want a refusal", got.status, got.body)
	}
}
