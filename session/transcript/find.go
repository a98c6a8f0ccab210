// Where clients keep their transcripts.

package transcript

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/clientline"
)

// Found is a transcript on this machine.
type Found struct {
	Client string
	Path   string
	Size   int64
	Time   time.Time // of the last change
}

// place is a directory of a client, and which of the files below it are
// transcripts.
type place struct {
	client string
	below  string
	is     func(path string) bool // of a path below
}

var places = []place{
	{"claude", "projects", isJSONL},
	{"codex", "sessions", isRollout},
	{"codex", "archived_sessions", isRollout},
	{"gemini", "tmp", func(p string) bool { return isJSONL(p) && strings.Contains(p, "/chats/") }},
	{"copilot", "session-state", func(p string) bool { return strings.HasSuffix(p, "/events.jsonl") }},
	{"qwen", "projects", func(p string) bool {
		return isJSONL(p) && (strings.Contains(p, "/chats/") || strings.Contains(p, "/subagents/"))
	}},
}

func isJSONL(path string) bool { return strings.HasSuffix(path, ".jsonl") }

func isRollout(path string) bool {
	return isJSONL(path) && strings.Contains(path, "/rollout-")
}

// Find returns the transcripts of the clients, the oldest first. Home is the
// user's own directory. What cannot be looked at is left out.
func Find(home string, getenv func(string) string, clients ...string) []Found {
	var all []Found
	for _, p := range places {
		if !slices.Contains(clients, p.client) {
			continue
		}
		dir := clientline.Home(p.client, home, getenv)
		_ = filepath.WalkDir(filepath.Join(dir, p.below), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || !p.is(filepath.ToSlash(path)) {
				return nil
			}
			if fi, err := os.Stat(path); err == nil {
				all = append(all, Found{p.client, path, fi.Size(), fi.ModTime()})
			}
			return nil
		})
	}
	slices.SortStableFunc(all, func(a, b Found) int { return a.Time.Compare(b.Time) })
	return all
}
