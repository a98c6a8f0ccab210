// This file declares events, the form that the transcripts of all clients have in common.

package clientfile

import (
	"encoding/json"
	"time"
)

// EventKind is the kind of an [Event].
type EventKind int

// The kinds of events.
const (
	// EventPrompt is a text that the person wrote. In a sub-agent's conversation, it is the task. A text
	// that a program wrote in the person's name is no event.
	EventPrompt EventKind = iota + 1

	EventText      // visible text by the agent
	EventThought   // reasoning of the agent that it did not say
	EventCall      // tool call (a client may report a call twice: as requested and as started)
	EventEdit      // changes of files by a tool call, which the transcript need not contain
	EventResult    // result of a tool call
	EventCompacted // the client compacted the conversation (Text is the summary, if known)
)

// Event is something that a transcript reports. The byte slices are valid only until the function
// that receives the event returns.
type Event struct {
	Kind   EventKind
	Offset int64     // offset of the line in the file. For a prompt, it is the first line of the turn.
	Time   time.Time // zero if not known
	ID     string    // ID of the text or the call
	Turn   string    // ID of the turn, if the line names it. A prompt begins the turn.
	// Position is the position of a prompt's turn as the client counts ("" if not known). If a prompt
	// names the same turn as the one before, but another position, the one before is a copy.
	Position string

	IsCopy bool // the line was copied from the transcript of another session, when this one was forked
	Text   string

	// Node is a position in the conversation, and Parent is the position before it. They differ from
	// the order of the events if the person goes back in the conversation. Both are "" if the client
	// does not report positions.
	Node, Parent string

	Session, Dir, Branch, Model string // values that are known at this event ("" if unknown)

	// AgentID, AgentName and AgentType describe the sub-agent. They are "" for the main agent. The
	// name and the type may be missing.
	AgentID, AgentName, AgentType string

	Tool string          // only for EventCall
	Args json.RawMessage // only for EventCall

	// Only for EventResult and EventEdit.
	Failed bool            // whether the tool failed, or the call was refused or cancelled
	Exit   *int            // exit status of a command, if the client reports it apart from the output
	Silent bool            // whether the client mentions the exit status of a command only if it is not 0
	Output string          // the text that the tool returned
	Shown  json.RawMessage // the data that the client shows for the result, in its own format

	// For EventEdit, Shown is an object with a member for each file, {PATH:{"type":"add","content"}},
	// {PATH:{"type":"update","unified_diff","move_path"}} or {PATH:{"type":"delete"}}. If the ID is "",
	// only the fact that a call changed files is known.
}

// EventReader converts the lines of a transcript to events, in order.
type EventReader interface {
	// ReadLine calls yield with each event in the line that begins at an offset. It returns false if the line is not a
	// JSON object, or if the session in the line cannot be a session of this client.
	ReadLine(line []byte, offset int64, yield func(*Event)) bool
}

// Ender is an EventReader that keeps an event back until a later line shows what it belongs to.
type Ender interface {
	// End calls yield with the events that are still kept back after the last line of the file.
	End(yield func(*Event))
}
