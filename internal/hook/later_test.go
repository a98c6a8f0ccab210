// This file tests that a session appears once if hooks recorded it and its transcript is imported later.

package hook_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// TestTranscriptAfterHooks tests sessions of which oxbow has both the reports of hooks and the transcript. The
// directory testdata/later contains the files of clients for which no recorded session exists, so the files follow the
// clients' documentation. Each prompt, call and text must occur once, as in the golden files, also if the events come
// in another order or twice.
func TestTranscriptAfterHooks(t *testing.T) {
	homes, err := filepath.Glob("testdata/later/*-*")
	if err != nil || len(homes) == 0 {
		t.Fatalf("no files of clients: %v", err)
	}
	for _, home := range homes {
		if strings.HasSuffix(home, ".golden") {
			continue
		}
		t.Run(filepath.Base(home), func(t *testing.T) {
			client, _, _ := strings.Cut(filepath.Base(home), "-")
			hooks := reported(t, client, filepath.Join("testdata", client+"-documented"))
			stored := storedEvents(t, client, home)
			both := slices.Concat(hooks, stored)
			golden(t, home+".golden", story(both))
			want := session.BuildTurns(stored)
			got := session.BuildTurns(both)
			if len(got) != len(want) || countCalls(got) != countCalls(want) {
				t.Errorf("hooks and transcript make %d turns with %d calls, the transcript alone %d with %d",
					len(got), countCalls(got), len(want), countCalls(want))
			}
			for _, again := range [][]session.Event{slices.Concat(stored, hooks), slices.Concat(both, both)} {
				if !bytes.Equal(story(again), story(both)) {
					t.Errorf("in another order or twice, the turns are\n%s\nnot\n%s", story(again), story(both))
				}
			}
			for _, turn := range got {
				if span := turn.EndTime.Sub(turn.StartTime); span < 0 || span > time.Minute {
					t.Errorf("turn %d takes %v", turn.Number, span)
				}
			}
		})
	}
}

// copyHome copies a home directory to a new directory, in which all files have the same modification time. The events
// of transcripts without times get the modification time of their file. In the repository, this would be the time of
// the checkout, so the order of events from several files would be random.
func copyHome(t *testing.T, home string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), filepath.Base(home))
	if err := os.CopyFS(dir, os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		modified := testEnv.Now.Add(time.Hour) // after the reports of the hooks
		return errors.Join(err, os.Chtimes(path, modified, modified))
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// storedEvents returns the events in all transcripts that a client stored in a home directory.
func storedEvents(t *testing.T, client, home string) (all []session.Event) {
	t.Helper()
	home = copyHome(t, home)
	read := transcript.NewFinishedTranscriptReader(testEnv.CleanText, func(r transcript.ReadReport) {
		if r.BadLines > 0 {
			t.Errorf("not read: %+v", r.FirstBadLines)
		}
	})
	for _, f := range transcript.FindTranscripts(home, func(string) string { return "" }, client) {
		events, _, err := read(t.Context(), client, f.Path, "")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, events...)
	}
	if len(all) == 0 {
		t.Fatalf("%s has no session of %s", home, client)
	}
	return all
}

func countCalls(turns []session.Turn) (n int) {
	for i := range turns {
		n += len(turns[i].CallEvents())
	}
	return n
}
