// What clients report of a session: the form that hooks and transcripts share.

// Package session keeps what agents and people said and did: an archive of
// turns in a memory of its own, next to the notes and apart from them.
//
// A session is reported as events, by the hooks of a client while it runs and
// by its transcript at any time. The same event may come by both, and more than
// once: a turn is the union of its events by their keys, so that the order and
// the number of reports do not matter.
package session

import "time"

// Kind is what an event reports.
type Kind string

// The kinds of events.
const (
	Start   Kind = "start"   // a session began; Text is how: startup, resume, clear, compact or fork
	Prompt  Kind = "prompt"  // a person's text
	Text    Kind = "text"    // an agent's visible text; thinking is no event
	Called  Kind = "call"    // a tool was called and has answered
	Plan    Kind = "plan"    // the agent's list of what is to do; Text is Markdown, a "- [ ] …" or "- [x] …" each line
	Compact Kind = "compact" // the client compacted the conversation; Text is its summary, when it is known
	Stop    Kind = "stop"    // the agent has ended its turn
	End     Kind = "end"     // the session ended; Text is why, when it is known
)

// Event is one thing that a client reports of a session. Its key is the client,
// the session, the turn, the kind and ID; where ID is empty, the text.
type Event struct {
	Client  string `json:"client"`         // as setup names it: claude, codex, gemini, opencode, copilot, qwen
	Session string `json:"session"`        // the client's identifier
	Turn    string `json:"turn,omitempty"` // the client's identifier of the prompt; "": that of the prompt before
	Kind    Kind   `json:"kind"`

	// ID tells the event from others of its kind in the turn: the identifier of
	// a call or of a message. It is the same in a hook and in the transcript;
	// "" where the client gives none.
	ID string `json:"id,omitempty"`

	Time       time.Time `json:"time,omitzero"`
	Dir        string    `json:"dir,omitempty"`        // the working directory, absolute
	Branch     string    `json:"branch,omitempty"`     // of the working tree, when the client tells it
	Agent      string    `json:"agent,omitempty"`      // the sub-agent; "" for the main one
	Model      string    `json:"model,omitempty"`      // "" when it is not known
	Transcript string    `json:"transcript,omitempty"` // the file in which the client keeps the session

	// Text is without the fences of what hooks put into prompts ([Strip]) and
	// without secrets.
	Text string `json:"text,omitempty"`
	Call *Call  `json:"call,omitempty"` // of [Called]

	// Repeats is what the text, the command or its output repeats of what was read of
	// others. The archive sets it.
	Repeats *Repeats `json:"repeats,omitempty"`

	Injection *Injection `json:"injection,omitempty"` // of [Injected]
}

// Call is what is kept of a call of a tool. Its output is not, but the end of
// what a failed command printed.
type Call struct {
	Tool    string   `json:"tool"`              // as the client names it
	Command string   `json:"command,omitempty"` // of a shell; at most [MaxCommand] bytes, without secrets
	Wrote   []string `json:"wrote,omitempty"`   // paths of files that it changed, as the client names them
	Was     string   `json:"was,omitempty"`     // hash of the text that an edit of one file replaced; "" if not known
	Became  string   `json:"became,omitempty"`  // hash of the text that it wrote there
	Before  string   `json:"before,omitempty"`  // hash of the whole file before the call changed it; "" if not known
	After   string   `json:"after,omitempty"`   // hash of the whole file after it
	Read    []string `json:"read,omitempty"`    // paths of files that it read
	Asked   string   `json:"asked,omitempty"`   // the address or the question of a tool that reads the web
	Exit    *int     `json:"exit,omitempty"`    // the status of a command, when the client tells it
	Failed  bool     `json:"failed,omitempty"`  // the tool or the command failed
	Output  string   `json:"output,omitempty"`  // the last [MaxOutputLines] lines of a failed command, without secrets

	// Reading is where the text came from that the call returned. It is nil if no hook has
	// judged it.
	Reading *Reading `json:"reading,omitempty"`
}

// Reading is where the text came from that a call returned.
type Reading struct {
	Level string `json:"level"` // ReadOwn, ReadUnvouched or ReadForeign

	// What is the tool and its argument, "" for text of the agent's own.
	What string `json:"what,omitempty"`

	// Trace identifies the prints of the text, by which is found what repeats it. It is ""
	// if the text is not known: then all that the agent writes in the turn counts as
	// repeating it.
	Trace string `json:"trace,omitempty"`
}

// Levels of a Reading.
const (
	ReadOwn       = "own"       // of the project, the agent or the person
	ReadUnvouched = "unvouched" // of a program that is not known
	ReadForeign   = "foreign"   // of others
)

// Repeats names the calls whose results a text repeats in the same words.
type Repeats struct {
	Foreign   []string `json:"foreign,omitempty"`
	Unvouched []string `json:"unvouched,omitempty"`
}

// Bounds of what is kept of a call.
const (
	MaxCommand     = 200 // bytes
	MaxOutputLines = 10
	ReplacedLen    = 12 // bytes of the hash of a replaced text
)
