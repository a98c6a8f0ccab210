// This file tests the spool, which contains a file of new events for each session, while many processes append to it.
// It also tests the names of these files.

package session

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSpoolAppend(t *testing.T) {
	s := Spool{Dir: filepath.Join(t.TempDir(), SpoolDir)}
	first := Event{Client: "claude", Session: "a/b:c", Kind: KindPrompt, Text: "one\ntwo", Time: time.Unix(5, 0)}
	if err := s.AppendEvents(first); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(s.Dir, spoolFileName("claude", "a/b:c"))
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The process is killed after this write.
	if _, err := f.WriteString("\n{\"client\":\"claude\",\"sess"); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := s.AppendEvents(
		Event{Client: "claude", Session: "a/b:c", Kind: KindTurnEnd},
		Event{Client: "claude", Session: "a/b:c", Kind: KindSessionEnd},
	); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	events, bad := parseEvents(b)
	if len(events) != 3 || bad != 1 || events[0].Text != first.Text || !events[0].Time.Equal(first.Time) ||
		events[1].Time.IsZero() {
		t.Errorf("read %d events and %d bad lines: %+v", len(events), bad, events)
	}
}

func TestSpoolName(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{"178e33fd-9063", "a/b", "a:b", "A/B", "a_b", "A_b", "", "..", "é", "日本"} {
		n := spoolFileName("claude", id)
		if n != filepath.Base(n) || len(n) > 130 || seen[n] != "" {
			t.Errorf("spoolName(%q) = %q, as of %q", id, n, seen[n])
		}
		seen[n] = id + "!"
	}
	if n := spoolFileName("claude", "178e33fd-9063"); n != "claude-178e33fd-9063.jsonl" {
		t.Errorf("a plain name became %q", n)
	}
}
