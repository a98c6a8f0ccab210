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

// copilotLine is a line of Copilot CLI.
type copilotLine struct {
	Type  string      `json:"type"`
	Time  time.Time   `json:"timestamp"`
	Agent string      `json:"agentId"`
	Data  copilotData `json:"data"`
}

// copilotData is the content of a line.
type copilotData struct {
	Session  string `json:"sessionId"`
	Producer string `json:"producer"`
	Context  struct {
		Dir    string `json:"cwd"`
		Branch string `json:"branch"`
	} `json:"context"`
	Content     json.RawMessage `json:"content"`
	Attachments []struct {
		Type string `json:"type"`
	} `json:"attachments"`
	Message     string          `json:"messageId"`
	Thought     string          `json:"reasoningText"`
	Interaction string          `json:"interactionId"`
	Source      string          `json:"source"`
	Model       string          `json:"model"`
	AgentType   string          `json:"agentType"`
	AgentName   string          `json:"agentName"`
	CallID      string          `json:"toolCallId"`
	Tool        string          `json:"toolName"`
	Arguments   json.RawMessage `json:"arguments"`
	Requests    []struct {
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

// isCopilotEvents reports whether a file below session-state is a transcript. A session's directory may contain other
// files.
func isCopilotEvents(path string) bool {
	plain, _ := TrimCompressed(path)
	isFlat := filepath.Base(filepath.Dir(path)) == "session-state" && isJSONL(path)
	return isFlat || strings.HasSuffix(plain, "/events.jsonl")
}

// isOldCopilot reports whether a file is named like a document that the first versions stored.
func isOldCopilot(path string) bool {
	return isJSON(path) && strings.HasPrefix(filepath.Base(path), "session_")
}

// copilotDocument is a session of the first versions.
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

// report reports the events of a document. The messages have no times, which the person's texts in the timeline have.
func (d *copilotDocument) report(offset int64, yield func(*Event)) {
	m := messageEvents{yield: yield, Event: Event{Offset: offset, Session: d.Session}}
	m.Time = parseTime(d.Start)
	timeline := d.Timeline
	for i := range d.Messages {
		message := &d.Messages[i]
		m.beginNumbered(i+1, time.Time{})
		switch message.Role {
		case "user":
			for len(timeline) > 0 {
				at := timeline[0]
				timeline = timeline[1:]
				if at.Type == "user" {
					m.beginNumbered(i+1, parseTime(at.Time))
					break
				}
			}
			m.reportBlocks("user", message.Content, wholeText)
		case "assistant":
			m.reportBlocks("assistant", message.Content, wholeText)
		case "tool":
			m.reportResult(callResult{id: message.CallID, output: Text(message.Content)})
		}
		for _, call := range message.Calls {
			m.reportCall(call.ID, call.Function.Name, call.Function.Args)
		}
	}
	if len(d.Messages) > 0 {
		return
	}
	for i, at := range d.Timeline {
		m.beginNumbered(i+1, parseTime(at.Time))
		switch at.Type {
		case "user":
			m.reportText(EventPrompt, at.Text)
		case "copilot":
			m.reportText(EventText, at.Text)
		}
	}
}

// isCopilot recognizes the first line, and the document of the first versions.
func isCopilot(line []byte) bool {
	var l copilotLine
	var document struct {
		Messages json.RawMessage `json:"chatMessages"`
		Timeline json.RawMessage `json:"timeline"`
	}
	isEvents := Decode(line, &l) && l.Type == "session.start" && l.Data.Producer == "copilot-agent"
	isDocument := Decode(line, &document) && (document.Messages != nil || document.Timeline != nil)
	return isEvents || isDocument
}

type copilot struct {
	session, dir, branch string
	model                string            // model of the main agent
	names, types         map[string]string // names and types of sub-agents, by ID
	asked                map[string]bool   // IDs of calls that the person requested
	shell                personShell
}

// copilotNotes contains the types of lines that are not part of the conversation, or whose text other lines contain.
var copilotNotes = wordSet(`
	abort agent.idle assistant.idle assistant.intent assistant.message_delta assistant.message_start
	assistant.reasoning assistant.reasoning_delta assistant.streaming_delta assistant.tool_call_delta
	assistant.turn_end assistant.turn_start assistant.usage capabilities.changed pending_messages.modified result
	skill.invoked subagent.completed subagent.deselected subagent.failed subagent.selected system.message
	system.notification tool.execution_partial_result tool.execution_progress`)

// copilotStates contains the beginnings of types of lines that report the client's state.
var copilotStates = []string{"session.", "hook.", "permission.", "model.", "external_tool.", "elicitation.",
	"user_input.", "exit_plan_mode.", "mcp.", "mcp_app.", "sampling.", "command.", "commands.", "auto_mode_switch."}

// isCopilotNote reports whether a line of this type is not part of the conversation.
func isCopilotNote(lineType string) bool {
	return copilotNotes[lineType] ||
		slices.ContainsFunc(copilotStates, func(s string) bool { return strings.HasPrefix(lineType, s) })
}

func newCopilot(string) EventReader {
	return &copilot{names: map[string]string{}, types: map[string]string{}, asked: map[string]bool{}}
}

// ReadLine implements [EventReader].
func (c *copilot) ReadLine(line []byte, offset int64, yield func(*Event)) bool {
	var l copilotLine
	if !Decode(line, &l) {
		return false
	}
	if l.Type == "" && isCopilot(line) {
		var document copilotDocument
		Decode(line, &document)
		document.report(offset, yield)
		return true
	}
	d := &l.Data
	switch l.Type {
	case "session.start", "session.resume":
		if d.Session != "" {
			c.session = d.Session
		}
		if d.Context.Dir != "" {
			c.dir, c.branch = d.Context.Dir, d.Context.Branch
		}
	case "subagent.started":
		c.names[l.Agent], c.types[l.Agent] = d.AgentName, d.AgentType
	case "user.message":
		c.user(&l, offset, yield)
	case "assistant.message":
		c.message(&l, offset, yield)
	case "tool.user_requested":
		c.asked[d.CallID] = true
		e := c.call(&l, offset)
		if strings.EqualFold(e.Tool, "bash") || strings.EqualFold(e.Tool, "powershell") {
			e.Tool = PersonShell
		}
		yield(&e)
	case "tool.execution_start":
		if !c.asked[d.CallID] {
			e := c.call(&l, offset)
			yield(&e)
		}
	case "tool.execution_complete":
		var result struct {
			Content string `json:"content"`
		}
		_ = Decode(d.Result, &result) // ignore the error: only an object has an output
		e := c.event(EventResult, &l, offset)
		e.ID = d.CallID
		e.Failed = !d.Success
		e.Exit = d.Shell.Exit
		e.output = result.Content + d.Error.Message
		e.Shown = d.Result
		yield(&e)
	case "session.compaction_complete":
		if d.Success {
			e := c.event(EventCompacted, &l, offset)
			e.Text = d.Summary
			yield(&e)
		}
	default:
		if !isCopilotNote(l.Type) {
			c.event(EventUnknown, &l, offset).reportUnknown("lines", l.Type, yield)
		}
	}
	return true
}

// call returns the event for a line with a call.
func (c *copilot) call(l *copilotLine, offset int64) Event {
	e := c.event(EventCall, l, offset)
	e.ID = l.Data.CallID
	e.Tool, e.Args = l.Data.Tool, l.Data.Arguments
	return e
}

// user reports the person's text, unless a program wrote it. In a sub-agent's conversation, the agent is the source of
// the task.
func (c *copilot) user(l *copilotLine, offset int64, yield func(*Event)) {
	d := &l.Data
	isByProgram := d.Source != "" && d.Source != "user"
	if l.Agent == "" && isByProgram {
		return
	}
	e := c.event(EventPrompt, l, offset)
	e.Turn, e.Text = d.Interaction, Text(d.Content)
	if c.shell.report(e, e.Text, yield) {
		return
	}
	if strings.TrimSpace(e.Text) == "" {
		e.Text = strings.TrimSpace(strings.Repeat("[file] ", len(d.Attachments)))
	} else {
		e.reportLeftOut(leftFiles, len(d.Attachments), yield)
	}
	e.Kind = EventPrompt
	yield(&e)
}

// event returns an event with the fields that all events have in common.
func (c *copilot) event(kind EventKind, l *copilotLine, offset int64) Event {
	return Event{Kind: kind, Offset: offset, Time: l.Time, Session: c.session, Dir: c.dir, Branch: c.branch,
		Model: c.model, AgentID: l.Agent, AgentName: c.names[l.Agent], AgentType: c.types[l.Agent]}
}

// message reads a message of the agent: the reasoning, the text and the calls that the message
// requests.
func (c *copilot) message(l *copilotLine, offset int64, yield func(*Event)) {
	d := &l.Data
	if l.Agent == "" {
		c.model = d.Model
	}
	e := c.event(EventThought, l, offset)
	e.Model, e.ID = d.Model, d.Message
	if d.Thought != "" {
		e.Text = d.Thought
		yield(&e)
	}
	e.Kind, e.Text = EventText, Text(d.Content)
	if e.Text != "" {
		yield(&e)
	}
	for _, request := range d.Requests {
		e.Kind, e.Text = EventCall, ""
		e.ID = request.ID
		e.Tool = request.Name
		e.Args = request.Args
		yield(&e)
	}
}

// copilotAnswer returns the line for the result of a call.
func copilotAnswer(_ *Report, id string) any {
	return map[string]any{
		"type": "tool.execution_complete",
		"data": map[string]any{"toolCallId": id, "success": true},
	}
}
