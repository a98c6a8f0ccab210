// This file lists the clients' hooks: the events that a client reports, and the form of an answer.

package clientfile

// HookFormat describes a client's hooks. For the zero HookFormat, oxbow does not read the client's reports.
type HookFormat struct {
	// EventNames maps the client's name of each event that oxbow reads to the name that Claude Code uses. All other
	// events are ignored.
	EventNames map[string]string

	// ParseReport parses a report of a client that uses other field names than Claude Code. The event in the result
	// has the name that Claude Code uses. ParseReport is nil for all other clients.
	ParseReport func(stdin []byte) (HookReport, error)

	// MakeAnswer returns the JSON object with which a hook adds context to the conversation. The event has the
	// client's own name. MakeAnswer is nil if the client ignores all answers.
	MakeAnswer func(event, context string) any

	// IgnoresPromptAnswer is set if the client ignores the answer that a hook returns when the person has sent a
	// prompt.
	IgnoresPromptAnswer bool

	// MakePreToolAnswer is like MakeAnswer, for the event before a tool is used. It is nil if the client cannot add
	// context before a tool is used.
	MakePreToolAnswer func(event, context string) any

	// ToolNames maps the tool names that the client passes to its hooks to the tool names in its transcripts. It
	// contains only the tools whose two names differ.
	ToolNames map[string]string

	// HasUnstableCallIDs is set if a call may have one ID in reports and another ID in the transcript.
	HasUnstableCallIDs bool

	// NeedsStartContextAtPrompt is set if the context for a session's start must be returned with the answer to the
	// first prompt.
	NeedsStartContextAtPrompt bool

	// ForgetsSessionStartContext is set if the client does not store the context for a session's start in the
	// conversation. A resumed session then needs this context again.
	ForgetsSessionStartContext bool

	// MCPClientPrefix is the beginning of the name that the client tells MCP servers when it connects to them. It is ""
	// if this name begins with the client's own name.
	MCPClientPrefix string
}

// commonEventNames contains the event names of clients that use Claude Code's names.
var commonEventNames = map[string]string{
	"SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit", "PostToolUse": "PostToolUse",
	"PostToolUseFailure": "PostToolUseFailure", "PostCompact": "PostCompact", "SubagentStop": "SubagentStop",
	"Stop": "Stop", "SessionEnd": "SessionEnd", "AgentText": "AgentText",
}

// geminiEventNames contains the event names of Gemini CLI.
var geminiEventNames = map[string]string{"SessionStart": "SessionStart", "BeforeAgent": "UserPromptSubmit",
	"AfterTool": "PostToolUse", "AfterAgent": "Stop", "SessionEnd": "SessionEnd"}

// copilotEventNames contains the event names of Copilot CLI.
var copilotEventNames = map[string]string{"SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit",
	"PostToolUse": "PostToolUse", "PostToolUseFailure": "PostToolUseFailure", "Stop": "Stop",
	"SessionEnd": "SessionEnd"}

// copilotToolNames maps the tool names in Copilot CLI's hook reports to those in its transcripts. The reports use the
// names of Claude Code.
var copilotToolNames = map[string]string{"Read": "view", "Edit": "edit", "Write": "create", "Bash": "bash",
	"Agent": "task", "Glob": "glob", "Grep": "grep", "WebFetch": "web_fetch", "WebSearch": "web_search"}

// makeHookAnswer returns an answer in the form that most clients expect, which names the event.
func makeHookAnswer(event, context string) any {
	return map[string]any{
		"suppressOutput":     true,
		"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
	}
}

// makeMinimalHookAnswer returns the answer to a hook event with a context for the model. The answer contains no other
// fields, because Codex rejects further fields in the answer to the event before a tool call.
func makeMinimalHookAnswer(event, context string) any {
	return map[string]any{
		"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
	}
}

// makeCopilotHookAnswer returns an answer in the form that Copilot CLI expects.
func makeCopilotHookAnswer(_, context string) any {
	return map[string]any{"additionalContext": context}
}

// makeOpencodeHookAnswer returns an answer in the form that oxbow's plug-in for opencode expects.
func makeOpencodeHookAnswer(_, context string) any { return map[string]any{"context": context} }

// makeCursorHookAnswer returns an answer in the form that Cursor expects.
func makeCursorHookAnswer(_, context string) any {
	return map[string]any{"additional_context": context}
}

// makeClineHookAnswer returns an answer in the form that Cline expects.
func makeClineHookAnswer(_, context string) any {
	return map[string]any{"cancel": false, "contextModification": context}
}
