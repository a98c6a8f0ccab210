// Whether the program was started by an agent, by the variables that clients give to
// the commands of theirs.

package cli

import (
	"cmp"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// agentVars are the variables of clients, and those that name the session. Read off
// Claude Code 2.1.330, Codex 0.146, Gemini CLI, Qwen Code 0.24, opencode 1.18 and
// Copilot CLI 1.0.102; Cursor's is of its documentation.
var agentVars = []struct{ client, name, session string }{
	{"claude", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID"},
	{"codex", "CODEX_THREAD_ID", "CODEX_THREAD_ID"},
	{"codex", "CODEX_SANDBOX_NETWORK_DISABLED", ""},
	{"codex", "CODEX_CI", ""},
	{"qwen", "QWEN_CODE", ""}, // before Gemini CLI, of which it is a fork
	{"gemini", "GEMINI_CLI", ""},
	{"opencode", "OPENCODE", ""},
	{"copilot", "COPILOT_CLI_BINARY_VERSION", ""},
	{"cursor", "CURSOR_AGENT", ""},
}

// sessionVar names the session in the shell of a client that does not do so itself, and
// with $OXBOW_AGENT the client, too, as CLIENT/SESSION.
const sessionVar = "OXBOW_SESSION"

// startedBy returns the variable that shows that an agent started the program, and what is
// known about that agent's session. The variable is "" if a person started it.
func (e *Env) startedBy() (variable string, c session.Caller) {
	for _, v := range agentVars {
		if e.Getenv(v.name) == "" {
			continue
		}
		c.Client = v.client
		if v.session != "" {
			c.Session = e.Getenv(v.session)
		}
		c.Session = cmp.Or(c.Session, strings.TrimPrefix(e.Getenv(sessionVar), v.client+"/"))
		c.Dir, _ = e.Getwd() // of a directory that is gone, nothing is known
		return v.name, c
	}
	if e.Getenv("OXBOW_AGENT") != "" {
		if client, id, ok := strings.Cut(e.Getenv(sessionVar), "/"); ok {
			c.Client, c.Session = client, id
		}
		c.Dir, _ = e.Getwd()
		return "OXBOW_AGENT", c
	}
	return "", c
}
