// This file tests that the sessions of clients are found where the clients store them, and which events they contain.
// The test sessions have the formats that the clients' sources describe. They were not written by the clients.

package transcript_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

const clientsHome = "../../clientfile/testdata/home"

var formClients = []string{
	"amp",
	"cline",
	"crush",
	"cursor",
	"goose",
	"hermes",
	"kilo",
	"kimi",
	"opencode",
	"openclaw",
	"pi",
	"roo",
	"vscode",
	"zed",
}

// TestClientForms lists the events of all sessions in a home directory that contains sessions of all clients.
func TestClientForms(t *testing.T) {
	home, err := filepath.Abs(clientsHome)
	if err != nil {
		t.Fatal(err)
	}
	data := t.TempDir() // Crush lists its projects in a file.
	list, err := json.Marshal(
		map[string]any{"projects": []any{map[string]string{"data_dir": home + "/harbor/.crush"}}},
	)
	if err != nil {
		t.Fatal(err)
	}
	projects := filepath.Join(data, "crush", "projects.json")
	if err := os.MkdirAll(filepath.Dir(projects), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(projects, list, 0o600); err != nil {
		t.Fatal(err)
	}
	found := transcript.FindTranscripts(home, func(string) string { return "" }, formClients...)
	found = append(found, transcript.FindTranscripts(home, func(name string) string {
		if name == "XDG_DATA_HOME" {
			return data
		}
		return ""
	}, "crush")...)
	slices.SortFunc(found, func(a, b transcript.FoundTranscript) int {
		return strings.Compare(a.Client+a.Path, b.Client+b.Path)
	})
	var got strings.Builder
	for _, f := range found {
		path, err := filepath.Rel(home, f.Path)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s %s\n", f.Client, filepath.ToSlash(path))
		events, _, err := transcript.NewFinishedTranscriptReader(strings.TrimSpace, func(r transcript.ReadReport) {
			if r.HasProblems() {
				t.Errorf("a part was not read: %+v", r)
			}
		})(t.Context(), f.Client, f.Path, "")
		if err != nil {
			t.Error(err)
		}
		for _, e := range events {
			if strings.HasPrefix(filepath.ToSlash(path), ".cursor/") {
				e.Time = time.Time{} // The time is that of the file, which differs in each run.
			}
			b, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&got, "  %s\n", strings.ReplaceAll(string(b), home, "HOME"))
		}
	}
	path := filepath.Join("testdata", "clients.want")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	gots, wants := strings.Split(got.String(), "\n"), strings.Split(string(want), "\n")
	for i := range max(len(gots), len(wants)) {
		g, w := "", ""
		if i < len(gots) {
			g = gots[i]
		}
		if i < len(wants) {
			w = wants[i]
		}
		if g != w {
			t.Errorf("line %d is\n%s\nwant\n%s", i+1, g, w)
		}
	}
}
