// Where clients keep what is theirs.

package clientline

import (
	"cmp"
	"path/filepath"
)

// homes are the directories of clients: a variable that names one, the user's own
// without it, and what is below either.
var homes = map[string]struct{ variable, dir, below string }{
	"claude":  {"CLAUDE_CONFIG_DIR", ".claude", ""},
	"codex":   {"CODEX_HOME", ".codex", ""},
	"copilot": {"COPILOT_HOME", ".copilot", ""},
	"gemini":  {"GEMINI_CLI_HOME", "", ".gemini"},
	"qwen":    {"QWEN_HOME", ".qwen", ""},
}

// Home returns the directory in which a client keeps its settings and transcripts.
// User is the user's own directory.
func Home(client, user string, getenv func(string) string) string {
	h := homes[client]
	return filepath.Join(cmp.Or(getenv(h.variable), filepath.Join(user, h.dir)), h.below)
}
