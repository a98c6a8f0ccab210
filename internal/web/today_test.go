// This file tests the start page.

package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/share/auth"
	"github.com/oxbow-memory/oxbow/internal/web/page"
)

// TestToday tests that the first page of an empty memory helps to begin, and that the first page of
// other memories shows who wrote what since yesterday.
func TestToday(t *testing.T) {
	now := clock
	clock = clock.AddDate(0, 0, -2)
	defer func() { clock = now }()
	b := open(t, auth.Permissions{})
	shown := b.get(page.RootPath, http.StatusOK)
	b.has(shown, "The memory is empty.", "Write a note", "oxbow setup")
	b.remember("old", "two days ago")
	clock = now
	link, err := b.server.SignInLink("") // the session of the first link has ended
	if err != nil {
		t.Fatal(err)
	}
	b.get(link, http.StatusOK)
	shown = b.get(page.RootPath, http.StatusOK)
	if !strings.Contains(shown, "Nothing was changed.") {
		t.Errorf("of a change two days ago:\n%s", shown)
	}
	agent := oxbow.WithSource(t.Context(), oxbow.Source{Actor: oxbow.Agent, Claimed: oxbow.Claim{Agent: "claude"}})
	for i, name := range []string{"a", "b"} {
		clock = now.Add(time.Duration(i) * time.Second)
		if err := b.memory.Apply(
			agent,
			oxbow.Add{Name: name, Content: "text", Labels: []oxbow.Label{{Key: oxbow.LabelTaint, Value: "WebFetch"}}},
		); err != nil {
			t.Fatal(err)
		}
	}
	shown = b.get(page.RootPath, http.StatusOK)
	b.has(
		shown,
		"3 entries.",
		"<bdi>claude</bdi></a>: 2 changes",
		"2 things to decide",
		`href="/ui/log?by=agent"`,
	)
	if err := sound(shown); err != nil {
		t.Error(err)
	}
}

func TestTodayReadOnly(t *testing.T) {
	b := open(t, auth.Permissions{ReadOnly: true})
	if shown := b.get(page.RootPath, http.StatusOK); strings.Contains(shown, "Write a note") {
		t.Error("a browser that may not write is invited to")
	}
}
