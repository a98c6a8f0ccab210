// This file tests that open pages are notified of changes.

package web

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// TestEvents tests that a change is sent at once, and that a browser gets a missed change when it
// connects again.
func TestEvents(t *testing.T) {
	b := open(t, auth.Permissions{Projects: []string{"harbor"}})
	harbor := oxbow.Label{Key: "project", Value: "harbor"}
	b.remember("first", "text", harbor)
	listen := func(last string) (next func() string, end func()) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, b.url+page.RootPath+"events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Last-Event-ID", last)
		res, err := b.client.Do(req)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("events: %v, %v", res, err)
		}
		lines := bufio.NewScanner(res.Body)
		return func() string {
			var event []string
			for lines.Scan() {
				switch line := lines.Text(); {
				case line == "" && event != nil && event[0] != "retry: 1000":
					return strings.Join(event, " ")
				case line == "":
					event = nil
				default:
					event = append(event, line)
				}
			}
			t.Fatalf("the stream ended: %v", lines.Err())
			return ""
		}, func() { res.Body.Close() }
	}
	next, end := listen("1")
	if got := next(); got != "id: 1 event: ready data: 1" {
		t.Errorf("a stream begins with %q", got)
	}
	b.remember("second", "text", harbor)
	if got := next(); got != "id: 2 event: change data: 2" {
		t.Errorf("a change is told as %q", got)
	}
	b.remember("secret", "of another project")
	if got := next(); got != "id: 3 event: ready data: 3" {
		t.Errorf("a change that this browser does not see is told as %q", got)
	}
	end()
	b.remember("third", "text", harbor)
	next, end = listen("2")
	if got := next(); got != "id: 4 event: change data: 4" {
		t.Errorf("what was missed is told as %q", got)
	}
	end()
	b.client = b.fresh()
	b.has(b.get(page.RootPath+"events", http.StatusOK), "Sign in")
}
