// This file reads the sessions of Cursor. Cursor is not public. The formats come from programs that read its
// files: docs/cursor/storage-reference.md in michaeldhood/chatrxiv, docs/vscdbRelation.md in
// pppp606/cursor-efficiency, and internal/parser/cursor.go in kenn-io/agentsview.
//
// The editor has its sessions in the database User/globalStorage/state.vscdb (see database.go). The document of a
// session is {"cursor":{"composerId","createdAt","modelConfig","workspaceIdentifier"},"bubbles":[…]}. A bubble is
// {"bubbleId","type":1|2,"text","createdAt","thinking":{"text"},"toolFormerData":{"toolCallId","name","params",
// "rawArgs","result","status"},"modelInfo":{"modelName"},"workspaceUris"}. Type 1 is the person, 2 the agent.
//
// The agent of the command line writes ~/.cursor/projects/PROJECT/agent-transcripts/SESSION/SESSION.jsonl, and
// sub-agents write to the directory subagents beside that file. A line is {"role","message":{"content"}}. A line does
// not contain a time, so that each message gets the time at which the file was last changed. In some versions, the
// editor stores messages without a time. These messages get the time at which the session was last changed. The
// person's text is in <user_query>.

package clientfile

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// cursorLine is decoded from a transcript of Cursor in one of two forms. For the editor, it is a whole session, and
// Composer and MessageBubbles are set. For the command line agent, it is one line of a transcript, and Role and Message
// are set.
type cursorLine struct {
	Composer struct {
		ID      string          `json:"composerId"`
		Created json.RawMessage `json:"createdAt"`
		Updated json.RawMessage `json:"lastUpdatedAt"`
		Config  struct {
			Model string `json:"modelName"`
		} `json:"modelConfig"`
		Workspace struct {
			URI struct {
				Path string `json:"fsPath"`
			} `json:"uri"`
		} `json:"workspaceIdentifier"`
		Dir string `json:"currentDir"`
	} `json:"cursor"`
	MessageBubbles []json.RawMessage `json:"bubbles"`

	Role    string `json:"role"`
	Message struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// cursorBubble is a message in a session of the editor.
type cursorBubble struct {
	ID        string          `json:"bubbleId"`
	Type      int             `json:"type"`
	Text      string          `json:"text"`
	CreatedAt json.RawMessage `json:"createdAt"`
	Thinking  struct {
		Text string `json:"text"`
	} `json:"thinking"`
	Tool struct {
		ID     string          `json:"toolCallId"`
		Name   string          `json:"name"`
		Args   json.RawMessage `json:"rawArgs"`
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Status string          `json:"status"`
	} `json:"toolFormerData"`
	Model struct {
		Name string `json:"modelName"`
	} `json:"modelInfo"`
	Workspaces []string `json:"workspaceUris"`
}

// isCursorLine recognizes the editor's session document, and the first line of a command line transcript.
func isCursorLine(line []byte) bool {
	var l struct {
		Composer json.RawMessage `json:"cursor"`
		Bubbles  json.RawMessage `json:"bubbles"`
		Type     string          `json:"type"`
		Role     string          `json:"role"`
		Message  struct {
			Content json.RawMessage `json:"content"`
			Role    string          `json:"role"`
		} `json:"message"`
	}
	isDocument := DecodeObject(line, &l) && l.Composer != nil && l.Bubbles != nil
	isLine := l.Role != "" && l.Type == "" && l.Message.Content != nil && l.Message.Role == ""
	return isDocument || isLine
}

// cursorReader reads one session of Cursor. It keeps the state between two lines.
type cursorReader struct {
	sessionID, agentID string
	lastTime           time.Time
	messageCount       int
}

func newCursorReader(path string) EventReader {
	c := &cursorReader{sessionID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
	if strings.HasSuffix(path, ".jsonl") {
		c.lastTime = fileModTime(path)
		if dir := filepath.Dir(path); filepath.Base(dir) == "subagents" {
			c.sessionID, c.agentID = filepath.Base(filepath.Dir(dir)), UnnamedAgent
		}
	}
	return c
}

// addMissingResults returns a function that calls yield with each event. After each call event, it also calls yield
// with an empty result event, because a transcript of Cursor's command-line program contains no results, and a call
// without a result would count as unfinished. If a call has no ID, addMissingResults sets an ID.
func (c *cursorReader) addMissingResults(yield func(*Event)) func(*Event) {
	calls := 0
	return func(e *Event) {
		if e.Kind != EventToolCall {
			yield(e)
			return
		}
		calls++
		if e.ID == "" {
			e.ID = "m" + strconv.Itoa(c.messageCount) + "-call" + strconv.Itoa(calls)
		}
		yield(e)
		yield(
			&Event{
				Kind:       EventToolResult,
				Offset:     e.Offset,
				Time:       e.Time,
				ID:         e.ID,
				Session:    e.Session,
				WorkingDir: e.WorkingDir,
				AgentID:    e.AgentID,
				Model:      e.Model,
			},
		)
	}
}

// cursorPromptExtractor returns a function that extracts the person's prompt from a message of Cursor's command-line
// program. The program encloses the prompt in the tags <user_query> and </user_query>.
var cursorPromptExtractor = sync.OnceValue(func() func(string) string { return taggedTextExtractor("user_query") })

// ParseLine implements [EventReader].
func (c *cursorReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l cursorLine
	if !parseObject(line, &l) {
		return false
	}
	m := messageReporter{yieldEvent: yield,
		Event: Event{Offset: offset, Session: c.sessionID, AgentID: c.agentID, Time: c.lastTime}}
	if l.MessageBubbles == nil {
		c.messageCount++
		m.HasNoTime = true
		m.beginNumberedMessage(c.messageCount, addMilliseconds(m.Time, c.messageCount))
		m.yieldEvent = c.addMissingResults(yield)
		m.reportBlocks(l.Role, l.Message.Content, cursorPromptExtractor())
		return true
	}
	if l.Composer.ID != "" {
		m.Session = l.Composer.ID
	}
	m.HasNoTime = true
	m.Time = parseTime(l.Composer.Updated)
	if m.Time.IsZero() {
		m.Time = parseTime(l.Composer.Created)
	}
	m.Model = l.Composer.Config.Model
	m.WorkingDir = l.Composer.Workspace.URI.Path + l.Composer.Dir
	for i, raw := range l.MessageBubbles {
		m.RecordName = recordName("bubbles", i)
		var b cursorBubble
		if raw[0] != '{' || !parseObject(raw, &b) {
			m.reportUnreadRecord(yield)
			continue
		}
		at := parseTime(b.CreatedAt)
		if at.IsZero() {
			// This message of the conversation was stored without a time. Place it right after the previous message.
			at = addMilliseconds(m.Time, 1)
		} else {
			m.HasNoTime = false
		}
		m.beginNumberedMessage(i, at)
		if b.ID != "" {
			m.beginMessage(b.ID, m.Time)
		}
		b.reportEvents(&m)
	}
	return true
}

// addMilliseconds returns the time that is n milliseconds after t. The zero time stays zero.
func addMilliseconds(t time.Time, n int) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Duration(n) * time.Millisecond)
}

// reportEvents reports the texts and the tool call in a message of the editor. The result of the call is reported with
// the call, because the same message contains it.
func (b *cursorBubble) reportEvents(m *messageReporter) {
	if b.Model.Name != "" {
		m.Model = b.Model.Name
	}
	if m.WorkingDir == "" && len(b.Workspaces) > 0 {
		m.WorkingDir = fileURLPath(b.Workspaces[0])
	}
	switch b.Type {
	case 1:
		m.reportText(EventPrompt, b.Text)
		return
	case 0, 2: // The agent wrote this message. Type 0 means that the type is missing.
	default:
		m.Event.reportUnknownPart("messages", strconv.Itoa(b.Type), m.yieldEvent)
		return
	}
	m.reportText(EventAgentThought, b.Thinking.Text)
	m.reportText(EventText, b.Text)
	t := &b.Tool
	if t.Name == "" {
		return
	}
	id := t.ID
	if id == "" {
		id = b.ID
	}
	args := embeddedJSON(t.Args)
	if len(args) == 0 || args[0] != '{' {
		args = t.Params
	}
	m.reportCall(id, t.Name, args)
	var status struct {
		Exit  *int `json:"exitCode"`
		Exit2 *int `json:"exitCodeV2"`
	}
	// Ignore the error: only the results of commands contain an exit status.
	_ = json.Unmarshal(embeddedJSON(t.Result), &status)
	if status.Exit == nil {
		status.Exit = status.Exit2
	}
	isFailed := t.Status == "error" || t.Status == "cancelled"
	m.reportResult(callResult{id: id, output: resultText(t.Result), hasFailed: isFailed, exitStatus: status.Exit})
}
