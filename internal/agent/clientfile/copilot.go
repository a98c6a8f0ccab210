// This file reads transcripts of Copilot CLI: $COPILOT_HOME/session-state/SESSION/events.jsonl.
//
// A line is {"type","data","timestamp","agentId"}, where agentId identifies a sub-agent. The type
// session.start contains the session and the directory, user.message the person's text, and
// assistant.message the agent's text and toolRequests, the calls. The types tool.execution_start and
// tool.execution_complete report a call again, and its result. A turn's ID is the interaction's ID.
// In the result, detailedContent is a diff with line numbers.

package clientfile

import (
	"encoding/json"
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

// isCopilot recognizes the first line.
func isCopilot(line []byte) bool {
	var l copilotLine
	return Decode(line, &l) && l.Type == "session.start" && l.Data.Producer == "copilot-agent"
}

type copilot struct {
	session, dir, branch string
	model                string            // of the main agent
	names, types         map[string]string // of sub-agents, by ID
}

func newCopilot(string) EventReader {
	return &copilot{names: map[string]string{}, types: map[string]string{}}
}

// ReadLine implements [EventReader].
func (c *copilot) ReadLine(line []byte, offset int64, yield func(*Event)) bool {
	var l copilotLine
	if !Decode(line, &l) {
		return false
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
		// In a sub-agent's conversation, the agent is the source of the task.
		if l.Agent == "" && d.Source != "" && d.Source != "user" {
			break // a program wrote the text
		}
		e := c.event(EventPrompt, &l, offset)
		e.Turn, e.Text = d.Interaction, Text(d.Content)
		yield(&e)
	case "assistant.message":
		c.message(&l, offset, yield)
	case "tool.execution_start":
		e := c.event(EventCall, &l, offset)
		e.ID = d.CallID
		e.Tool = d.Tool
		e.Args = d.Arguments
		yield(&e)
	case "tool.execution_complete":
		var result struct {
			Content string `json:"content"`
		}
		_ = Decode(d.Result, &result) // a result that is no object has no output
		e := c.event(EventResult, &l, offset)
		e.ID = d.CallID
		e.Failed = !d.Success
		e.Exit = d.Shell.Exit
		e.Output = result.Content + d.Error.Message
		e.Shown = d.Result
		yield(&e)
	case "session.compaction_complete":
		if d.Success {
			e := c.event(EventCompacted, &l, offset)
			e.Text = d.Summary
			yield(&e)
		}
	}
	return true
}

// event returns an event with the fields that all events have in common.
func (c *copilot) event(kind EventKind, l *copilotLine, offset int64) Event {
	return Event{Kind: kind, Offset: offset, Time: l.Time, Session: c.session, Dir: c.dir, Branch: c.branch,
		Model: c.model, AgentID: l.Agent, AgentName: c.names[l.Agent], AgentType: c.types[l.Agent]}
}

// message reads a message of the agent: its reasoning, its text and the calls that it requests.
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
