// This file tests the number of pending decisions in the navigation.

package web

import (
	"net/http"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// TestWaitingCount tests that each page shows how many decisions wait, also after a change.
func TestWaitingCount(t *testing.T) {
	b := open(t, auth.Permissions{})
	b.remember("deploy", "We ship on Fridays.")
	if shown := b.get(page.RootPath+"log", http.StatusOK); strings.Contains(shown, `class="count"`) {
		t.Error("a number is shown although nothing waits")
	}
	b.hold("first", "The port is 8080.")
	b.has(b.get(page.RootPath+"log", http.StatusOK), `<span class="count">1</span>`)
	b.hold("second", "The port is 8443.")
	b.has(b.get(page.RootPath+"find", http.StatusOK), `<span class="count">2</span>`)
	b.remember("other", "Nothing waits here.")
	b.has(b.get(page.RootPath+"settings", http.StatusOK), `<span class="count">2</span>`)
}
