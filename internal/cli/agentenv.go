// This file detects whether an agent started oxbow. It uses the environment variables that clients set for the
// commands of agents.

package cli

import (
	"cmp"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// agentVars lists the variables by which a client is recognized. If the client also sets a variable with its session
// ID, that variable is listed as well. The names were observed in Claude Code 2.1.330, Codex 0.146, Gemini CLI, Qwen
// Code 0.24, opencode 1.18 and Copilot CLI 1.0.102. The variable of Cursor is from its documentation.
var agentVars = []struct{ client, name, session string }{
	{"claude", "CLAUDECODE", "CLAUDE_CODE_SESSION_ID"},
	{"codex", "CODEX_THREAD_ID", "CODEX_THREAD_ID"},
	{"codex", "CODEX_SANDBOX_NETWORK_DISABLED", ""},
	{"codex", "CODEX_CI", ""},
	{"qwen", "QWEN_CODE", ""}, // This row must precede gemini, because Qwen Code is a fork of Gemini CLI.
	{"gemini", "GEMINI_CLI", ""},
	{"opencode", "OPENCODE", ""},
	{"copilot", "COPILOT_CLI_BINARY_VERSION", ""},
	{"cursor", "CURSOR_AGENT", ""},
}

// sessionIDVariable is the variable that contains the session ID for a client that sets no such variable itself. If
// $OXBOW_AGENT is set as well, the value has the form CLIENT/SESSION and also names the client.
const sessionIDVariable = "OXBOW_SESSION"

// detectAgent finds out from the environment variables whether an agent started oxbow. It returns the name of the
// variable that shows this, and what is known about the agent's session: the client, the session ID and the working
// directory. The name is "" if a person started oxbow.
func (e *Env) detectAgent() (variable string, c session.Caller) {
	for _, v := range agentVars {
		if e.Getenv(v.name) == "" {
			continue
		}
		c.Client = v.client
		if v.session != "" {
			c.Session = e.Getenv(v.session)
		}
		c.Session = cmp.Or(c.Session, strings.TrimPrefix(e.Getenv(sessionIDVariable), v.client+"/"))
		c.Dir, _ = e.Getwd() // Ignore the error: the directory is "" if the working directory was deleted.
		return v.name, c
	}
	if e.Getenv("OXBOW_AGENT") != "" {
		if client, id, ok := strings.Cut(e.Getenv(sessionIDVariable), "/"); ok {
			c.Client, c.Session = client, id
		}
		c.Dir, _ = e.Getwd()
		return "OXBOW_AGENT", c
	}
	return "", c
}
