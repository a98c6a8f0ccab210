// This file tests which session IDs are accepted, and by which functions.

package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// refusedIDs contains IDs that would become an option, or would hide text, in a printed command.
var refusedIDs = []string{"", " a", "-", "--dangerously-skip-permissions", "a\nb", "a\x1b[0m", "a\u202eb",
	"a\u200bb", "\xff"}

func TestValidID(t *testing.T) {
	for _, id := range refusedIDs {
		if session.IsValidID(id) {
			t.Errorf("ValidID(%q) = true", id)
		}
	}
	for _, id := range []string{"178e33fd-9063-4a0b-8d3c-000000000000", "ses_1", "a b", "it's", "日本",
		strings.Repeat("x", 300)} {
		if !session.IsValidID(id) {
			t.Errorf("ValidID(%q) = false", id)
		}
	}
}

// TestRefusedIDs tests events whose session ID is not valid. The spool (a directory of event files for the archive)
// must refuse the event. The archive must not store an event under an invalid ID, even if a file in the spool already
// contains the event. It must either reject the event, or remove the forbidden characters from the ID and store the
// event under the valid rest.
func TestRefusedIDs(t *testing.T) {
	home := t.TempDir()
	spool := session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	a := open(t, home)
	check := func(what, id string, r session.ArchiveReport, err error) {
		t.Helper()
		for _, s := range r.ChangedSessions {
			if !session.IsValidID(s.Session) {
				t.Errorf("%s of session %q keeps it as %q", what, id, s.Session)
			}
		}
		if err != nil || len(r.ChangedSessions)+r.InvalidInputCount != 1 {
			t.Errorf("%s of session %q = %+v, %v", what, id, r, err)
		}
	}
	for _, id := range refusedIDs {
		e := session.Event{Client: "claude", Session: id, Kind: session.KindPrompt, Text: "hello"}
		if err := spool.AppendEvents(e); err == nil {
			t.Errorf("the spool keeps an event of session %q", id)
		}
		if strings.ToValidUTF8(id, "") != id {
			continue // JSON cannot contain this ID.
		}
		r, err := a.AddEvents(t.Context(), []session.Event{e})
		check("Add", id, r, err)
		line, err := json.Marshal(e)
		if err == nil {
			err = os.MkdirAll(spool.Dir, 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(spool.Dir, "claude-x.jsonl"), append(line, '\n'), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err = a.DrainSpool(t.Context(), spool, nil)
		check("Drain", id, r, err)
	}
}
