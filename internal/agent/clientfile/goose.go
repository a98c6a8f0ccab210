// This file reads Goose sessions: the database sessions/sessions.db (see database.go), and the files
// sessions/SESSION.jsonl of versions before 1.10. The formats come from crates/goose/src/session/session_manager.rs and
// crates/goose/src/conversation/message.rs in block/goose. The part types come from message.rs in block/goose (commit
// 05132966) and in its successor aaif-goose/goose (commit bcc67cf0).
//
// The document of a session in the database is {"goose":{"id","working_dir","session_type"},"messages":[…]}. A message
// is {"id","role","created","content":[…],"metadata":{"userVisible"}}. A part of the content has the type text,
// thinking, toolRequest ({"id","toolCall":{"status","value":{"name","arguments"}}}) or toolResponse ({"id",
// "toolResult":{"status","value","error"}}). In a file, the first line is {"working_dir",…}, and each other line is a
// message.

package clientfile

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// gooseDocument is a whole session from the database, the first line of a file, or a message in a file.
type gooseDocument struct {
	Row struct {
		ID   string `json:"id"`
		Dir  string `json:"working_dir"`
		Type string `json:"session_type"`
	} `json:"goose"`
	Messages []json.RawMessage `json:"messages"`

	Dir string `json:"working_dir"`
	gooseMessage
}

type gooseMessage struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"`
	Created  json.RawMessage `json:"created"`
	Content  []goosePart     `json:"content"`
	Metadata struct {
		Visible *bool `json:"userVisible"`
	} `json:"metadata"`
}

// goosePart is a part of a message's content.
type goosePart struct {
	Type     string `json:"type"`
	ID       string `json:"id"`
	Text     string `json:"text"`
	Thinking string `json:"thinking"`
	Message  string `json:"msg"` // the text, for parts whose type is conversationCompacted or summarizationRequested
	ToolCall struct {
		Value struct {
			Name string          `json:"name"`
			Args json.RawMessage `json:"arguments"`
		} `json:"value"`
	} `json:"toolCall"`
	ToolResult struct {
		Status string          `json:"status"`
		Value  json.RawMessage `json:"value"`
		Error  string          `json:"error"`
	} `json:"toolResult"`
}

// isGooseLine reports whether a line is the first line of a session file of Goose, or a session document that oxbow
// made from Goose's database.
func isGooseLine(line []byte) bool {
	var d struct {
		Row   json.RawMessage `json:"goose"`
		Dir   string          `json:"working_dir"`
		Count json.RawMessage `json:"message_count"`
	}
	return DecodeObject(line, &d) && (d.Row != nil || (d.Dir != "" && d.Count != nil))
}

// gooseReader reads one session of Goose. It keeps the state between two lines.
type gooseReader struct {
	sessionID, workingDir string
	messageCount          int
}

func newGooseReader(path string) EventReader {
	return &gooseReader{sessionID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
}

// ParseLine implements [EventReader].
func (g *gooseReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var d gooseDocument
	if !parseObject(line, &d) {
		return false
	}
	m := messageReporter{yieldEvent: yield}
	if d.Dir != "" {
		g.workingDir = d.Dir
	}
	if d.Row.ID != "" {
		g.sessionID, g.workingDir = d.Row.ID, d.Row.Dir
		if d.Row.Type == "sub_agent" {
			m.AgentID = UnnamedAgent
		}
	}
	m.Offset = offset
	m.Session, m.WorkingDir = g.sessionID, g.workingDir
	for i, raw := range d.Messages {
		m.RecordName = recordName("messages", i)
		var message gooseMessage
		if !parseObject(raw, &message) {
			m.reportUnreadRecord(yield)
			continue
		}
		g.reportMessage(&message, &m)
	}
	if d.Role != "" {
		g.reportMessage(&d.gooseMessage, &m)
	}
	return true
}

// gooseTextKinds maps the role of a message to the event kind for the message's text.
var gooseTextKinds = map[string]EventKind{"user": EventPrompt, "assistant": EventText, "system": noEventKind}

// reportMessage reports the texts, the tool calls and the results in a message. A message's text is reported only if
// the person sees the message, because goose itself wrote the other texts for the model.
func (g *gooseReader) reportMessage(message *gooseMessage, m *messageReporter) {
	g.messageCount++
	m.beginNumberedMessage(g.messageCount, parseTime(message.Created))
	if message.ID != "" {
		m.beginMessage(message.ID, m.Time)
	}
	kind, isKnown := gooseTextKinds[message.Role]
	if !isKnown {
		m.Event.reportUnknownPart("messages", message.Role, m.yieldEvent)
		return
	}
	if message.Metadata.Visible != nil && !*message.Metadata.Visible {
		kind = noEventKind
	}
	var said []string
	for _, p := range message.Content {
		switch p.Type {
		case "text":
			said = append(said, p.Text)
		case "thinking", "reasoning":
			m.reportText(EventAgentThought, p.Thinking+p.Text)
		case "conversationCompacted":
			m.reportText(EventConversationCompacted, p.Message)
		case "image":
			m.Event.reportNonTextParts(nonTextFilesText, 1, m.yieldEvent)
		default:
			if !gooseTextlessPartTypes()[p.Type] {
				m.Event.reportUnknownPart("parts", p.Type, m.yieldEvent)
			}
		}
	}
	m.reportText(kind, strings.Join(said, "\n"))
	for _, p := range message.Content {
		switch p.Type {
		case "toolRequest", "frontendToolRequest":
			m.reportCall(p.ID, p.ToolCall.Value.Name, p.ToolCall.Value.Args)
		case "toolResponse":
			output := resultText(p.ToolResult.Value)
			if p.ToolResult.Error != "" {
				output = p.ToolResult.Error
			}
			m.reportResult(callResult{id: p.ID, output: output, hasFailed: p.ToolResult.Status == "error"})
		}
	}
}

// gooseTextlessPartTypes contains the types of message parts that are known but contain no text by the person or the
// agent. The types in the first line are tool calls and their results, which are reported after the message's texts.
// The types below them are ignored.
var gooseTextlessPartTypes = lazyWordSet(`
	frontendToolRequest toolRequest toolResponse

	actionRequired contextLengthExceeded redactedThinking summarizationRequested systemNotification
	toolConfirmationRequest`)
