// This file declares events, the form that the transcripts of all clients have in common.

package clientfile

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// EventKind is the kind of an [Event].
type EventKind int

// These are the kinds of events in an agent's transcript.
const (
	// EventPrompt is a text that the person wrote. In a sub-agent's conversation, it is the task. A text
	// that a program wrote in the person's name is ignored.
	EventPrompt EventKind = iota + 1

	EventText         // EventText is a text that the agent said.
	EventAgentThought // EventAgentThought is the agent's reasoning, which it did not say.
	// EventToolCall is a tool call. A client may report a call twice: when the agent requests the call and when the
	// call starts.
	EventToolCall
	EventFileEdit   // EventFileEdit reports the file changes by a tool call. The transcript may lack the call itself.
	EventToolResult // EventToolResult is the result of a tool call.
	// EventConversationCompacted reports that the client compacted the conversation. Text is the summary, if it is
	// known.
	EventConversationCompacted

	// EventNonTextParts reports parts of the conversation that are not texts, such as images beside a prompt. Text then
	// names these parts in the plural, such as "images and other files".
	EventNonTextParts

	// EventUnknown reports a transcript part that the reader does not understand, such as a line with a type that a
	// newer version of the client writes. The field Text describes such parts as a plural noun with their type, for
	// example: lines of the type "x".
	EventUnknown

	// EventUnreadablePart reports a part of the transcript that cannot be read, for example because it is not a JSON
	// object. The event's field Record names this part.
	EventUnreadablePart
)

// This text names the parts of a conversation that are left out.
const nonTextFilesText = "images and other files"

// reportNonTextParts reports count events of the kind EventNonTextParts, one for each part that is not text. kind names
// the parts in the plural, such as "images and other files".
func (e Event) reportNonTextParts(kind string, count int, yield func(*Event)) {
	e.Kind, e.Text = EventNonTextParts, kind
	for range count {
		yield(&e)
	}
}

// recordName returns the name of an element of a list in JSON, such as messages[3].
func recordName(listName string, i int) string { return listName + "[" + strconv.Itoa(i) + "]" }

// wrapYieldWithRecord wraps yield so that each event contains the name of the record from which it was read.
func wrapYieldWithRecord(record string, yield func(*Event)) func(*Event) {
	return func(e *Event) {
		e.RecordName = record
		yield(e)
	}
}

// reportUnreadRecord reports that the event's record cannot be read.
func (e Event) reportUnreadRecord(yield func(*Event)) {
	e.Kind = EventUnreadablePart
	yield(&e)
}

// reportUnknownPart reports a part of a type that the reader does not know. The noun partNoun, such as "lines", and the
// type become the event's text.
func (e Event) reportUnknownPart(partNoun, typeName string, yield func(*Event)) {
	e.Kind, e.Text = EventUnknown, DescribeUnknownParts(partNoun, typeName)
	yield(&e)
}

// DescribeUnknownParts describes parts of a type that is not known, for example: lines of the type "x". The noun
// partNoun is in the plural. A long type is cut.
func DescribeUnknownParts(partNoun, typeName string) string {
	if typeName == "" {
		return partNoun + " without a type"
	}
	return partNoun + " of the type " + strconv.Quote(text.TruncateBytes(typeName, maxTypeNameBytes))
}

// maxTypeNameBytes is the maximum length of a type's name in a report, in bytes.
const maxTypeNameBytes = 60

// Event is something that a transcript reports, such as a prompt, a text or a call. The receiving function must copy
// the byte slices that are needed after the function returns.
type Event struct {
	Kind EventKind
	// offset of the event's line in the file; for a prompt, offset of the first line with the prompt's turn
	Offset int64
	Time   time.Time // zero if the time is not known
	ID     string    // ID of the text or the call, if there is one
	TurnID string    // ID of the turn, if the line names the turn (each turn begins with a prompt)
	// TurnPosition is the number that the client gives to a prompt's turn ("" if not known). If two successive prompts
	// name the same turn but different positions, the first prompt is a copy.
	TurnPosition string

	// HasNoTime is set if the client stores no time for the event. Then Time is only an estimate, which is not earlier
	// than the true time. Estimated times are in the order of the events.
	HasNoTime bool

	// RecordName is the name of the record in the line's JSON that contains the event, such as messages[3]. It is "" if
	// the line contains a single record.
	RecordName string

	IsCopy bool // The line was copied from another session's transcript when this session was forked from it.

	// IsFromClientPromptList is set for a prompt from a client's list of prompts. Such a prompt lacks a turn and an
	// ID. The session's transcript, if it still exists, contains the prompt as well.
	IsFromClientPromptList bool

	Text string

	// NodeID identifies the event's position in the conversation, and ParentNodeID the position before it. If the
	// person goes back in the conversation, positions are not in the order of the events. Both IDs are "" if the
	// client reports no positions.
	NodeID, ParentNodeID string

	// ID of the session, and the directory, Git branch and model in use at this event. Unknown values are "".
	Session, WorkingDir, Branch, Model string

	// AgentID, AgentName and AgentType describe the sub-agent. All are "" for the main agent. The name and the type
	// may also be "" for a sub-agent.
	AgentID, AgentName, AgentType string

	ToolName string          // name of the called tool, only for EventToolCall
	Args     json.RawMessage // arguments of the call, only for EventToolCall

	// The following fields are set only for EventToolResult and EventFileEdit.
	HasFailed           bool            // The tool failed, or the call was refused or cancelled.
	ExitStatus          *int            // a command's exit status, if the client stores it outside of the output
	OmitsZeroExitStatus bool            // The client mentions the exit status of a command only if it is not 0.
	decodedResultText   string          // text that the tool returned, used only if resultContent is nil
	resultContent       json.RawMessage // undecoded content with the text that the tool returned (may be nil)
	ResultDisplayData   json.RawMessage // the data that the client shows for the result, in the client's own format

	// For EventFileEdit, the field ResultDisplayData is a JSON object with a member for each changed file,
	// {PATH:{"type":"add","content"}}, {PATH:{"type":"update","unified_diff","move_path"}} or
	// {PATH:{"type":"delete"}}. If the field ID is "", the transcript does not report which call changed the files.
}

// ResultText returns the text that the tool returned. The text is decoded only when ResultText is called, because most
// results are large and most callers never need them. The decoded text is not kept, so each call decodes the text
// again.
func (e *Event) ResultText() string {
	if e.resultContent != nil {
		return ContentText(e.resultContent, "text")
	}
	return e.decodedResultText
}

// UnnamedAgent is used as the name of a sub-agent if the transcript contains neither the name nor the type.
const UnnamedAgent = "sub-agent"

// EventReader converts a transcript's lines to events. The lines must be passed in order.
type EventReader interface {
	// ParseLine calls yield with each event in the line, which begins at offset in the file. It returns false if the
	// line is something other than a JSON object, or if the line's session cannot belong to this client.
	ParseLine(line []byte, offset int64, yield func(*Event)) bool
}

// EventFlusher is an EventReader that may hold an event until a later line shows to which turn the event belongs.
type EventFlusher interface {
	// FlushEvents calls the function yield with each event that ParseLine has held back. FlushEvents is called after
	// the last line of the file, because no further line can then show to which turn such an event belongs.
	FlushEvents(yield func(*Event))
}
