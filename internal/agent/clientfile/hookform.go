// This file lists the hooks of the clients: the events that a client reports, and the form of an answer.

package clientfile

// HookForm describes a client's hooks. For the zero HookForm, oxbow does not read the client's reports.
type HookForm struct {
	// EventNames maps the client's name of each event that oxbow reads to the name that Claude Code uses. All other
	// events are ignored.
	EventNames map[string]string

	// ParseReport parses a report of a client that uses other field names than Claude Code. The event in the result
	// has the name that Claude Code uses. ParseReport is nil for all other clients.
	ParseReport func(stdin []byte) (HookReport, error)

	// MakeAnswer returns the JSON object with which a hook adds context to the conversation. The event has the
	// client's own name. MakeAnswer is nil if the client ignores all answers.
	MakeAnswer func(event, context string) any

	// IgnoresPromptAnswer is set if the client ignores the answer to a prompt.
	IgnoresPromptAnswer bool

	// MakePreToolAnswer is like MakeAnswer, for the event before a tool is used. It is nil if the client cannot add
	// context before a tool is used.
	MakePreToolAnswer func(event, context string) any

	// ToolNames maps tool names in reports to tool names in transcripts. It contains only the names that differ.
	ToolNames map[string]string

	// LooseIDs is set if a call may have one ID in reports and another ID in the transcript.
	LooseIDs bool

	// NeedsStartWithPrompt is set if the context for a session's start must be returned with the answer to the first
	// prompt.
	NeedsStartWithPrompt bool

	// ForgetsStartContext is set if the client does not store the context for a session's start in the conversation. A
	// resumed session then needs this context again.
	ForgetsStartContext bool

	// MCPClientPrefix is how the name begins under which the client connects to MCP servers. It is "" if that name
	// begins with the client's own name.
	MCPClientPrefix string
}

// commonEvents contains the event names of clients that use the names of Claude Code.
var commonEvents = map[string]string{
	"SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit", "PostToolUse": "PostToolUse",
	"PostToolUseFailure": "PostToolUseFailure", "PostCompact": "PostCompact", "SubagentStop": "SubagentStop",
	"Stop": "Stop", "SessionEnd": "SessionEnd", "AgentText": "AgentText",
}

// geminiEvents contains the event names of Gemini CLI.
var geminiEvents = map[string]string{"SessionStart": "SessionStart", "BeforeAgent": "UserPromptSubmit",
	"AfterTool": "PostToolUse", "AfterAgent": "Stop", "SessionEnd": "SessionEnd"}

// copilotEvents contains the event names of Copilot CLI.
var copilotEvents = map[string]string{"SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit",
	"PostToolUse": "PostToolUse", "PostToolUseFailure": "PostToolUseFailure", "Stop": "Stop",
	"SessionEnd": "SessionEnd"}

// copilotToolNames maps the tool names in Copilot CLI's hook reports to those in its transcripts. The reports use the
// names of Claude Code.
var copilotToolNames = map[string]string{"Read": "view", "Edit": "edit", "Write": "create", "Bash": "bash",
	"Agent": "task", "Glob": "glob", "Grep": "grep", "WebFetch": "web_fetch", "WebSearch": "web_search"}

// hookAnswer returns an answer in the form that most clients expect, which names the event.
func hookAnswer(event, context string) any {
	return map[string]any{
		"suppressOutput":     true,
		"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
	}
}

// minimalHookAnswer is like hookAnswer, but without further fields, because Codex refuses these before a tool is used.
func minimalHookAnswer(event, context string) any {
	return map[string]any{
		"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
	}
}

// copilotHookAnswer returns an answer in the form that Copilot CLI expects.
func copilotHookAnswer(_, context string) any { return map[string]any{"additionalContext": context} }

// opencodeHookAnswer returns an answer in the form that oxbow's plug-in for opencode expects.
func opencodeHookAnswer(_, context string) any { return map[string]any{"context": context} }

// cursorHookAnswer returns an answer in the form that Cursor expects.
func cursorHookAnswer(_, context string) any { return map[string]any{"additional_context": context} }

// clineHookAnswer returns an answer in the form that Cline expects.
func clineHookAnswer(_, context string) any {
	return map[string]any{"cancel": false, "contextModification": context}
}
