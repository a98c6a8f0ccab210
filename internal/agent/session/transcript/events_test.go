// This file tests which events the recorded transcripts of all clients contain.

package transcript_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the events of the recorded transcripts")

// TestRecordedEvents compares the events of each recorded transcript with its list in testdata/events.
func TestRecordedEvents(t *testing.T) {
	for _, file := range recorded(t) {
		name := filepath.Base(filepath.Dir(file)) + "-" + filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			events, _ := readAll(t, clientOf(file), file, "")
			if len(events) == 0 {
				t.Fatal("the transcript has no events")
			}
			var got bytes.Buffer
			out := json.NewEncoder(&got)
			out.SetEscapeHTML(false)
			for _, e := range events {
				if err := out.Encode(e); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join("testdata", "events", name+".want")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			wants, gots := bytes.Split(want, []byte("\n")), bytes.Split(got.Bytes(), []byte("\n"))
			for i := range max(len(wants), len(gots)) {
				var w, g []byte
				if i < len(wants) {
					w = wants[i]
				}
				if i < len(gots) {
					g = gots[i]
				}
				if !bytes.Equal(w, g) {
					t.Errorf("event %d is\n%s\nwant\n%s", i+1, g, w)
				}
			}
		})
	}
}
