// This file tests that hooks and transcripts describe the same session in the same way.

package hook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
	"github.com/oxbow-memory/oxbow/internal/hook"
)

// TestTurns tests that the events of a session's hooks and of its transcript together make the turns in the file
// turns.golden. Each event occurs twice. The same events in reverse order, and the transcript alone, must make the same
// turns.
func TestTurns(t *testing.T) {
	dirs, err := filepath.Glob("testdata/*-*")
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no recorded sessions: %v", err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			client, _, _ := strings.Cut(filepath.Base(dir), "-")
			hooks, kept := reported(t, client, dir), kept(t, client, dir)
			both := slices.Concat(hooks, kept, hooks, kept)
			golden(t, filepath.Join(dir, "turns.golden"), story(both))
			backwards := slices.Clone(both)
			slices.Reverse(backwards)
			if got, want := story(backwards), story(both); !bytes.Equal(got, want) {
				t.Errorf("backwards, the turns are\n%s\nnot\n%s", got, want)
			}
			// A transcript alone may list simultaneous calls in a different order.
			if got, want := sorted(story(kept)), sorted(story(both)); len(kept) > 0 && got != want {
				t.Errorf("the transcript makes\n%s\nnot\n%s", got, want)
			}
		})
	}
}

func reported(t *testing.T, client, dir string) (all []session.Event) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "hooks.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for l := range bytes.Lines(b) {
		env, at := testEnv, struct {
			Recorded time.Time `json:"recorded_at"`
		}{}
		if err := json.Unmarshal(l, &at); err != nil {
			t.Fatal(err)
		}
		if !at.Recorded.IsZero() {
			env.Now = at.Recorded
		}
		all = append(all, hook.ParseReport(client, l, env).Events...)
	}
	return all
}

func kept(t *testing.T, client, dir string) (all []session.Event) {
	t.Helper()
	read := transcript.NewReader(testEnv.CleanText, nil)
	files, _ := filepath.Glob(filepath.Join(dir, "transcript*"))
	for _, file := range files {
		got, next, err := read(t.Context(), client, file, "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got...)
		if _, again, err := read(t.Context(), client, file, next); again != next || err != nil {
			t.Errorf("after %q the cursor is %q, %v", next, again, err)
		}
	}
	return all
}

// story returns the turns of a session as lines of JSON, one line for each event. Each turn begins with the line
// "turn". Events that start a session, or end a turn or session, are left out. The lines contain no times.
func story(events []session.Event) []byte {
	var b bytes.Buffer
	for _, turn := range session.BuildTurns(events) {
		b.WriteString("turn\n")
		for _, e := range turn.Events {
			if e.Kind == session.KindSessionStart || e.Kind == session.KindTurnEnd || e.Kind == session.KindSessionEnd {
				continue
			}
			line, _ := json.Marshal(struct {
				Kind  session.EventKind
				Agent string `json:",omitempty"`
				Text  string `json:",omitempty"`
				ID    string `json:",omitempty"`
				Call  *session.ToolCall
			}{e.Kind, e.SubAgent, e.Text, e.ID, e.Call})
			b.Write(append(line, '\n'))
		}
	}
	return b.Bytes()
}

func sorted(story []byte) string {
	lines := strings.Split(string(story), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
