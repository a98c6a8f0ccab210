// This file contains the table of the clients whose transcripts are read as events.

package clientfile

import (
	"path/filepath"
	"strings"
)

// EventClient describes a client whose transcripts are read as events.
type EventClient struct {
	Name string // the client's name, as in oxbow setup

	// RecognizesLine reports whether a line looks like a line of this client's transcripts. Clients with the same
	// format, such as Cline and Roo Code, recognize the same lines.
	RecognizesLine func(line []byte) bool

	// NewReader returns a reader for the transcript at path. The path may be "" if it is not known.
	NewReader func(path string) EventReader

	// ResultLine converts a hook's report about a call's result to the line that the transcript will contain for this
	// result. The id identifies the call in the transcript.
	ResultLine func(r *HookReport, id string) any

	// Transcripts lists where the client stores transcripts in its directory. It is empty if the client keeps no files
	// that can be read.
	Transcripts []TranscriptPlace

	ResumeCommand string // command that resumes a session if the session's ID is appended

	// HasUnnamedCalls is set if the client's hook reports contain no call IDs. The calls are then identified by their
	// arguments.
	HasUnnamedCalls bool

	// ShowsResponses is set if an event's DisplayData has the same format as a tool's response in hook reports.
	ShowsResponses bool

	HasUniqueCallIDs bool // Call IDs are unique across all sessions.

	// NumbersLines is set if event IDs contain line numbers. A transcript must then be read from its first line,
	// because otherwise the numbers would be wrong.
	NumbersLines bool

	Hook  HookForm    // events and answers of the client's hooks
	Tools ClientTools // names of the client's tools, by purpose

	homeDir clientHome

	// findRoots returns the directories of a client that may store sessions in several directories. It is nil for a
	// client with a single directory.
	findRoots func(b baseDirs) []string
}

// TranscriptPlace names a directory below the client's own directory in which the client stores transcripts.
type TranscriptPlace struct {
	Below string
	// IsTranscript reports whether the file at a path with slashes is a transcript.
	IsTranscript func(path string) bool
}

// EventClients lists the clients whose transcripts are read as events.
var EventClients = []EventClient{
	{
		Name: "claude", RecognizesLine: isClaude, NewReader: newClaude, ResultLine: claudeResultLine,
		Transcripts:   []TranscriptPlace{{"projects", isJSONL}, {promptHistoryFile, IsPromptList}},
		ResumeCommand: "claude --resume=", ShowsResponses: true, HasUniqueCallIDs: true,
		homeDir: clientHome{envVariable: "CLAUDE_CONFIG_DIR", defaultDir: ".claude"}, findRoots: claudeRoots,
		Hook:  HookForm{EventNames: commonEvents, MakeAnswer: hookAnswer, MakePreToolAnswer: minimalHookAnswer},
		Tools: toolsOfClaude,
	},
	{
		Name: "codex", RecognizesLine: isCodex, NewReader: newCodex, ResultLine: codexResultLine,
		Transcripts: []TranscriptPlace{{"sessions", IsRollout}, {"archived_sessions", IsRollout},
			{promptHistoryFile, IsPromptList}},
		ResumeCommand: "codex resume ", HasUniqueCallIDs: true,
		homeDir: clientHome{envVariable: "CODEX_HOME", defaultDir: ".codex"},
		Hook:    HookForm{EventNames: commonEvents, MakeAnswer: hookAnswer, MakePreToolAnswer: minimalHookAnswer},
		Tools:   toolsOfCodex,
	},
	{
		Name: "gemini", RecognizesLine: isGemini, NewReader: newGemini, ResultLine: geminiResultLine,
		Transcripts: []TranscriptPlace{{"tmp", func(p string) bool {
			return isGeminiChat(p) || IsPromptList(p)
		}}},
		ResumeCommand: "gemini --resume=", HasUnnamedCalls: true,
		homeDir: clientHome{envVariable: "GEMINI_CLI_HOME", subdir: ".gemini"}, findRoots: geminiRoots,
		Hook:  HookForm{EventNames: geminiEvents, MakeAnswer: hookAnswer, NeedsStartWithPrompt: true},
		Tools: toolsOfGemini,
	},
	{
		Name: "copilot", RecognizesLine: isCopilot, NewReader: newCopilot, ResultLine: copilotResultLine,
		Transcripts: []TranscriptPlace{{"session-state", isCopilotEvents},
			{"history-session-state", func(p string) bool { return IsTranscript(p) || isOldCopilotDocument(p) }}},
		ResumeCommand: "copilot --resume=",
		homeDir:       clientHome{envVariable: "COPILOT_HOME", defaultDir: ".copilot"}, findRoots: copilotRoots,
		Hook: HookForm{EventNames: copilotEvents, MakeAnswer: copilotHookAnswer, MakePreToolAnswer: copilotHookAnswer,
			ToolNames: copilotToolNames, ForgetsStartContext: true, MCPClientPrefix: "github-copilot"},
		Tools: toolsOfCopilot,
	},
	{
		Name: "qwen", RecognizesLine: isQwen, NewReader: newQwen, ResultLine: qwenResultLine,
		Transcripts: []TranscriptPlace{
			{"projects", func(p string) bool {
				return isJSONL(p) && (strings.Contains(p, "/chats/") || strings.Contains(p, "/subagents/"))
			}},
			{"tmp", func(p string) bool { return isGeminiChat(p) || IsPromptList(p) }},
		},
		ResumeCommand: "qwen --resume=",
		homeDir:       clientHome{envVariable: "QWEN_HOME", defaultDir: ".qwen"}, findRoots: qwenRoots,
		Hook:  HookForm{EventNames: commonEvents, MakeAnswer: hookAnswer, ForgetsStartContext: true},
		Tools: toolsOfQwen,
	},
	{
		Name: "opencode", RecognizesLine: isOpencode, NewReader: newOpencode, ResultLine: opencodeResultLine,
		Transcripts: []TranscriptPlace{
			{"", func(p string) bool { return isOpencodeDatabase(p) || isOpencodeSession(p) }},
		},
		ResumeCommand: "opencode --session=", findRoots: opencodeRoots,
		Hook:  HookForm{EventNames: commonEvents, MakeAnswer: opencodeHookAnswer, ForgetsStartContext: true},
		Tools: toolsOfOpencode,
	},
	{
		Name: "cursor", RecognizesLine: isCursor, NewReader: newCursor, NumbersLines: true,
		findRoots: cursorRoots, Tools: toolsOfCursor,
		Hook: HookForm{ParseReport: parseCursorReport, EventNames: commonEvents, MakeAnswer: cursorHookAnswer,
			IgnoresPromptAnswer: true, LooseIDs: true},
		Transcripts: []TranscriptPlace{
			{"globalStorage", hasSuffixFunc("/globalStorage/state.vscdb")},
			{"projects", func(p string) bool { return isJSONL(p) && strings.Contains(p, "/agent-transcripts/") }},
		},
	},
	{
		Name: "vscode", RecognizesLine: isVSCode, NewReader: newVSCode, findRoots: vscodeRoots, Tools: toolsOfVSCode,
		Hook: HookForm{ParseReport: parseVSCodeReport, EventNames: commonEvents, MakeAnswer: hookAnswer,
			IgnoresPromptAnswer: true, LooseIDs: true},
		Transcripts: []TranscriptPlace{
			{"workspaceStorage", func(p string) bool { return isJSON(p) && strings.Contains(p, "/chatSessions/") }},
			{"globalStorage/emptyWindowChatSessions", isJSON},
		},
	},
	{
		Name: "zed", RecognizesLine: isZed, NewReader: newZed, Tools: toolsOfZed,
		Transcripts: []TranscriptPlace{{"threads", hasSuffixFunc("/threads.db")}},
		findRoots:   func(b baseDirs) []string { return append(b.dataDirs("zed"), b.dataDirs("Zed")...) },
	},
	{
		Name: "goose", RecognizesLine: isGoose, NewReader: newGoose, NumbersLines: true,
		findRoots: gooseRoots, Tools: toolsOfGoose,
		Hook: HookForm{ParseReport: parseGooseReport, EventNames: commonEvents, LooseIDs: true},
		Transcripts: []TranscriptPlace{{"sessions", func(p string) bool {
			return isJSONL(p) || strings.HasSuffix(p, "/sessions.db")
		}}},
	},
	{
		Name: "cline", RecognizesLine: isCline, NewReader: newCline, findRoots: clineRoots, Tools: toolsOfCline,
		Hook:        HookForm{ParseReport: parseClineReport, EventNames: commonEvents, MakeAnswer: clineHookAnswer},
		Transcripts: []TranscriptPlace{{"tasks", IsClineTask}, {"sessions", hasSuffixFunc(".messages.json")}},
	},
	{
		Name: "roo", RecognizesLine: isCline, NewReader: newCline, Tools: toolsOfCline,
		Transcripts: []TranscriptPlace{{"tasks", IsClineTask}},
		findRoots:   func(b baseDirs) []string { return b.extensionDirs("rooveterinaryinc.roo-cline") },
	},
	{
		Name: "kilo", RecognizesLine: isCline, NewReader: newCline, Tools: toolsOfCline,
		Transcripts: []TranscriptPlace{{"tasks", IsClineTask}},
		findRoots:   func(b baseDirs) []string { return b.extensionDirs("kilocode.kilo-code") },
	},
	{
		Name: "pi", RecognizesLine: isPi, NewReader: newPi, Tools: toolsOfPi,
		Transcripts: []TranscriptPlace{{"sessions", isJSONL}},
		findRoots:   func(b baseDirs) []string { return []string{b.dirFromEnv("PI_CODING_AGENT_DIR", ".pi/agent")} },
	},
	{
		Name: "openclaw", RecognizesLine: isPi, NewReader: newPi, Tools: toolsOfOpenclaw,
		Transcripts: []TranscriptPlace{{"agents", func(p string) bool {
			return isJSONL(p) && strings.Contains(p, "/sessions/") && !strings.HasSuffix(p, ".trajectory.jsonl")
		}}},
		findRoots: openclawRoots,
	},
	{
		Name: "amp", RecognizesLine: isAmp, NewReader: newAmp, Tools: toolsOfAmp,
		Transcripts: []TranscriptPlace{{"threads", func(p string) bool {
			return strings.HasSuffix(p, ".json") && strings.Contains(p, "/T-")
		}}},
		findRoots: func(b baseDirs) []string { return b.dataDirs("amp") },
	},
	{
		Name: "crush", RecognizesLine: isCrush, NewReader: newCrush, findRoots: crushRoots, Tools: toolsOfCrush,
		Transcripts: []TranscriptPlace{{"", hasSuffixFunc("/crush.db")}},
	},
	{
		Name: "hermes", NumbersLines: true, RecognizesLine: isHermes, NewReader: newHermes, Tools: toolsOfHermes,
		Transcripts: []TranscriptPlace{{"", func(p string) bool {
			return strings.HasSuffix(p, "/state.db") || (isJSONL(p) && strings.Contains(p, "/sessions/"))
		}}},
		findRoots: func(b baseDirs) []string { return []string{b.dirFromEnv("HERMES_HOME", ".hermes")} },
	},
	{
		Name: "kimi", RecognizesLine: isKimi, NewReader: newKimi, NumbersLines: true,
		findRoots: kimiRoots, Tools: toolsOfKimi,
		Transcripts: []TranscriptPlace{{"sessions", hasSuffixFunc("/wire.jsonl")}},
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

// HasHooks reports whether oxbow reads the reports of the client's hooks.
func (c EventClient) HasHooks() bool { return c.Hook.EventNames != nil }

// HasHome reports whether the client has a directory for its settings and transcripts; see [HomeDir].
func (c EventClient) HasHome() bool { return c.homeDir != clientHome{} }

// RecognizeClient returns the name of the client that writes lines like this line, or "" if no client is known to. If
// several clients write such lines and expected is one of them, it returns expected's name.
func RecognizeClient(line []byte, expected EventClient) string {
	if expected.RecognizesLine(line) {
		return expected.Name
	}
	for _, c := range EventClients {
		if c.Name != expected.Name && c.RecognizesLine(line) {
			return c.Name
		}
	}
	return ""
}

// isJSONL reports whether a path names a file with JSON lines, which may be compressed.
func isJSONL(path string) bool {
	path, _ = TrimCompressedSuffix(path)
	return strings.HasSuffix(path, ".jsonl")
}

// IsRollout reports whether a path names a Codex transcript, which may be compressed.
func IsRollout(path string) bool {
	path, _ = TrimCompressedSuffix(filepath.ToSlash(path))
	return isJSON(path) && strings.Contains(path, "/rollout-")
}

// isGeminiChat reports whether a path names a transcript of Gemini CLI or Qwen Code.
func isGeminiChat(path string) bool { return IsTranscript(path) && strings.Contains(path, "/chats/") }

// hasSuffixFunc returns a function that reports whether a path ends in a suffix.
func hasSuffixFunc(suffix string) func(string) bool {
	return func(path string) bool { return strings.HasSuffix(path, suffix) }
}

// isJSON reports whether a path names a JSON document or a file with JSON lines.
func isJSON(path string) bool {
	plain, _ := TrimCompressedSuffix(path)
	return isJSONL(path) || strings.HasSuffix(plain, ".json")
}
