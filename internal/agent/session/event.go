// This file defines events, the form in which both hooks and transcripts report a session.

// Package session archives the turns of agents' sessions in a separate memory, apart from the
// notes. A turn is a person's prompt with everything that the agent did until the next prompt.
//
// A client reports a session as events. The client's hooks report events while the session runs,
// and the client's transcript can be read at any time. Hooks and transcript may report the same
// event, even several times. A turn is the union of its events by key, so the order and number of
// reports do not matter.
package session

import "time"

// EventKind is the kind of an event.
type EventKind string

// The kinds of events.
const (
	KindStart   EventKind = "start"   // the session began (Text is the reason: startup, resume, clear, compact or fork)
	KindPrompt  EventKind = "prompt"  // text by the person
	KindText    EventKind = "text"    // visible text by the agent (its thinking is not reported)
	KindCall    EventKind = "call"    // a tool call returned
	KindPlan    EventKind = "plan"    // the agent's to-do list in Markdown, with "- [ ] …" or "- [x] …" on each line
	KindCompact EventKind = "compact" // the client compacted the conversation (Text is the summary, if known)
	KindStop    EventKind = "stop"    // the agent ended its turn
	KindEnd     EventKind = "end"     // the session ended (Text is the reason, if known)
)

// Event is something that a client reports about a session. Its key consists of the client, the
// session, the turn, the kind and the ID. If the ID is empty, the text takes its place.
type Event struct {
	// The client's name in setup: claude, codex, gemini, opencode, copilot, qwen.
	Client  string    `json:"client"`
	Session string    `json:"session"`        // the client's session ID
	Turn    string    `json:"turn,omitempty"` // the client's prompt ID ("" means the turn of the previous prompt)
	Kind    EventKind `json:"kind"`

	// ID distinguishes the event from other events of its kind in the turn. It identifies a call or
	// a message, and is the same in hooks and in the transcript. It is "" if the client reports no
	// ID.
	ID string `json:"id,omitempty"`

	// HasHookID is set if a hook reported the ID, and the transcript of the client may have another ID for the call.
	// The events of a [Turn] do not have it.
	HasHookID bool `json:"hook_id,omitempty"`

	Time time.Time `json:"time,omitzero"`

	// NoTime is set if the client stores no time for the event. Then Time is not earlier than the true time, and the
	// order of such times is the order of the events. The events of a [Turn] do not have it.
	NoTime bool `json:"no_time,omitempty"`

	Dir        string `json:"dir,omitempty"`        // absolute path of the working directory
	Branch     string `json:"branch,omitempty"`     // Git branch of the working tree, if the client reports it
	SubAgent   string `json:"agent,omitempty"`      // name of the sub-agent ("" for the main agent)
	Model      string `json:"model,omitempty"`      // "" if not known
	Transcript string `json:"transcript,omitempty"` // path of the file in which the client stores the session

	// Text does not contain secrets or the fenced blocks that hooks insert into prompts ([StripFences]).
	Text string    `json:"text,omitempty"`
	Call *ToolCall `json:"call,omitempty"` // only for kind [KindCall]

	// RepeatedCalls lists the calls whose results the text, the command or its output repeats. The
	// archive sets it.
	Repeats *RepeatedCalls `json:"repeats,omitempty"`

	Injection *Injection `json:"injection,omitempty"` // only for kind [KindInjection]

	// IsListed is set for a prompt from a client's list of prompts. Folding ignores the prompt if it is not earlier
	// than the first prompt that a transcript or a hook names. The events of a [Turn] do not have it.
	IsListed bool `json:"listed,omitempty"`
}

// ToolCall is the archived part of a tool call. The output of a call is dropped, except for the last
// lines that a failed command printed.
type ToolCall struct {
	Tool           string   `json:"tool"`              // the client's name for the tool
	Command        string   `json:"command,omitempty"` // shell command without secrets, at most [MaxCommandBytes] bytes
	WrittenFiles   []string `json:"wrote,omitempty"`   // paths of changed files, as the client reports them
	OldTextHash    string   `json:"was,omitempty"`     // hash of the text that a file edit replaced ("" if unknown)
	NewTextHash    string   `json:"became,omitempty"`  // hash of the replacement text
	FileHashBefore string   `json:"before,omitempty"`  // hash of the whole file before the call ("" if not known)
	FileHashAfter  string   `json:"after,omitempty"`   // hash of the whole file after the call
	ReadFiles      []string `json:"read,omitempty"`    // paths of files that the call read
	WebQuery       string   `json:"asked,omitempty"`   // URL or query of a tool that reads the web
	ExitStatus     *int     `json:"exit,omitempty"`    // exit status of the command, if the client reports it
	Failed         bool     `json:"failed,omitempty"`  // whether the tool or the command failed
	// The last [MaxOutputLines] lines of a failed command, without secrets.
	Output string `json:"output,omitempty"`

	// TextSource says who wrote the text that the call returned. It is nil if no hook has judged the
	// call.
	TextSource *TextSource `json:"reading,omitempty"`
}

// TextSource says who wrote the text that a call returned.
type TextSource struct {
	Level string `json:"level"` // LevelOwn, LevelUnvouched or LevelForeign

	// Cause is the tool with its argument. It is "" if the level is LevelOwn.
	Cause string `json:"what,omitempty"`

	// TraceID identifies the fingerprints of the text, which are used to find texts that repeat it.
	// It is "" if the text is not known. Then everything that the agent writes later in the turn
	// counts as a repetition.
	TraceID string `json:"trace,omitempty"`
}

// Levels of trust in a text that the agent read.
const (
	LevelOwn       = "own"       // by the project, the agent or the person
	LevelUnvouched = "unvouched" // by a program that oxbow does not know
	LevelForeign   = "foreign"   // by somebody else
)

// RepeatedCalls names the calls from whose results a text repeats passages word for word.
type RepeatedCalls struct {
	Foreign   []string `json:"foreign,omitempty"`
	Unvouched []string `json:"unvouched,omitempty"`
}

// Limits for the archived part of a call.
const (
	MaxCommandBytes = 200 // bytes
	MaxOutputLines  = 10
	TextHashLen     = 12 // length of a replaced text's hash, in bytes
)
