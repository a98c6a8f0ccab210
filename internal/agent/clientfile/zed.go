// This file reads the threads of Zed's agent, which are in the database threads/threads.db (see database.go). The
// formats come from crates/agent/src/db.rs, thread.rs (commit 000e783f) and legacy_thread.rs in zed-industries/zed.
//
// [Open] returns a thread as the JSON document
// {"zed":{"id","folder_paths","created_at","updated_at"},"thread":{"version", "messages","model":{"model"}}}. A message
// of version 0.3.0 is {"User":{"id","content":[{"Text"}|{"Mention": {"uri","content"}}]}} or
// {"Agent":{"content":[{"Text"}|{"Thinking":{"text"}}|{"ToolUse":{"id","name",
// "input"}}],"tool_results":{ID:{"is_error","content","output"}}}}, or "Resume". A message of older versions is
// {"id","role","segments":[{"type","text"}],"tool_uses","tool_results"}. Messages lack times, so that all have the time
// of the thread.

package clientfile

import (
	"encoding/json"
	"strconv"
	"strings"
)

// zedDocument is a thread, with the columns of its row in the database.
type zedDocument struct {
	Row struct {
		ID      string          `json:"id"`
		Folders string          `json:"folder_paths"`
		Created json.RawMessage `json:"created_at"`
		Updated json.RawMessage `json:"updated_at"`
		Parent  string          `json:"parent_id"`
	} `json:"zed"`
	Thread struct {
		Messages []json.RawMessage `json:"messages"`
		Model    struct {
			Model string `json:"model"`
		} `json:"model"`
		Snapshot struct {
			Worktrees []struct {
				Path string `json:"worktree_path"`
			} `json:"worktree_snapshots"`
		} `json:"initial_project_snapshot"`
	} `json:"thread"`
}

// zedMessage is a message of any format version.
type zedMessage struct {
	User *struct {
		ID      string       `json:"id"`
		Content []zedContent `json:"content"`
	} `json:"User"`
	Agent *struct {
		Content []zedContent         `json:"content"`
		Results map[string]zedResult `json:"tool_results"`
	} `json:"Agent"`

	// The following fields are used only by versions before 0.3.0.
	Role     string `json:"role"`
	Text     string `json:"text"`
	Segments []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"segments"`
	ToolUses    []zedToolUse `json:"tool_uses"`
	ToolResults []zedResult  `json:"tool_results"`
}

// zedContent is a part of a message. It is a JSON object with a single member, whose name tells the kind of the part.
type zedContent struct {
	memberName string // name of the JSON object's only member, such as "Text"

	Text     string `json:"Text"`
	Thinking struct {
		Text string `json:"text"`
	} `json:"Thinking"`
	ToolUse *zedToolUse `json:"ToolUse"`
	Mention struct {
		Content string `json:"content"`
	} `json:"Mention"`
}

// zedContentKinds contains the known kinds of parts of a message in Zed's files. Each part is a JSON object with one
// member, whose name is the kind.
var zedContentKinds = lazyWordSet("Image Mention RedactedThinking Text Thinking ToolUse")

// UnmarshalJSON implements [json.Unmarshaler]. It also sets memberName.
func (c *zedContent) UnmarshalJSON(b []byte) error {
	type fields zedContent
	if !parseObject(b, (*fields)(c)) {
		return nil // Leave memberName empty, so that this part of the message is reported as unknown.
	}
	c.memberName = firstMemberName(b)
	return nil
}

// firstMemberName returns the name of a JSON object's first member, or "" if there is none.
func firstMemberName(object []byte) (name string) {
	eachField(object, func(key, _ []byte) {
		if name == "" {
			name = string(key)
		}
	})
	return name
}

// reportImageOrUnknownContent reports the part c if c is neither a text nor a tool call. An image is reported as a part
// that is not text. A part of an unknown kind is reported as unknown. Any other part is not reported here.
func (c *zedContent) reportImageOrUnknownContent(m *messageReporter) {
	switch {
	case c.memberName == "Image":
		m.Event.reportNonTextParts(nonTextFilesText, 1, m.yieldEvent)
	case !zedContentKinds()[c.memberName]:
		m.Event.reportUnknownPart("parts", c.memberName, m.yieldEvent)
	}
}

type zedToolUse struct {
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type zedResult struct {
	ToolUseID string          `json:"tool_use_id"`
	IsError   bool            `json:"is_error"`
	Content   json.RawMessage `json:"content"`
	Output    json.RawMessage `json:"output"`
}

// isZedDocument reports whether the line is a JSON object that contains a conversation of the editor Zed. oxbow makes
// such an object from a row of Zed's database, and the object contains the row's ID.
func isZedDocument(line []byte) bool {
	var d zedDocument
	return DecodeObject(line, &d) && d.Row.ID != ""
}

type zedReader struct{}

func newZedReader(string) EventReader { return zedReader{} }

// ParseLine implements [EventReader]. Zed stores a whole conversation as one database row, so the line is the whole
// conversation.
func (zedReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var d zedDocument
	if !parseObject(line, &d) || d.Row.ID == "" {
		return false
	}
	m := messageReporter{
		yieldEvent: yield,
		Event: Event{Offset: offset, Session: d.Row.ID, Model: d.Thread.Model.Model,
			Time: parseTime(d.Row.Created)},
	}
	if m.Time.IsZero() {
		m.Time = parseTime(d.Row.Updated)
	}
	m.WorkingDir, _, _ = strings.Cut(d.Row.Folders, "\n")
	if m.WorkingDir == "" && len(d.Thread.Snapshot.Worktrees) > 0 {
		m.WorkingDir = d.Thread.Snapshot.Worktrees[0].Path
	}
	if d.Row.Parent != "" {
		m.AgentID = "sub-agent"
		m.Session = d.Row.Parent
	}
	for i, raw := range d.Thread.Messages {
		m.RecordName = recordName("messages", i)
		var message zedMessage
		isResume := string(raw) == `"Resume"`
		if !isResume && !parseObject(raw, &message) {
			m.reportUnreadRecord(yield)
			continue
		}
		m.beginNumberedMessage(i, m.Time)
		if isResume {
			continue
		}
		if message.User == nil && message.Agent == nil && message.Role == "" {
			m.Event.reportUnknownPart("messages", firstMemberName(raw), yield)
			continue
		}
		message.reportEvents(&m)
	}
	return true
}

// reportEvents reports the texts, the tool calls and their results in a message of any format version.
func (z *zedMessage) reportEvents(m *messageReporter) {
	switch {
	case z.User != nil:
		if z.User.ID != "" {
			m.beginMessage(z.User.ID, m.Time)
		}
		var asked, mentioned []string
		for _, c := range z.User.Content {
			asked = append(asked, c.Text)
			mentioned = append(mentioned, c.Mention.Content)
			c.reportImageOrUnknownContent(m)
		}
		m.reportText(EventPrompt, strings.Join(asked, ""))
		m.reportText(noEventKind, strings.Join(mentioned, "\n"))
	case z.Agent != nil:
		for _, c := range z.Agent.Content {
			m.reportText(EventAgentThought, c.Thinking.Text)
			m.reportText(EventText, c.Text)
			c.reportImageOrUnknownContent(m)
			if c.ToolUse != nil {
				m.reportCall(c.ToolUse.ID, c.ToolUse.Name, c.ToolUse.Input)
			}
		}
		for _, c := range z.Agent.Content {
			if c.ToolUse != nil {
				if r, ok := z.Agent.Results[c.ToolUse.ID]; ok {
					r.ToolUseID = c.ToolUse.ID
					r.reportCallResult(m)
				}
			}
		}
	default:
		z.reportOldMessage(m)
	}
}

// reportOldMessage reports a message in a format before 0.3.0.
func (z *zedMessage) reportOldMessage(m *messageReporter) {
	var kind EventKind
	switch z.Role {
	case "user":
		kind = EventPrompt
	case "assistant":
		kind = EventText
	case "system":
		kind = noEventKind
	default:
		m.Event.reportUnknownPart("messages", z.Role, m.yieldEvent)
		return
	}
	m.reportText(kind, z.Text)
	for i, s := range z.Segments {
		switch s.Type {
		case "text":
		case "thinking":
			m.reportText(EventAgentThought, s.Text)
			continue
		case "redacted_thinking":
			continue
		default:
			m.Event.reportUnknownPart("parts", s.Type, m.yieldEvent)
			continue
		}
		if i > 0 && kind == EventPrompt {
			m.beginMessage(m.ID+"."+strconv.Itoa(i), m.Time)
		}
		m.reportText(kind, s.Text)
	}
	for _, u := range z.ToolUses {
		m.reportCall(u.ID, u.Name, u.Input)
	}
	for _, r := range z.ToolResults {
		r.reportCallResult(m)
	}
}

// reportCallResult reports the result of a tool call as an event.
func (r *zedResult) reportCallResult(m *messageReporter) {
	output := resultText(r.Content)
	if output == "" {
		output = resultText(r.Output)
	}
	var parts []json.RawMessage
	if json.Unmarshal(r.Content, &parts) == nil { // The content is an array of {"Text"} objects.
		output = ""
		for _, part := range parts {
			output += resultText(part)
		}
	}
	m.reportResult(callResult{id: r.ToolUseID, output: output, hasFailed: r.IsError})
}
