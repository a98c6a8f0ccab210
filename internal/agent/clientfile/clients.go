// This file contains the table of the clients whose transcripts are read as events.

package clientfile

import (
	"path/filepath"
	"strings"
)

// EventClient is a client whose transcripts are read as events.
type EventClient struct {
	Name       string                        // the client's name in setup
	Recognizes func(line []byte) bool        // reports whether only this client writes such a line
	NewReader  func(path string) EventReader // path is the path of the transcript ("" if unknown)

	// AnswerLine converts a report about a call's result to the line that the transcript will contain for the result.
	// id identifies the call in the transcript.
	AnswerLine func(r *Report, id string) any

	// Transcripts lists the places of transcripts in the client's directory. It is empty if the client
	// keeps no files that can be read.
	Transcripts []TranscriptPlace

	Resume string // command that resumes a session, to which the session's ID must be appended

	// UnnamedCalls is set if the reports to hooks do not contain the IDs of calls. Then a call is
	// identified by its arguments.
	UnnamedCalls bool

	// ShowsResponses is set if Shown has the form in which hooks report the response of a tool.
	ShowsResponses bool

	UniqueCalls bool // the IDs of calls are unique across all sessions

	Hook  HookForm // the client's hooks
	Tools Tools    // the client's tools

	home clientHome

	// roots returns the directories of a client that may have several directories. It is nil for a
	// client with a single directory.
	roots func(b baseDirs) []string
}

// TranscriptPlace is a directory below the client's own directory, in which the client stores transcripts.
type TranscriptPlace struct {
	Below        string
	IsTranscript func(path string) bool // reports whether the file with this path, with slashes, is a transcript
}

// EventClients lists the clients whose transcripts are read as events.
var EventClients = []EventClient{
	{
		Name: "claude", Recognizes: isClaude, NewReader: newClaude, AnswerLine: claudeAnswer,
		Transcripts: []TranscriptPlace{{"projects", isJSONL}, {promptLines, isPromptList}},
		Resume:      "claude --resume=", ShowsResponses: true, UniqueCalls: true,
		home: clientHome{variable: "CLAUDE_CONFIG_DIR", dir: ".claude"}, roots: claudeRoots,
		Hook:  HookForm{Events: commonEvents, Answer: namedAnswer, AnswerBefore: onlyNamedAnswer},
		Tools: toolsOfClaude,
	},
	{
		Name: "codex", Recognizes: isCodex, NewReader: newCodex, AnswerLine: codexAnswer,
		Transcripts: []TranscriptPlace{{"sessions", IsRollout}, {"archived_sessions", IsRollout},
			{promptLines, isPromptList}},
		Resume: "codex resume ", UniqueCalls: true,
		home:  clientHome{variable: "CODEX_HOME", dir: ".codex"},
		Hook:  HookForm{Events: commonEvents, Answer: namedAnswer, AnswerBefore: onlyNamedAnswer},
		Tools: toolsOfCodex,
	},
	{
		Name: "gemini", Recognizes: isGemini, NewReader: newGemini, AnswerLine: geminiAnswer,
		Transcripts: []TranscriptPlace{{"tmp", func(p string) bool {
			return isChat(p) || isPromptList(p)
		}}},
		Resume: "gemini --resume=", UnnamedCalls: true,
		home: clientHome{variable: "GEMINI_CLI_HOME", below: ".gemini"}, roots: geminiRoots,
		Hook:  HookForm{Events: geminiEvents, Answer: namedAnswer, StartsLate: true},
		Tools: toolsOfGemini,
	},
	{
		Name: "copilot", Recognizes: isCopilot, NewReader: newCopilot, AnswerLine: copilotAnswer,
		Transcripts: []TranscriptPlace{{"session-state", isCopilotEvents},
			{"history-session-state", func(p string) bool { return IsTranscript(p) || isOldCopilot(p) }}},
		Resume: "copilot --resume=",
		home:   clientHome{variable: "COPILOT_HOME", dir: ".copilot"}, roots: copilotRoots,
		Hook: HookForm{Events: copilotEvents, Answer: additionalContext, AnswerBefore: additionalContext,
			Tools: copilotToolNames, ForgetsStart: true, Server: "github-copilot"},
		Tools: toolsOfCopilot,
	},
	{
		Name: "qwen", Recognizes: isQwen, NewReader: newQwen, AnswerLine: qwenAnswer,
		Transcripts: []TranscriptPlace{
			{"projects", func(p string) bool {
				return isJSONL(p) && (strings.Contains(p, "/chats/") || strings.Contains(p, "/subagents/"))
			}},
			{"tmp", func(p string) bool { return isChat(p) || isPromptList(p) }},
		},
		Resume: "qwen --resume=",
		home:   clientHome{variable: "QWEN_HOME", dir: ".qwen"}, roots: qwenRoots,
		Hook:  HookForm{Events: commonEvents, Answer: namedAnswer, ForgetsStart: true},
		Tools: toolsOfQwen,
	},
	{
		Name: "opencode", Recognizes: isOpencode, NewReader: newOpencode, AnswerLine: opencodeAnswer,
		Transcripts: []TranscriptPlace{
			{"", func(p string) bool { return isOpencodeDatabase(p) || isOpencodeSession(p) }},
		},
		Resume: "opencode --session=", roots: opencodeRoots,
		Hook:  HookForm{Events: commonEvents, Answer: pluginAnswer, ForgetsStart: true},
		Tools: toolsOfOpencode,
	},
	{
		Name: "cursor", Recognizes: isCursor, NewReader: newCursor, roots: cursorRoots, Tools: toolsOfCursor,
		Hook: HookForm{Read: readCursorReport, Events: commonEvents, Answer: snakeCaseContext,
			IgnoresPromptAnswer: true},
		Transcripts: []TranscriptPlace{
			{"globalStorage", endsWith("/globalStorage/state.vscdb")},
			{"projects", func(p string) bool { return isJSONL(p) && strings.Contains(p, "/agent-transcripts/") }},
		},
	},
	{
		Name: "vscode", Recognizes: isVSCode, NewReader: newVSCode, roots: vscodeRoots, Tools: toolsOfVSCode,
		Hook: HookForm{Read: readVSCodeReport, Events: commonEvents, Answer: namedAnswer,
			IgnoresPromptAnswer: true},
		Transcripts: []TranscriptPlace{
			{"workspaceStorage", func(p string) bool { return isJSON(p) && strings.Contains(p, "/chatSessions/") }},
			{"globalStorage/emptyWindowChatSessions", isJSON},
		},
	},
	{
		Name: "zed", Recognizes: isZed, NewReader: newZed, Tools: toolsOfZed,
		Transcripts: []TranscriptPlace{{"threads", endsWith("/threads.db")}},
		roots:       func(b baseDirs) []string { return append(b.data("zed"), b.data("Zed")...) },
	},
	{
		Name: "goose", Recognizes: isGoose, NewReader: newGoose, roots: gooseRoots, Tools: toolsOfGoose,
		Hook: HookForm{Read: readGooseReport, Events: commonEvents},
		Transcripts: []TranscriptPlace{{"sessions", func(p string) bool {
			return isJSONL(p) || strings.HasSuffix(p, "/sessions.db")
		}}},
	},
	{
		Name: "cline", Recognizes: isCline, NewReader: newCline, roots: clineRoots, Tools: toolsOfCline,
		Hook:        HookForm{Read: readClineReport, Events: commonEvents, Answer: contextModification},
		Transcripts: []TranscriptPlace{{"tasks", IsTask}, {"sessions", endsWith(".messages.json")}},
	},
	{
		Name: "roo", Recognizes: isCline, NewReader: newCline, Tools: toolsOfCline,
		Transcripts: []TranscriptPlace{{"tasks", IsTask}},
		roots:       func(b baseDirs) []string { return b.extension("rooveterinaryinc.roo-cline") },
	},
	{
		Name: "kilo", Recognizes: isCline, NewReader: newCline, Tools: toolsOfCline,
		Transcripts: []TranscriptPlace{{"tasks", IsTask}},
		roots:       func(b baseDirs) []string { return b.extension("kilocode.kilo-code") },
	},
	{
		Name: "pi", Recognizes: isPi, NewReader: newPi, Tools: toolsOfPi,
		Transcripts: []TranscriptPlace{{"sessions", isJSONL}},
		roots:       func(b baseDirs) []string { return []string{b.home("PI_CODING_AGENT_DIR", ".pi/agent")} },
	},
	{
		Name: "openclaw", Recognizes: isPi, NewReader: newPi, Tools: toolsOfOpenclaw,
		Transcripts: []TranscriptPlace{{"agents", func(p string) bool {
			return isJSONL(p) && strings.Contains(p, "/sessions/") && !strings.HasSuffix(p, ".trajectory.jsonl")
		}}},
		roots: openclawRoots,
	},
	{
		Name: "amp", Recognizes: isAmp, NewReader: newAmp, Tools: toolsOfAmp,
		Transcripts: []TranscriptPlace{{"threads", func(p string) bool {
			return strings.HasSuffix(p, ".json") && strings.Contains(p, "/T-")
		}}},
		roots: func(b baseDirs) []string { return b.data("amp") },
	},
	{
		Name: "crush", Recognizes: isCrush, NewReader: newCrush, roots: crushRoots, Tools: toolsOfCrush,
		Transcripts: []TranscriptPlace{{"", endsWith("/crush.db")}},
	},
	{
		Name: "hermes", Recognizes: isHermes, NewReader: newHermes, Tools: toolsOfHermes,
		Transcripts: []TranscriptPlace{{"", func(p string) bool {
			return strings.HasSuffix(p, "/state.db") || (isJSONL(p) && strings.Contains(p, "/sessions/"))
		}}},
		roots: func(b baseDirs) []string { return []string{b.home("HERMES_HOME", ".hermes")} },
	},
	{
		Name: "kimi", Recognizes: isKimi, NewReader: newKimi, roots: kimiRoots, Tools: toolsOfKimi,
		Transcripts: []TranscriptPlace{{"sessions", endsWith("/wire.jsonl")}},
	},
}

// FindEventClient returns the client with a name. It returns false if the client is not in the table.
func FindEventClient(name string) (EventClient, bool) {
	for i := range EventClients {
		if EventClients[i].Name == name {
			return EventClients[i], true
		}
	}
	return EventClient{}, false
}

// HasHooks reports whether the reports of the client's hooks are read.
func (c EventClient) HasHooks() bool { return c.Hook.Events != nil }

// HasHome reports whether the client has a directory for its settings and transcripts; see [Home].
func (c EventClient) HasHome() bool { return c.home != clientHome{} }

// Recognize returns the name of the client that writes such lines, or "" if it is unknown. If several
// clients do, it prefers the expected client.
func Recognize(line []byte, expected EventClient) string {
	if expected.Recognizes(line) {
		return expected.Name
	}
	for _, c := range EventClients {
		if c.Name != expected.Name && c.Recognizes(line) {
			return c.Name
		}
	}
	return ""
}

// isJSONL reports whether a file contains JSON lines. It may be compressed.
func isJSONL(path string) bool {
	path, _ = TrimCompressed(path)
	return strings.HasSuffix(path, ".jsonl")
}

// IsRollout reports whether a file is a transcript of Codex, which may be compressed.
func IsRollout(path string) bool {
	path, _ = TrimCompressed(filepath.ToSlash(path))
	return isJSON(path) && strings.Contains(path, "/rollout-")
}

// isChat reports whether a file is a transcript of Gemini CLI or Qwen Code.
func isChat(path string) bool { return IsTranscript(path) && strings.Contains(path, "/chats/") }

// endsWith returns a function that reports whether a path ends in a suffix.
func endsWith(suffix string) func(string) bool {
	return func(path string) bool { return strings.HasSuffix(path, suffix) }
}

// isJSON reports whether a file is a JSON document or JSON lines.
func isJSON(path string) bool {
	plain, _ := TrimCompressed(path)
	return isJSONL(path) || strings.HasSuffix(plain, ".json")
}
