// Where clients keep their transcripts.

package transcript

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
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
	env    string // names the client's directory; "" for none
	dir    string // in the user's own directory, without the variable
	below  string
	is     func(path string) bool // of a path below
}

var places = []place{
	{"claude", "CLAUDE_CONFIG_DIR", ".claude", "projects", isJSONL},
	{"codex", "CODEX_HOME", ".codex", "sessions", isRollout},
	{"codex", "CODEX_HOME", ".codex", "archived_sessions", isRollout},
	{"gemini", "", ".gemini", "tmp", func(p string) bool { return isJSONL(p) && strings.Contains(p, "/chats/") }},
	{"copilot", "COPILOT_HOME", ".copilot", "session-state", func(p string) bool { return strings.HasSuffix(p, "/events.jsonl") }},
	{"qwen", "", ".qwen", "projects", func(p string) bool {
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
		dir := filepath.Join(home, p.dir)
		if p.env != "" && getenv(p.env) != "" {
			dir = getenv(p.env)
		}
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
