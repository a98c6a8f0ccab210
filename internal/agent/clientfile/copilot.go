// This file reads transcripts of Copilot CLI: $COPILOT_HOME/session-state/SESSION/events.jsonl.
//
// A line is {"type","data","timestamp","agentId"}, where agentId identifies a sub-agent. The type
// session.start contains the session and the directory, user.message the person's text, and
// assistant.message the agent's text and toolRequests, the calls. The types tool.execution_start and
// tool.execution_complete report a call again, and its result. A turn's ID is the interaction's ID.
// In the result, detailedContent is a diff with line numbers. Some versions of 2025 named the file
// session-state/SESSION.jsonl.
//
// The first versions stored a JSON document, history-session-state/session_SESSION_TIME.json:
// {"sessionId","startTime","chatMessages":[{"role":"user"|"assistant"|"tool","content","tool_calls":[{"id",
// "function":{"name","arguments"}}],"tool_call_id"}],"timeline":[{"type":"user"|"copilot","text","timestamp"}]}.

package clientfile

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// copilotLine is a line of a Copilot CLI transcript.
type copilotLine struct {
	Type    string      `json:"type"`
	Time    time.Time   `json:"timestamp"`
	AgentID string      `json:"agentId"`
	Data    copilotData `json:"data"`
}

// copilotData is the value of the JSON member "data" in a transcript line. It has the fields for all types of lines.
type copilotData struct {
	SessionID string `json:"sessionId"`
	Producer  string `json:"producer"`
	Context   struct {
		Dir    string `json:"cwd"`
		Branch string `json:"branch"`
	} `json:"context"`
	Content     json.RawMessage `json:"content"`
	Attachments []struct {
		Type string `json:"type"`
	} `json:"attachments"`
	MessageID     string          `json:"messageId"`
	Reasoning     string          `json:"reasoningText"`
	InteractionID string          `json:"interactionId"`
	Source        string          `json:"source"`
	Model         string          `json:"model"`
	AgentType     string          `json:"agentType"`
	AgentName     string          `json:"agentName"`
	CallID        string          `json:"toolCallId"`
	ToolName      string          `json:"toolName"`
	Arguments     json.RawMessage `json:"arguments"`
	ToolRequests  []struct {
		ID   string          `json:"toolCallId"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"toolRequests"`
	Success bool            `json:"success"`
	Result  json.RawMessage `json:"result"`
	Shell   struct {
		Exit *int `json:"exitCode"`
	} `json:"shellExecution"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Summary string `json:"summaryContent"`
}

// isCopilotEventsFile reports whether a path below session-state names a transcript. A session's directory also
// contains other files.
func isCopilotEventsFile(path string) bool {
	plain, _ := TrimCompressedSuffix(path)
	isFlat := filepath.Base(filepath.Dir(path)) == "session-state" && isJSONLinesFile(path)
	return isFlat || strings.HasSuffix(plain, "/events.jsonl")
}

// isOldCopilotFile reports whether a path has the form of the session files that the first versions of Copilot stored:
// a JSON file with a name that begins with "session_".
func isOldCopilotFile(path string) bool {
	return isJSONFile(path) && strings.HasPrefix(filepath.Base(path), "session_")
}

// copilotDocument is a session of an old Copilot version, which stored each session as one JSON document.
type copilotDocument struct {
	Session  string          `json:"sessionId"`
	Start    json.RawMessage `json:"startTime"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		CallID  string          `json:"tool_call_id"`
		Calls   []struct {
			ID       string `json:"id"`
			Function struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
			} `json:"function"`
		} `json:"tool_calls"`
	} `json:"chatMessages"`
	Timeline []struct {
		Type string          `json:"type"`
		ID   string          `json:"id"`
		Text string          `json:"text"`
		Time json.RawMessage `json:"timestamp"`
	} `json:"timeline"`
}

// reportEvents reports the events of a document. The messages contain no times. The timeline contains the times of the
// person's texts. Therefore each message gets the time of the last prompt before it. If the document has no messages,
// reportEvents reports the texts in the timeline instead.
func (d *copilotDocument) reportEvents(offset int64, yield func(*Event)) {
	m := messageReporter{yieldEvent: yield, Event: Event{Offset: offset, Session: d.Session}}
	m.Time = parseTime(d.Start)
	timeline := d.Timeline
	for i := range d.Messages {
		message := &d.Messages[i]
		m.beginNumberedMessage(i+1, time.Time{})
		switch message.Role {
		case "user":
			for len(timeline) > 0 {
				at := timeline[0]
				timeline = timeline[1:]
				if at.Type == "user" {
					m.beginNumberedMessage(i+1, parseTime(at.Time))
					break
				}
			}
			m.reportBlocks("user", message.Content, returnUnchangedText)
		case "assistant":
			m.reportBlocks("assistant", message.Content, returnUnchangedText)
		case "tool":
			m.reportResult(callResult{id: message.CallID, output: ContentText(message.Content)})
		}
		for _, call := range message.Calls {
			m.reportCall(call.ID, call.Function.Name, call.Function.Args)
		}
	}
	if len(d.Messages) > 0 {
		return
	}
	for i, at := range d.Timeline {
		m.beginNumberedMessage(i+1, parseTime(at.Time))
		switch at.Type {
		case "user":
			m.reportText(EventPrompt, at.Text)
		case "copilot":
			m.reportText(EventText, at.Text)
		}
	}
}

// isCopilotLine reports whether line is the first line of a Copilot transcript. In early versions of Copilot, a
// transcript was a single JSON document with a member chatMessages or timeline. isCopilotLine also recognizes such a
// document.
func isCopilotLine(line []byte) bool {
	var l copilotLine
	var document struct {
		Messages json.RawMessage `json:"chatMessages"`
		Timeline json.RawMessage `json:"timeline"`
	}
	isEvents := DecodeObject(line, &l) && l.Type == "session.start" && l.Data.Producer == "copilot-agent"
	isDocument := DecodeObject(line, &document) && (document.Messages != nil || document.Timeline != nil)
	return isEvents || isDocument
}

type copilotReader struct {
	sessionID, workingDir, branch  string
	model                          string            // model that the main agent uses
	agentNamesByID, agentTypesByID map[string]string // names and types of sub-agents, by agent ID
	personRequestedCallIDs         map[string]bool   // IDs of calls that the person requested, not the agent
	commandReporter                personCommandReporter
}

// copilotIgnoredTypes contains the types of lines that are not reported. Such a line is not part of the conversation,
// or other lines contain its text.
var copilotIgnoredTypes = lazyWordSet(`
	abort agent.idle assistant.idle assistant.intent assistant.message_delta assistant.message_start
	assistant.reasoning assistant.reasoning_delta assistant.streaming_delta assistant.tool_call_delta
	assistant.turn_end assistant.turn_start assistant.usage capabilities.changed pending_messages.modified result
	skill.invoked subagent.completed subagent.deselected subagent.failed subagent.selected system.message
	system.notification tool.execution_partial_result tool.execution_progress`)

// copilotIgnoredTypePrefixes contains the prefixes of the line types that report only the client's state.
var copilotIgnoredTypePrefixes = []string{
	"session.",
	"hook.",
	"permission.",
	"model.",
	"external_tool.",
	"elicitation.",
	"user_input.",
	"exit_plan_mode.",
	"mcp.",
	"mcp_app.",
	"sampling.",
	"command.",
	"commands.",
	"auto_mode_switch.",
}

// isIgnoredCopilotType reports whether lines of this type are not reported.
func isIgnoredCopilotType(lineType string) bool {
	return copilotIgnoredTypes()[lineType] ||
		slices.ContainsFunc(copilotIgnoredTypePrefixes, func(s string) bool { return strings.HasPrefix(lineType, s) })
}

func newCopilotReader(string) EventReader {
	return &copilotReader{
		agentNamesByID:         map[string]string{},
		agentTypesByID:         map[string]string{},
		personRequestedCallIDs: map[string]bool{},
	}
}

// ParseLine implements [EventReader].
func (c *copilotReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l copilotLine
	if !DecodeObject(line, &l) {
		return false
	}
	if l.Type == "" && isCopilotLine(line) {
		var document copilotDocument
		DecodeObject(line, &document)
		document.reportEvents(offset, yield)
		return true
	}
	d := &l.Data
	switch l.Type {
	case "session.start", "session.resume":
		if d.SessionID != "" {
			c.sessionID = d.SessionID
		}
		if d.Context.Dir != "" {
			c.workingDir, c.branch = d.Context.Dir, d.Context.Branch
		}
	case "subagent.started":
		c.agentNamesByID[l.AgentID], c.agentTypesByID[l.AgentID] = d.AgentName, d.AgentType
	case "user.message":
		c.reportUserText(&l, offset, yield)
	case "assistant.message":
		c.reportMessage(&l, offset, yield)
	case "tool.user_requested":
		c.personRequestedCallIDs[d.CallID] = true
		e := c.newCallEvent(&l, offset)
		if strings.EqualFold(e.ToolName, "bash") || strings.EqualFold(e.ToolName, "powershell") {
			e.ToolName = PersonShellTool
		}
		yield(&e)
	case "tool.execution_start":
		if !c.personRequestedCallIDs[d.CallID] {
			e := c.newCallEvent(&l, offset)
			yield(&e)
		}
	case "tool.execution_complete":
		var result struct {
			Content string `json:"content"`
		}
		_ = DecodeObject(d.Result, &result) // Ignore the error: only a result that is an object has an output.
		e := c.newEvent(EventToolResult, &l, offset)
		e.ID = d.CallID
		e.HasFailed = !d.Success
		e.ExitStatus = d.Shell.Exit
		e.decodedResultText = result.Content + d.Error.Message
		e.ResultDisplayData = d.Result
		yield(&e)
	case "session.compaction_complete":
		if d.Success {
			e := c.newEvent(EventConversationCompacted, &l, offset)
			e.Text = d.Summary
			yield(&e)
		}
	default:
		if !isIgnoredCopilotType(l.Type) {
			c.newEvent(EventUnknown, &l, offset).reportUnknownPart("lines", l.Type, yield)
		}
	}
	return true
}

// newCallEvent returns the event for a line about a tool call.
func (c *copilotReader) newCallEvent(l *copilotLine, offset int64) Event {
	e := c.newEvent(EventToolCall, l, offset)
	e.ID = l.Data.CallID
	e.ToolName, e.Args = l.Data.ToolName, l.Data.Arguments
	return e
}

// reportUserText reports the person's text, unless a program wrote it. In a sub-agent's conversation, the text is the
// task that the agent set.
func (c *copilotReader) reportUserText(l *copilotLine, offset int64, yield func(*Event)) {
	d := &l.Data
	isByProgram := d.Source != "" && d.Source != "user"
	if l.AgentID == "" && isByProgram {
		return
	}
	e := c.newEvent(EventPrompt, l, offset)
	e.TurnID, e.Text = d.InteractionID, ContentText(d.Content)
	if c.commandReporter.reportShellText(e, e.Text, yield) {
		return
	}
	if strings.TrimSpace(e.Text) == "" {
		e.Text = strings.TrimSpace(strings.Repeat("[file] ", len(d.Attachments)))
	} else {
		e.reportNonTextParts(nonTextFilesText, len(d.Attachments), yield)
	}
	e.Kind = EventPrompt
	yield(&e)
}

// newEvent returns an event with the values that all events contain, such as the session, the agent and the time.
func (c *copilotReader) newEvent(kind EventKind, l *copilotLine, offset int64) Event {
	return Event{
		Kind:       kind,
		Offset:     offset,
		Time:       l.Time,
		Session:    c.sessionID,
		WorkingDir: c.workingDir,
		Branch:     c.branch,
		Model:      c.model,
		AgentID:    l.AgentID,
		AgentName:  c.agentNamesByID[l.AgentID],
		AgentType:  c.agentTypesByID[l.AgentID],
	}
}

// reportMessage reports the reasoning, the text and the requested calls of an agent's message.
func (c *copilotReader) reportMessage(l *copilotLine, offset int64, yield func(*Event)) {
	d := &l.Data
	if l.AgentID == "" {
		c.model = d.Model
	}
	e := c.newEvent(EventAgentThought, l, offset)
	e.Model, e.ID = d.Model, d.MessageID
	if d.Reasoning != "" {
		e.Text = d.Reasoning
		yield(&e)
	}
	e.Kind, e.Text = EventText, ContentText(d.Content)
	if e.Text != "" {
		yield(&e)
	}
	for _, request := range d.ToolRequests {
		e.Kind, e.Text = EventToolCall, ""
		e.ID = request.ID
		e.ToolName = request.Name
		e.Args = request.Args
		yield(&e)
	}
}

// makeCopilotResultLine returns a transcript line that reports the success of a tool call. Copilot CLI writes such a
// line at the end of the call. callID is the call's ID in the transcript.
func makeCopilotResultLine(_ *HookReport, callID string) any {
	return map[string]any{
		"type": "tool.execution_complete",
		"data": map[string]any{"toolCallId": callID, "success": true},
	}
}
