// This file tests draining, which moves events from the spool (the files of new events) to the archive. It tests a full
// disk, a clock that is set back, and a file that cannot be drained.

package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/test/crashfs"
	"github.com/oxbow-memory/oxbow/vfs"
)

// TestDrainFull lets each write to the archive fail because the disk is full. The reported events must stay in the
// spool. When there is space again, they must be in the archive once.
func TestDrainFull(t *testing.T) {
	struck := 0
	for at, hit := 1, true; hit; at++ {
		disk, spool := crashfs.New(nil), session.Spool{Dir: filepath.Join(t.TempDir(), session.SpoolDir)}
		disk.Inject(
			crashfs.OpFault{
				FirstOpNumber: at,
				Kinds:         crashfs.OpWrite,
				Err:           syscall.ENOSPC,
				WrittenBytes:  at % 7,
				IsPermanent:   true,
			},
		)
		for i := range 3 {
			if err := spool.AppendEvents(
				event(session.KindPrompt, fmt.Sprint("p", i), "", float64(i), "go on"),
				call(fmt.Sprint("p", i), "c", float64(i), "ls"),
			); err != nil {
				t.Fatal(err)
			}
		}
		drain := func() error {
			m, err := oxbow.Open(session.StoreFile, &oxbow.Options{FS: disk.StartProcess()})
			if err != nil {
				return err
			}
			defer m.Close()
			_, err = (&session.Archive{Memory: m}).DrainSpool(t.Context(), spool, nil)
			return err
		}
		err := drain()
		hit = slices.ContainsFunc(disk.Log(), func(o crashfs.Op) bool { return o.Err != nil })
		if hit {
			struck++
		}
		if err != nil && !vfs.IsFull(err) {
			t.Errorf("full at %d: %v", at, err)
		}
		if left, _ := filepath.Glob(filepath.Join(spool.Dir, "*.jsonl*")); err != nil && len(left) == 0 {
			t.Fatalf("full at %d: the spool is empty after %v", at, err)
		}
		disk.Mend()
		if err := drain(); err != nil {
			t.Fatalf("with room again, full at %d before: %v", at, err)
		}
		m, err := oxbow.Open(session.StoreFile, &oxbow.Options{FS: disk.StartProcess(), ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		turns, err := (&session.Archive{Memory: m}).ReadTurns(t.Context(), "claude", "s")
		if err != nil || len(turns) != 3 || len(turns[2].Events) != 2 {
			t.Errorf("full at %d: %s, %v", at, shown(turns), err)
		}
		m.Close()
	}
	if struck < 2 {
		t.Errorf("the disk was full at %d writes alone", struck)
	}
}

// TestDrainClockBack tests that no turn is lost if the clock is set back an hour during a session, and that all
// sessions are listed.
func TestDrainClockBack(t *testing.T) {
	home := t.TempDir()
	now := day.Add(time.Hour)
	m, err := oxbow.Open(
		filepath.Join(home, session.StoreFile),
		&oxbow.Options{Clock: func() time.Time { return now }},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	a, spool := &session.Archive{Memory: m}, session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	for i := range 4 {
		if i == 2 {
			now = now.Add(-time.Hour)
		}
		e := event(session.KindPrompt, fmt.Sprint("p", i), "", 0, fmt.Sprint("step ", i))
		e.Time = now.Add(time.Duration(i) * time.Minute)
		other := e
		other.Session = fmt.Sprint("s", i)
		for _, e := range []session.Event{e, other} {
			if err := spool.AppendEvents(e); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := a.DrainSpool(t.Context(), spool, nil); err != nil {
			t.Fatal(err)
		}
	}
	if turns, err := a.ReadTurns(t.Context(), "claude", "s"); err != nil || len(turns) != 4 ||
		turns[0].PromptID != "p2" {
		t.Errorf("Turns = %s, %v", shown(turns), err)
	}
	if all, err := a.ListSessions(t.Context(), oxbow.Filter{}, time.Time{}, 10); err != nil || len(all) != 5 {
		t.Errorf("Sessions = %d, %v", len(all), err)
	}
}

// TestDrainOthers tests that a file that cannot be drained does not prevent other files from being drained and
// removed.
func TestDrainOthers(t *testing.T) {
	home := t.TempDir()
	a, spool := open(t, home), session.Spool{Dir: filepath.Join(home, session.SpoolDir)}
	for _, id := range []string{"a", "b", "c"} {
		if err := spool.AppendEvents(session.Event{Client: "claude", Session: id, Kind: session.KindPrompt,
			Text: "go on",
			Time: day}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(spool.FilePath("claude", "b")+".taken", 0o700); err != nil {
		t.Fatal(err)
	}
	r, err := a.DrainSpool(t.Context(), spool, nil)
	if err == nil || r.NewTurns != 2 {
		t.Errorf("Drain = %+v, %v", r, err)
	}
	if left, _ := filepath.Glob(filepath.Join(spool.Dir, "*.jsonl")); len(left) != 1 ||
		left[0] != spool.FilePath("claude", "b") {
		t.Errorf("the spool holds %q", left)
	}
}
