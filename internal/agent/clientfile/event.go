// This file declares events, the form that the transcripts of all clients have in common.

package clientfile

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// EventKind is the kind of an [EventName].
type EventKind int

// The kinds of events.
const (
	// EventPrompt is a text that the person wrote. In a sub-agent's conversation, it is the task. A text
	// that a program wrote in the person's name is ignored.
	EventPrompt EventKind = iota + 1

	EventText      // visible text by the agent
	EventThought   // reasoning of the agent that it did not say
	EventCall      // tool call (a client may report a call twice: as requested and as started)
	EventEdit      // changes of files by a tool call, which the transcript need not contain
	EventResult    // result of a tool call
	EventCompacted // the client compacted the conversation (Text is the summary, if known)

	// EventLeftOut reports a part of the conversation that has no text, such as an image beside a prompt. Text is a
	// noun in the plural for such parts.
	EventLeftOut

	// EventUnknown reports a part of the transcript that the reader does not understand, such as a line of a type
	// that a newer version of the client writes. Text is a noun in the plural with the type.
	EventUnknown
)

// The parts of conversations that are left out.
const leftOutFiles = "images and other files"

// reportLeftOut reports that count parts of a kind are left out.
func (e Event) reportLeftOut(kind string, count int, yield func(*Event)) {
	e.Kind, e.Text = EventLeftOut, kind
	for range count {
		yield(&e)
	}
}

// reportUnknown reports a part that is not understood. The noun is a plural, such as "lines".
func (e Event) reportUnknown(noun, typeName string, yield func(*Event)) {
	e.Kind, e.Text = EventUnknown, noun+" of the type "+strconv.Quote(text.TruncateBytes(typeName, maxTypeName))
	if typeName == "" {
		e.Text = noun + " without a type"
	}
	yield(&e)
}

// maxTypeName is the maximum length of a type that is named, in bytes.
const maxTypeName = 60

// Event is something that a transcript reports. The byte slices are valid only until the function
// that receives the event returns.
type Event struct {
	Kind   EventKind
	Offset int64     // offset of the line in the file. For a prompt, it is the first line of the turn.
	Time   time.Time // zero if not known
	ID     string    // ID of the text or the call
	TurnID string    // ID of the turn, if the line names it. A prompt begins the turn.
	// TurnPosition is the position of a prompt's turn as the client counts ("" if not known). If a prompt
	// names the same turn as the one before, but another position, the one before is a copy.
	TurnPosition string

	// NoTime is set if the client stores no time for the event. Then Time is not earlier than the true time, and the
	// order of such times is the order of the events.
	NoTime bool

	IsCopy bool // the line was copied from the transcript of another session, when this one was forked

	// IsListed is set for a prompt in a list of prompts that the client keeps beside its transcripts. The prompt has
	// no turn and no ID, and the transcript of the session, if it still exists, contains the prompt as well.
	IsListed bool

	Text string

	// NodeID is a position in the conversation, and Parent is the position before it. They differ from
	// the order of the events if the person goes back in the conversation. Both are "" if the client
	// does not report positions.
	NodeID, ParentNodeID string

	Session, Dir, Branch, Model string // values that are known at this event ("" if unknown)

	// AgentID, AgentName and AgentType describe the sub-agent. They are "" for the main agent. The
	// name and the type may be missing.
	AgentID, AgentName, AgentType string

	ToolName string          // only for EventCall
	Args     json.RawMessage // only for EventCall

	// Only for EventResult and EventEdit.
	HasFailed     bool            // whether the tool failed, or the call was refused or cancelled
	ExitStatus    *int            // exit status of a command, if the client reports it apart from the output
	OmitsZeroExit bool            // whether the client mentions the exit status of a command only if it is not 0
	resultOutput  string          // the text that the tool returned
	resultContent json.RawMessage // a content that has the text instead of output (nil if output has it)
	DisplayData   json.RawMessage // the data that the client shows for the result, in its own format

	// For EventEdit, DisplayData is an object with a member for each file, {PATH:{"type":"add","content"}},
	// {PATH:{"type":"update","unified_diff","move_path"}} or {PATH:{"type":"delete"}}. If the ID is "",
	// only the fact that a call changed files is known.
}

// ResultText returns the text that the tool returned. It decodes the text only now, because most results are large and
// nobody asks for their text.
func (e *Event) ResultText() string {
	if e.resultContent != nil {
		return ContentText(e.resultContent, "text")
	}
	return e.resultOutput
}

// UnnamedAgent is the name of a sub-agent for which a transcript has neither a name nor a type.
const UnnamedAgent = "sub-agent"

// EventReader converts the lines of a transcript to events, in order.
type EventReader interface {
	// ReadLine calls yield with each event in the line that begins at an offset. It returns false if the line is not a
	// JSON object, or if the session in the line cannot be a session of this client.
	ReadLine(line []byte, offset int64, yield func(*Event)) bool
}

// EventFlusher is an EventReader that keeps an event back until a later line shows what it belongs to.
type EventFlusher interface {
	// FlushEvents calls yield with the events that are still kept back after the last line of the file.
	FlushEvents(yield func(*Event))
}
