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

	// MakeResultLine converts a hook's report about a call's result to the line that the transcript will contain
	// for this result. The id identifies the call in the transcript.
	MakeResultLine func(r *HookReport, id string) any

	// Transcripts lists where the client stores transcripts in its directory. It is empty if the client keeps no files
	// that can be read.
	Transcripts []TranscriptDir

	ResumeCommand string // command that resumes a session if the session's ID is appended

	// HasNoHookCallIDs is set if the client's hook reports contain no call IDs. The calls are then identified by their
	// arguments.
	HasNoHookCallIDs bool

	// IsDisplayDataResponse is set if the field ResultDisplayData of a transcript event can be read like the tool's
	// response in a hook report, because both have the same format.
	IsDisplayDataResponse bool

	HasUniqueCallIDs bool // Call IDs are unique across all sessions.

	// HasLineBasedEventIDs is set if event IDs contain line numbers. A transcript must then be read from its first
	// line, because otherwise the numbers would be wrong.
	HasLineBasedEventIDs bool

	// the data that the client passes to its hooks, and the hooks' answers that the client accepts
	Hook  HookFormat
	Tools ClientTools // names of the client's tools, by purpose

	homeDir clientHome

	// findSessionRoots returns the directories of a client that may store sessions in several directories. It is
	// nil for a client with a single directory.
	findSessionRoots func(b baseDirs) []string
}

// TranscriptDir names a directory below the client's own directory in which the client stores transcripts.
type TranscriptDir struct {
	RelativeDir string
	// IsTranscript reports whether the file at a path with slashes is a transcript.
	IsTranscript func(path string) bool
}

// EventClients lists the clients whose transcripts are read as events.
var EventClients = []EventClient{
	{
		Name: "claude", RecognizesLine: isClaudeLine, NewReader: newClaudeReader, MakeResultLine: makeClaudeResultLine,
		Transcripts:   []TranscriptDir{{"projects", isJSONLinesFile}, {promptHistoryFile, IsPromptList}},
		ResumeCommand: "claude --resume=", IsDisplayDataResponse: true, HasUniqueCallIDs: true,
		homeDir: clientHome{
			envVariable: "CLAUDE_CONFIG_DIR",
			defaultDir:  ".claude",
		}, findSessionRoots: claudeSessionRoots,
		Hook: HookFormat{
			EventNames:        commonEventNames,
			MakeAnswer:        makeHookAnswer,
			MakePreToolAnswer: makeMinimalHookAnswer,
		},
		Tools: toolsOfClaude,
	},
	{
		Name: "codex", RecognizesLine: isCodexLine, NewReader: newCodexReader, MakeResultLine: makeCodexResultLine,
		Transcripts: []TranscriptDir{{"sessions", IsCodexTranscript}, {"archived_sessions", IsCodexTranscript},
			{promptHistoryFile, IsPromptList}},
		ResumeCommand: "codex resume ", HasUniqueCallIDs: true,
		homeDir: clientHome{envVariable: "CODEX_HOME", defaultDir: ".codex"},
		Hook: HookFormat{
			EventNames:        commonEventNames,
			MakeAnswer:        makeHookAnswer,
			MakePreToolAnswer: makeMinimalHookAnswer,
		},
		Tools: toolsOfCodex,
	},
	{
		Name: "gemini", RecognizesLine: isGeminiLine, NewReader: newGeminiReader, MakeResultLine: makeGeminiResultLine,
		Transcripts: []TranscriptDir{{"tmp", func(p string) bool {
			return isGeminiChatFile(p) || IsPromptList(p)
		}}},
		ResumeCommand: "gemini --resume=", HasNoHookCallIDs: true,
		homeDir: clientHome{envVariable: "GEMINI_CLI_HOME", subdir: ".gemini"}, findSessionRoots: geminiSessionRoots,
		Hook:  HookFormat{EventNames: geminiEventNames, MakeAnswer: makeHookAnswer, NeedsStartContextAtPrompt: true},
		Tools: toolsOfGemini,
	},
	{
		Name: "copilot", RecognizesLine: isCopilotLine, NewReader: newCopilotReader,
		MakeResultLine: makeCopilotResultLine,
		Transcripts: []TranscriptDir{{"session-state", isCopilotEventsFile},
			{"history-session-state", func(p string) bool { return IsTranscript(p) || isOldCopilotFile(p) }}},
		ResumeCommand: "copilot --resume=",
		homeDir: clientHome{
			envVariable: "COPILOT_HOME",
			defaultDir:  ".copilot",
		}, findSessionRoots: copilotSessionRoots,
		Hook: HookFormat{
			EventNames:                 copilotEventNames,
			MakeAnswer:                 makeCopilotHookAnswer,
			MakePreToolAnswer:          makeCopilotHookAnswer,
			ToolNames:                  copilotToolNames,
			ForgetsSessionStartContext: true,
			MCPClientPrefix:            "github-copilot",
		},
		Tools: toolsOfCopilot,
	},
	{
		Name: "qwen", RecognizesLine: isQwenLine, NewReader: newQwenReader, MakeResultLine: makeQwenResultLine,
		Transcripts: []TranscriptDir{
			{"projects", func(p string) bool {
				return isJSONLinesFile(p) && (strings.Contains(p, "/chats/") || strings.Contains(p, "/subagents/"))
			}},
			{"tmp", func(p string) bool { return isGeminiChatFile(p) || IsPromptList(p) }},
		},
		ResumeCommand: "qwen --resume=",
		homeDir:       clientHome{envVariable: "QWEN_HOME", defaultDir: ".qwen"}, findSessionRoots: qwenSessionRoots,
		Hook:  HookFormat{EventNames: commonEventNames, MakeAnswer: makeHookAnswer, ForgetsSessionStartContext: true},
		Tools: toolsOfQwen,
	},
	{
		Name: "opencode", RecognizesLine: isOpencodeLine, NewReader: newOpencodeReader,
		MakeResultLine: makeOpencodeResultLine,
		Transcripts: []TranscriptDir{
			{"", func(p string) bool { return isOpencodeDatabaseFile(p) || isOpencodeSessionFile(p) }},
		},
		ResumeCommand: "opencode --session=", findSessionRoots: opencodeSessionRoots,
		Hook: HookFormat{
			EventNames:                 commonEventNames,
			MakeAnswer:                 makeOpencodeHookAnswer,
			ForgetsSessionStartContext: true,
		},
		Tools: toolsOfOpencode,
	},
	{
		Name: "cursor", RecognizesLine: isCursorLine, NewReader: newCursorReader, HasLineBasedEventIDs: true,
		findSessionRoots: cursorSessionRoots, Tools: toolsOfCursor,
		Hook: HookFormat{
			ParseReport:         parseCursorReport,
			EventNames:          commonEventNames,
			MakeAnswer:          makeCursorHookAnswer,
			IgnoresPromptAnswer: true,
			HasUnstableCallIDs:  true,
		},
		Transcripts: []TranscriptDir{
			{"globalStorage", suffixMatcher("/globalStorage/state.vscdb")},
			{
				"projects",
				func(p string) bool { return isJSONLinesFile(p) && strings.Contains(p, "/agent-transcripts/") },
			},
		},
	},
	{
		Name: "vscode", RecognizesLine: isVSCodeSession, NewReader: newVSCodeReader,
		findSessionRoots: vscodeSessionRoots, Tools: toolsOfVSCode,
		Hook: HookFormat{ParseReport: parseVSCodeReport, EventNames: commonEventNames, MakeAnswer: makeHookAnswer,
			IgnoresPromptAnswer: true, HasUnstableCallIDs: true},
		Transcripts: []TranscriptDir{
			{
				"workspaceStorage",
				func(p string) bool { return isJSONFile(p) && strings.Contains(p, "/chatSessions/") },
			},
			{"globalStorage/emptyWindowChatSessions", isJSONFile},
		},
	},
	{
		Name: "zed", RecognizesLine: isZedDocument, NewReader: newZedReader, Tools: toolsOfZed,
		Transcripts:      []TranscriptDir{{"threads", suffixMatcher("/threads.db")}},
		findSessionRoots: func(b baseDirs) []string { return append(b.dataDirs("zed"), b.dataDirs("Zed")...) },
	},
	{
		Name: "goose", RecognizesLine: isGooseLine, NewReader: newGooseReader, HasLineBasedEventIDs: true,
		findSessionRoots: gooseSessionRoots, Tools: toolsOfGoose,
		Hook: HookFormat{ParseReport: parseGooseReport, EventNames: commonEventNames, HasUnstableCallIDs: true},
		Transcripts: []TranscriptDir{{"sessions", func(p string) bool {
			return isJSONLinesFile(p) || strings.HasSuffix(p, "/sessions.db")
		}}},
	},
	{
		Name: "cline", RecognizesLine: isClineLine, NewReader: newClineReader, findSessionRoots: clineSessionRoots,
		Tools: toolsOfCline,
		Hook: HookFormat{
			ParseReport: parseClineReport,
			EventNames:  commonEventNames,
			MakeAnswer:  makeClineHookAnswer,
		},
		Transcripts: []TranscriptDir{{"tasks", IsClineTaskFile}, {"sessions", suffixMatcher(".messages.json")}},
	},
	{
		Name: "roo", RecognizesLine: isClineLine, NewReader: newClineReader, Tools: toolsOfCline,
		Transcripts:      []TranscriptDir{{"tasks", IsClineTaskFile}},
		findSessionRoots: func(b baseDirs) []string { return b.extensionDirs("rooveterinaryinc.roo-cline") },
	},
	{
		Name: "kilo", RecognizesLine: isClineLine, NewReader: newClineReader, Tools: toolsOfCline,
		Transcripts:      []TranscriptDir{{"tasks", IsClineTaskFile}},
		findSessionRoots: func(b baseDirs) []string { return b.extensionDirs("kilocode.kilo-code") },
	},
	{
		Name: "pi", RecognizesLine: isPiLine, NewReader: newPiReader, Tools: toolsOfPi,
		Transcripts: []TranscriptDir{{"sessions", isJSONLinesFile}},
		findSessionRoots: func(b baseDirs) []string {
			return []string{b.dirFromEnv("PI_CODING_AGENT_DIR",
				".pi/agent")}
		},
	},
	{
		Name: "openclaw", RecognizesLine: isPiLine, NewReader: newPiReader, Tools: toolsOfOpenclaw,
		Transcripts: []TranscriptDir{{"agents", func(p string) bool {
			return isJSONLinesFile(p) && strings.Contains(p, "/sessions/") &&
				!strings.HasSuffix(p, ".trajectory.jsonl")
		}}},
		findSessionRoots: openclawSessionRoots,
	},
	{
		Name: "amp", RecognizesLine: isAmpThread, NewReader: newAmpReader, Tools: toolsOfAmp,
		Transcripts: []TranscriptDir{{"threads", func(p string) bool {
			return strings.HasSuffix(p, ".json") && strings.Contains(p, "/T-")
		}}},
		findSessionRoots: func(b baseDirs) []string { return b.dataDirs("amp") },
	},
	{
		Name: "crush", RecognizesLine: isCrushDocument, NewReader: newCrushReader,
		findSessionRoots: crushSessionRoots, Tools: toolsOfCrush,
		Transcripts: []TranscriptDir{{"", suffixMatcher("/crush.db")}},
	},
	{
		Name: "hermes", HasLineBasedEventIDs: true, RecognizesLine: isHermesLine, NewReader: newHermesReader,
		Tools: toolsOfHermes,
		Transcripts: []TranscriptDir{{"", func(p string) bool {
			return strings.HasSuffix(p, "/state.db") || (isJSONLinesFile(p) && strings.Contains(p, "/sessions/"))
		}}},
		findSessionRoots: func(b baseDirs) []string { return []string{b.dirFromEnv("HERMES_HOME", ".hermes")} },
	},
	{
		Name: "kimi", RecognizesLine: isKimiLine, NewReader: newKimiReader, HasLineBasedEventIDs: true,
		findSessionRoots: kimiSessionRoots, Tools: toolsOfKimi,
		Transcripts: []TranscriptDir{{"sessions", suffixMatcher("/wire.jsonl")}},
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

// HasHomeDir reports whether the client has a directory for its settings and transcripts; see [HomeDir].
func (c EventClient) HasHomeDir() bool { return c.homeDir != clientHome{} }

// RecognizeClient returns the name of a client whose transcripts contain lines like line, or "" if no known client
// writes such lines. If several clients write such lines, it prefers the client in the argument expected.
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

// isJSONLinesFile reports whether a path names a file with JSON lines, which may be compressed.
func isJSONLinesFile(path string) bool {
	path, _ = TrimCompressedSuffix(path)
	return strings.HasSuffix(path, ".jsonl")
}

// IsCodexTranscript reports whether a path names a Codex transcript, which may be compressed.
func IsCodexTranscript(path string) bool {
	path, _ = TrimCompressedSuffix(filepath.ToSlash(path))
	return isJSONFile(path) && strings.Contains(path, "/rollout-")
}

// isGeminiChatFile reports whether a path names a transcript of Gemini CLI or Qwen Code.
func isGeminiChatFile(path string) bool {
	return IsTranscript(path) && strings.Contains(path, "/chats/")
}

// suffixMatcher returns a function that reports whether a path ends in a suffix.
func suffixMatcher(suffix string) func(string) bool {
	return func(path string) bool { return strings.HasSuffix(path, suffix) }
}

// isJSONFile reports whether a path names a JSON document or a file with JSON lines.
func isJSONFile(path string) bool {
	plain, _ := TrimCompressedSuffix(path)
	return isJSONLinesFile(path) || strings.HasSuffix(plain, ".json")
}
