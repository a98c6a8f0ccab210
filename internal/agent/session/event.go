// This file defines events. Hooks and transcripts both report sessions as events.

// Package session archives the turns of agents' sessions in a separate memory, apart from the notes. A turn is a
// person's prompt with everything that the agent did until the next prompt.
//
// A client reports a session as events. The client's hooks report events while the session runs, and the client's
// transcript can be read at any time. Hooks and the transcript may both report the same event, even several times.
// Reports with the same key are one event, so the order and the number of reports do not matter.
package session

import "time"

// EventKind is the kind of an event.
type EventKind string

// These are the kinds of events in an agent's session.
const (
	// The session began. Text is the reason: startup, resume, clear, compact or fork.
	KindSessionStart EventKind = "start"
	KindPrompt       EventKind = "prompt" // KindPrompt is a text by the person.
	// KindText is a visible text by the agent. The agent's thoughts are not reported.
	KindText     EventKind = "text"
	KindToolCall EventKind = "call" // KindToolCall is a finished tool call.
	// KindPlan is the agent's to-do list in Markdown. Each line begins with "- [ ]" or "- [x]".
	KindPlan       EventKind = "plan"
	KindCompact    EventKind = "compact" // The client compacted the conversation. Text is the summary, if it is known.
	KindTitle      EventKind = "title"   // Text is the title of the session, which the person or the client chose.
	KindTurnEnd    EventKind = "stop"    // The agent ended its turn.
	KindSessionEnd EventKind = "end"     // The session ended. Text is the reason, if it is known.
)

// Event is something that a client reports about a session. Its key consists of the client, the session, the turn, the
// kind and the ID. If the ID is empty, the text is used instead.
type Event struct {
	// the client's name in setup: claude, codex, gemini, opencode, copilot or qwen
	Client  string `json:"client"`
	Session string `json:"session"` // session ID that the client uses
	// prompt ID that the client uses (if it is "", the event belongs to the turn of the previous prompt)
	TurnID string    `json:"turn,omitempty"`
	Kind   EventKind `json:"kind"`

	// ID distinguishes the event from other events of the same kind in the turn. It identifies a call or a message.
	// Hooks and the transcript report the same ID, unless HasHookID is set. It is "" if the client reports no ID.
	ID string `json:"id,omitempty"`

	// HasHookID is set if a hook reported the ID, and the transcript may contain another ID for the same call. It is
	// not set in the events of a [Turn].
	HasHookID bool `json:"hook_id,omitempty"`

	Time time.Time `json:"time,omitzero"`

	// HasNoTime is set if the client stores no time for the event. Then Time is only an estimate, which is not earlier
	// than the true time. Estimated times are in the order of the events. HasNoTime is not set in the events of a
	// [Turn].
	HasNoTime bool `json:"no_time,omitempty"`

	Dir            string `json:"dir,omitempty"`        // absolute path of the working directory
	Branch         string `json:"branch,omitempty"`     // Git branch of the working tree, if the client reports it
	SubAgent       string `json:"agent,omitempty"`      // name of the sub-agent ("" for the main agent)
	Model          string `json:"model,omitempty"`      // language model that the agent uses ("" if not known)
	TranscriptPath string `json:"transcript,omitempty"` // path of the file in which the client stores the session

	// Text is the event's text. The archive has removed secrets and the fenced blocks that hooks insert into prompts
	// (see [StripInsertedBlocks]).
	Text string    `json:"text,omitempty"`
	Call *ToolCall `json:"call,omitempty"` // set only if the kind is [KindToolCall]

	// RepeatedCallResults is set by the archive if the event's text, its command or the command's output repeats text
	// by others. It lists the calls from which the agent got this text.
	RepeatedCallResults *RepeatedCallResults `json:"repeats,omitempty"`

	Injection *Injection `json:"injection,omitempty"` // set only if the kind is [KindInjection]

	// IsFromPromptList is set for a prompt from a client's list of prompts. The archive drops such a prompt if a
	// transcript or a hook reports an ID for this prompt or for an earlier prompt. In both cases, the transcript or the
	// hook also reports this prompt, which would otherwise be stored twice. IsFromPromptList is not set in the events
	// of a [Turn].
	IsFromPromptList bool `json:"listed,omitempty"`
}

// ToolCall is the part of a tool call that is archived. The output is dropped, except for the last lines that a failed
// command printed.
type ToolCall struct {
	Tool         string   `json:"tool"`              // tool name that the client uses
	Command      string   `json:"command,omitempty"` // shell command without secrets, cut to [MaxCommandBytes] bytes
	WrittenFiles []string `json:"wrote,omitempty"`   // paths of changed files, as the client reports them
	OldTextHash  string   `json:"was,omitempty"`     // hash of the text that an edit replaced ("" if unknown)
	NewTextHash  string   `json:"became,omitempty"`  // hash of the text that the edit inserted
	// hash of the whole file before the tool changed it ("" if unknown)
	FileHashBefore string   `json:"before,omitempty"`
	FileHashAfter  string   `json:"after,omitempty"`  // hash of the whole file after the call ("" if unknown)
	ReadFiles      []string `json:"read,omitempty"`   // paths of the files that the call read
	WebQuery       string   `json:"asked,omitempty"`  // URL or query, for a tool that reads the web
	ExitStatus     *int     `json:"exit,omitempty"`   // exit status of the command, if the client reports it
	Failed         bool     `json:"failed,omitempty"` // The tool or the command failed.
	// the last [MaxOutputLines] lines that a failed command printed, without secrets
	Output string `json:"output,omitempty"`

	// ResultTextSource is a hook's judgement about who wrote the text that the call returned. It is nil if no hook has
	// judged the call.
	ResultTextSource *TextSource `json:"reading,omitempty"`
}

// TextSource is a judgement about who wrote the text that a call returned.
type TextSource struct {
	TrustLevel string `json:"level"` // one of TrustLevelOwnText, TrustLevelUnvouchedText and TrustLevelForeignText

	// CallDescription names the tool and its argument. It is "" if TrustLevel is TrustLevelOwnText.
	CallDescription string `json:"what,omitempty"`

	// TraceID identifies the text's fingerprints, by which later repetitions of the text are found. It is "" if the
	// text is not known. Then everything that the agent writes later in the turn counts as a repetition.
	TraceID string `json:"trace,omitempty"`
}

// These are the levels of trust in a text that the agent read.
const (
	// The text that the agent read was written by the project's authors, the person or an agent.
	TrustLevelOwnText = "own"
	// The text that the agent read was printed by a program that oxbow does not know.
	TrustLevelUnvouchedText = "unvouched"
	TrustLevelForeignText   = "foreign" // Somebody else wrote the text, for example the author of a web page.
)

// RepeatedCallResults names the calls whose results contain passages that a text repeats word for word.
type RepeatedCallResults struct {
	ForeignTextCalls   []string `json:"foreign,omitempty"`
	UnvouchedTextCalls []string `json:"unvouched,omitempty"`
}

// These limits apply to the parts of a tool call that the archive stores.
const (
	MaxCommandBytes = 200 // maximum size of a command in bytes
	MaxOutputLines  = 10
	TextHashBytes   = 12 // length of a text's hash in bytes
)
