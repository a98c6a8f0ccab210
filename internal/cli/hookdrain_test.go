// This file tests drains that a hook ends before they are complete.

package cli

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// TestDrainIsEnded tests that a drain that was ended gets more time at the next hook. If it is ended
// again, doctor reports it, and no client waits for it any more.
func TestDrainIsEnded(t *testing.T) {
	home := t.TempDir()
	if err := os.Mkdir(filepath.Join(home, session.SpoolDir), 0o700); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string {
		b, err := os.ReadFile(filepath.Join(home, session.SpoolDir, name))
		if err != nil {
			return "none"
		}
		return string(b)
	}
	synctest.Test(t, func(t *testing.T) {
		p := newPrompted(t)
		p.env.HookWaits = &HookWaits{Final: time.Second, Unfinished: 10 * time.Second}
		a := newApp(p.env)
		for i, c := range []struct {
			takes time.Duration
			want  string
			fail  bool
		}{
			{0, "none", false},
			{5 * time.Second, "", false},
			{5 * time.Second, "none", false},
			{time.Minute, "", false},
			{time.Minute, "late\n", true},
			{5 * time.Second, "late\n", true},
			{0, "none", true},
		} {
			again := at(unfinishedFile) == ""
			a.drainInTime("claude", home, func() {
				if during := at(unfinishedFile); again && during != "late\n" {
					t.Errorf("drain %d has %q: a client that ends it waits as long the next time", i, during)
				}
				time.Sleep(c.takes)
			})
			if got, failed := at(unfinishedFile), at("failure.json") != "none"; got != c.want || failed != c.fail {
				t.Errorf(
					"drain %d leaves %q, want %q; a failure is recorded: %t, want %t",
					i,
					got,
					c.want,
					failed,
					c.fail,
				)
			}
		}
		time.Sleep(2 * time.Minute) // longer than the ended drains
	})
}
