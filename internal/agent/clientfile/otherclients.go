// This file reads the sessions of clients that store messages in nearly the same forms: pi, OpenClaw, Amp, Crush and
// Hermes. The formats come from these public sources:
//
//   - pi and OpenClaw: session-manager.ts (commit 0507789f) and messages.ts (commit 288f0d28) in
//     packages/coding-agent/src/core in badlogic/pi-mono, and internal/parser/pi.go in kenn-io/agentsview. OpenClaw
//     uses pi's sessions.
//   - Amp: internal/parser/amp.go in kenn-io/agentsview
//   - Crush: internal/message/content.go and internal/db/migrations in charmbracelet/crush
//   - Hermes: internal/parser/hermes.go in kenn-io/agentsview

package clientfile

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// piReader reads sessions/PROJECT/TIME_ID.jsonl. The first line is {"type":"session","id","timestamp","cwd"}. A line
// {"type":"message","id","parentId","timestamp","message":{"role","content","model","toolCallId","isError"}} has
// the role user, assistant, toolResult or bashExecution (a command that the person ran). A compaction has the
// type compaction and a summary. Other types are states of the program, or text that extensions insert.
type piReader struct{ sessionID, workingDir, model string }

func newPiReader(path string) EventReader {
	name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
	if _, id, ok := strings.Cut(name, "_"); ok {
		name = id
	}
	return &piReader{sessionID: name}
}

type piLine struct {
	Type       string          `json:"type"`
	ID         string          `json:"id"`
	Parent     string          `json:"parentId"`
	Time       json.RawMessage `json:"timestamp"`
	WorkingDir string          `json:"cwd"`
	Model      string          `json:"modelId"`
	Summary    string          `json:"summary"`
	Content    json.RawMessage `json:"content"`
	Message    struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Model   string          `json:"model"`
		CallID  string          `json:"toolCallId"`
		Failed  bool            `json:"isError"`
		Command string          `json:"command"`
		Output  string          `json:"output"`
		Exit    *int            `json:"exitCode"`
	} `json:"message"`
}

// isPiLine recognizes the first line of a session.
func isPiLine(line []byte) bool {
	var l piLine
	return DecodeObject(line, &l) && l.Type == "session" && l.WorkingDir != ""
}

// ParseLine implements [EventReader].
func (p *piReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l piLine
	if !parseObject(line, &l) {
		return false
	}
	switch {
	case l.Type == "session":
		p.workingDir = l.WorkingDir
		if l.ID != "" {
			p.sessionID = l.ID
		}
	case l.Model != "":
		p.model = l.Model
	case l.Message.Model != "":
		p.model = l.Message.Model
	}
	m := messageReporter{
		yieldEvent: yield,
		Event: Event{Offset: offset, Session: p.sessionID, WorkingDir: p.workingDir, Model: p.model,
			NodeID: l.ID, ParentNodeID: l.Parent},
	}
	m.beginMessage(l.ID, parseTime(l.Time))
	switch l.Type {
	case "compaction":
		m.reportText(EventConversationCompacted, l.Summary)
	case "custom_message":
		m.reportText(noEventKind, ContentText(l.Content))
	case "message":
		switch l.Message.Role {
		case "toolResult":
			m.reportResult(
				callResult{id: l.Message.CallID, output: ContentText(l.Message.Content), hasFailed: l.Message.Failed},
			)
		case "bashExecution":
			args, _ := json.Marshal(map[string]string{"command": l.Message.Command})
			m.reportCall(l.ID, PersonShellTool, args)
			m.reportResult(callResult{id: l.ID, output: l.Message.Output, exitStatus: l.Message.Exit})
		default:
			m.reportBlocks(l.Message.Role, l.Message.Content, returnUnchangedText)
		}
	default:
		if !piStates()[l.Type] {
			m.Event.reportUnknownPart("lines", l.Type, yield)
		}
	}
	return true
}

// piStates contains the types of lines that store pi's own state, such as a model change, or texts that its extensions
// inserted. Such lines contain no text by the person or the agent.
var piStates = lazyWordSet(`
	active_tools_change branch_summary custom label leaf model_change session session_info thinking_level_change`)

// ampReader reads Amp's threads, threads/T-ID.json, each of which is
// {"id","created","env":{"initial":{"trees":[{"uri"}]}},"messages":[{"role","messageId","content",
// "meta":{"sentAt"},"usage":{"model","timestamp"}}]}. Results of tools have the form
// {"type":"tool_result","toolUseID","run":{"status","result","error"}}.
type ampReader struct{}

func newAmpReader(string) EventReader { return ampReader{} }

type ampThread struct {
	ID      string          `json:"id"`
	Created json.RawMessage `json:"created"`
	Env     struct {
		Initial struct {
			Trees []struct {
				URI string `json:"uri"`
			} `json:"trees"`
		} `json:"initial"`
	} `json:"env"`
	Messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Meta    struct {
			Sent json.RawMessage `json:"sentAt"`
		} `json:"meta"`
		Usage struct {
			Model string          `json:"model"`
			Time  json.RawMessage `json:"timestamp"`
		} `json:"usage"`
	} `json:"messages"`
}

// isAmpThread recognizes a whole thread of Amp.
func isAmpThread(line []byte) bool {
	var t struct {
		ID       string          `json:"id"`
		Created  json.RawMessage `json:"created"`
		Messages json.RawMessage `json:"messages"`
	}
	return DecodeObject(line, &t) && strings.HasPrefix(t.ID, "T-") && t.Created != nil && t.Messages != nil
}

// ParseLine implements [EventReader]. Amp stores a whole conversation as one JSON document, so the line is the whole
// file.
func (ampReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var t ampThread
	if !parseObject(line, &t) || t.ID == "" {
		return false
	}
	m := messageReporter{yieldEvent: yield, Event: Event{Offset: offset, Session: t.ID, Time: parseTime(t.Created)}}
	if len(t.Env.Initial.Trees) > 0 {
		m.WorkingDir = fileURLPath(t.Env.Initial.Trees[0].URI)
	}
	for i, message := range t.Messages {
		at := parseTime(message.Meta.Sent)
		if at.IsZero() {
			at = parseTime(message.Usage.Time)
		}
		m.RecordName = recordName("messages", i)
		m.beginNumberedMessage(i, at)
		if message.Usage.Model != "" {
			m.Model = message.Usage.Model
		}
		m.reportBlocks(message.Role, message.Content, returnUnchangedText)
	}
	return true
}

// crushReader reads the database .crush/crush.db of a project (see database.go). [Open] returns a session of the
// database as the JSON document
// {"crush":{"id","parent_session_id"},"dir","messages":[{"id","role","parts":[{"type","data"}],"model",
// "created_at","is_summary_message"}]}. A part has the type text, reasoning, tool_call, tool_result or shell_command (a
// command that the person ran).
type crushReader struct{}

func newCrushReader(string) EventReader { return crushReader{} }

type crushDocument struct {
	Row struct {
		ID     string `json:"id"`
		Parent string `json:"parent_session_id"`
	} `json:"crush"`
	Dir      string `json:"dir"`
	Messages []struct {
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Created json.RawMessage `json:"created_at"`
		Summary int             `json:"is_summary_message"`
		Parts   []struct {
			Type string `json:"type"`
			Data struct {
				Text     string          `json:"text"`
				Hidden   bool            `json:"hidden"`
				Thinking string          `json:"thinking"`
				ID       string          `json:"id"`
				Name     string          `json:"name"`
				Input    json.RawMessage `json:"input"`
				CallID   string          `json:"tool_call_id"`
				Content  string          `json:"content"`
				Failed   bool            `json:"is_error"`
				Command  string          `json:"command"`
				Output   string          `json:"output"`
				Exit     *int            `json:"exit_code"`
			} `json:"data"`
		} `json:"parts"`
	} `json:"messages"`
}

// isCrushDocument recognizes a session document that database.go made.
func isCrushDocument(line []byte) bool {
	var d crushDocument
	return DecodeObject(line, &d) && d.Row.ID != ""
}

// ParseLine implements [EventReader]. The line is a whole session.
func (crushReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var d crushDocument
	if !parseObject(line, &d) || d.Row.ID == "" {
		return false
	}
	m := messageReporter{yieldEvent: yield, Event: Event{Offset: offset, Session: d.Row.ID, WorkingDir: d.Dir}}
	if d.Row.Parent != "" {
		m.Session, m.AgentID = d.Row.Parent, "sub-agent"
	}
	for i, message := range d.Messages {
		m.RecordName = recordName("messages", i)
		m.beginMessage(message.ID, parseTime(message.Created))
		m.Model = message.Model
		if !crushRoles()[message.Role] {
			m.Event.reportUnknownPart("messages", message.Role, yield)
			continue
		}
		for _, p := range message.Parts {
			kind := crushTextKind(message.Role, message.Summary, p.Data.Hidden)
			switch p.Type {
			case "text":
				m.reportText(kind, p.Data.Text)
			case "reasoning":
				m.reportText(EventAgentThought, p.Data.Thinking)
			case "tool_call":
				m.reportCall(p.Data.ID, p.Data.Name, p.Data.Input)
			case "tool_result":
				m.reportResult(callResult{id: p.Data.CallID, output: p.Data.Content, hasFailed: p.Data.Failed})
			case "shell_command":
				args, _ := json.Marshal(map[string]string{"command": p.Data.Command})
				m.reportCall(message.ID, PersonShellTool, args)
				m.reportResult(callResult{id: message.ID, output: p.Data.Output, exitStatus: p.Data.Exit})
			case "image_url", "binary":
				m.Event.reportNonTextParts(nonTextFilesText, 1, yield)
			case "finish": // This part contains only the reason why the message ended.
			default:
				m.Event.reportUnknownPart("parts", p.Type, yield)
			}
		}
	}
	return true
}

// crushTextKind returns the event kind for a text in a message of Crush. summaryFlag is not 0 if the message is a
// summary that replaces older messages of the conversation.
func crushTextKind(role string, summaryFlag int, isHidden bool) EventKind {
	switch {
	case summaryFlag != 0:
		return EventConversationCompacted
	case isHidden:
		return noEventKind
	case role == "user":
		return EventPrompt
	}
	return EventText
}

// crushRoles contains the roles of messages in Crush.
var crushRoles = lazyWordSet("assistant system tool user")

// hermesReader reads the database state.db of Hermes (see database.go), and its older files sessions/SESSION.jsonl.
// [Open] returns a session of the database as the JSON document {"hermes":{"id","model","cwd"},"messages":[…]}. A
// message, or a line in a file, is {"role","content","tool_calls","tool_call_id","timestamp"} in the form of OpenAI's
// API, where tool_calls is [{"id","function":{"name","arguments"}}]. The first line of a file has the role
// session_meta.
type hermesReader struct {
	sessionID, model string
	messageCount     int
}

func newHermesReader(path string) EventReader {
	return &hermesReader{sessionID: strings.TrimSuffix(filepath.Base(path), ".jsonl")}
}

type hermesLine struct {
	Row struct {
		ID    string `json:"id"`
		Model string `json:"model"`
		Dir   string `json:"cwd"`
	} `json:"hermes"`
	Messages []hermesMessage `json:"messages"`
	hermesMessage
}

type hermesMessage struct {
	Role      string          `json:"role"`
	Model     string          `json:"model"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning"`
	Time      json.RawMessage `json:"timestamp"`
	CallID    string          `json:"tool_call_id"`
	ToolCalls json.RawMessage `json:"tool_calls"`
}

// isHermesLine reports whether a line is the first line of a session file of Hermes, or a session document that oxbow
// made from Hermes's database.
func isHermesLine(line []byte) bool {
	var d struct {
		Row  json.RawMessage `json:"hermes"`
		Role string          `json:"role"`
	}
	return DecodeObject(line, &d) && (d.Row != nil || d.Role == "session_meta")
}

// ParseLine implements [EventReader].
func (h *hermesReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l hermesLine
	if !parseObject(line, &l) {
		return false
	}
	if l.Row.ID != "" {
		h.sessionID, h.model = l.Row.ID, l.Row.Model
	}
	if l.Role == "session_meta" {
		h.model = l.Model
	}
	m := messageReporter{
		yieldEvent: yield,
		Event:      Event{Offset: offset, Session: h.sessionID, WorkingDir: l.Row.Dir, Model: h.model},
	}
	messages := l.Messages
	if l.Role != "" {
		messages = append(messages, l.hermesMessage)
	}
	for i := range messages {
		if l.Messages != nil {
			m.RecordName = recordName("messages", i)
		}
		h.messageCount++
		m.beginNumberedMessage(h.messageCount, parseTime(messages[i].Time))
		messages[i].reportEvents(&m)
	}
	return true
}

// hermesSummaryPrefix begins the text with which Hermes replaces a compacted part of the conversation.
const hermesSummaryPrefix = "[CONTEXT COMPACTION"

// reportEvents reports the texts, the tool calls or the call's result in a message. The content of a message by the
// user may also be the summary of a compacted conversation.
func (h *hermesMessage) reportEvents(m *messageReporter) {
	content := ContentText(h.Content)
	switch h.Role {
	case "user":
		kind := EventPrompt
		if strings.HasPrefix(content, hermesSummaryPrefix) {
			kind = EventConversationCompacted
		}
		m.reportText(kind, content)
	case "assistant":
		m.reportText(EventAgentThought, h.Reasoning)
		m.reportText(EventText, content)
		var calls []struct {
			ID       string `json:"id"`
			Function struct {
				Name string          `json:"name"`
				Args json.RawMessage `json:"arguments"`
			} `json:"function"`
		}
		_ = json.Unmarshal(embeddedJSON(h.ToolCalls), &calls) // Ignore the error: most messages lack tool calls.
		for _, c := range calls {
			m.reportCall(c.ID, c.Function.Name, c.Function.Args)
		}
	case "tool":
		m.reportResult(callResult{id: h.CallID, output: content})
	case "session_meta", "system", "developer":
	default:
		m.Event.reportUnknownPart("messages", h.Role, m.yieldEvent)
	}
}
