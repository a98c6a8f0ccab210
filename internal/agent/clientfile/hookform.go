// This file lists the hooks of the clients: the events that a client reports, and the form of an answer.

package clientfile

// HookForm describes the hooks of a client. The zero HookForm means that the reports of the client are not read.
type HookForm struct {
	// EventNames maps the names of the events that are read to the names that Claude Code has for them. Other
	// events are ignored.
	EventNames map[string]string

	// ParseReport parses a report of a client that names its fields in another way than Claude Code. The name of
	// the event in the result is that of Claude Code. Read is nil for all other clients.
	ParseReport func(stdin []byte) (HookReport, error)

	// MakeAnswer returns the JSON object that adds a context to the conversation. The event has the client's name.
	// Answer is nil if the client ignores all answers.
	MakeAnswer func(event, context string) any

	// IgnoresPromptAnswer is set if the client ignores the answer to a prompt.
	IgnoresPromptAnswer bool

	// MakePreToolAnswer is like FunctionResponse, for the event before a tool is used. It is nil if the client cannot
	// add a context at this moment.
	MakePreToolAnswer func(event, context string) any

	// ToolNames maps the names of tools in reports to the names in transcripts, if they differ.
	ToolNames map[string]string

	// LooseIDs is set if the IDs of calls in reports may differ from the IDs in the transcript.
	LooseIDs bool

	// NeedsStartWithPrompt is set if the client must get the context of a session's start with the first prompt.
	NeedsStartWithPrompt bool

	// ForgetsStartContext is set if the client does not store the context of a session's start in the conversation.
	// Then a resumed session needs the context again.
	ForgetsStartContext bool

	// MCPClientPrefix is the beginning of the name with which the client introduces itself to MCP servers, if the
	// name does not begin with the client's name.
	MCPClientPrefix string
}

// commonEvents contains the events of clients whose reports identify the prompt and the tool call.
var commonEvents = map[string]string{
	"SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit", "PostToolUse": "PostToolUse",
	"PostToolUseFailure": "PostToolUseFailure", "PostCompact": "PostCompact", "SubagentStop": "SubagentStop",
	"Stop": "Stop", "SessionEnd": "SessionEnd", "AgentText": "AgentText",
}

// geminiEvents contains the events of Gemini CLI.
var geminiEvents = map[string]string{"SessionStart": "SessionStart", "BeforeAgent": "UserPromptSubmit",
	"AfterTool": "PostToolUse", "AfterAgent": "Stop", "SessionEnd": "SessionEnd"}

// copilotEvents contains the events of Copilot CLI.
var copilotEvents = map[string]string{"SessionStart": "SessionStart", "UserPromptSubmit": "UserPromptSubmit",
	"PostToolUse": "PostToolUse", "PostToolUseFailure": "PostToolUseFailure", "Stop": "Stop",
	"SessionEnd": "SessionEnd"}

// copilotToolNames maps the tool names that Copilot CLI reports to hooks, which are the names of Claude Code, to the
// names in its transcripts.
var copilotToolNames = map[string]string{"Read": "view", "Edit": "edit", "Write": "create", "Bash": "bash",
	"Agent": "task", "Glob": "glob", "Grep": "grep", "WebFetch": "web_fetch", "WebSearch": "web_search"}

// hookAnswer returns an answer that names its event, as most clients expect.
func hookAnswer(event, context string) any {
	return map[string]any{
		"suppressOutput":     true,
		"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
	}
}

// minimalHookAnswer is like hookAnswer, without other fields, which Codex refuses before a tool is used.
func minimalHookAnswer(event, context string) any {
	return map[string]any{
		"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
	}
}

// copilotHookAnswer returns the answer for Copilot CLI.
func copilotHookAnswer(_, context string) any { return map[string]any{"additionalContext": context} }

// opencodeHookAnswer returns the answer for our plug-in for opencode.
func opencodeHookAnswer(_, context string) any { return map[string]any{"context": context} }

// cursorHookAnswer returns the answer for Cursor.
func cursorHookAnswer(_, context string) any { return map[string]any{"additional_context": context} }

// clineHookAnswer returns the answer for Cline.
func clineHookAnswer(_, context string) any {
	return map[string]any{"cancel": false, "contextModification": context}
}
