// This file finds the directories in which clients store their files.

package clientfile

import (
	"cmp"
	"path/filepath"
)

// homes contains the directory of each client: the environment variable that may name a directory, the
// default in the user's home directory, and the path below either.
var homes = map[string]struct{ variable, dir, below string }{
	"claude":  {"CLAUDE_CONFIG_DIR", ".claude", ""},
	"codex":   {"CODEX_HOME", ".codex", ""},
	"copilot": {"COPILOT_HOME", ".copilot", ""},
	"gemini":  {"GEMINI_CLI_HOME", "", ".gemini"},
	"qwen":    {"QWEN_HOME", ".qwen", ""},
}

// Home returns the directory in which a client stores its settings and transcripts. User is the user's
// home directory.
func Home(client, user string, getenv func(string) string) string {
	h := homes[client]
	return filepath.Join(cmp.Or(getenv(h.variable), filepath.Join(user, h.dir)), h.below)
}
