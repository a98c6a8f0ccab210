// This file reads transcripts of Qwen Code: ~/.qwen/projects/PROJECT/chats/SESSION.jsonl, and
// sub-agents' transcripts in PROJECT/subagents/SESSION.
//
// A line is {"uuid","sessionId","timestamp","type":"user"|"assistant"|"tool_result"|"system",
// "provenance","cwd","gitBranch","agentId","agentName","model","message":{"parts":
// [{"text","thought"},{"functionCall":{"id","name","args"}},{"functionResponse":{…}}]},
// "toolCallResult":{"callId","status","resultDisplay":{"fileDiff","filePath","newContent"}}}. The
// results of a sub-agent's calls have no resultDisplay. The prompt ID that hooks report occurs only
// in the telemetry lines after the prompt, so a prompt is held until the next telemetry line, the
// agent's answer or another prompt. A prompt that the person typed while the agent worked has the subtype
// mid_turn_user_message, and the text that the person typed is in systemPayload.displayText.
//
// Versions of 2025 stored a session as Gemini CLI did: ~/.qwen/tmp/PROJECT/chats/session-*.json, a JSON document.

package clientfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// qwenLine is a line of Qwen Code.
type qwenLine struct {
	Type       string    `json:"type"`
	Subtype    string    `json:"subtype"`
	UUID       string    `json:"uuid"`
	Session    string    `json:"sessionId"`
	Provenance string    `json:"provenance"`
	PromptID   string    `json:"promptId"`
	Time       time.Time `json:"timestamp"`
	Dir        string    `json:"cwd"`
	Branch     string    `json:"gitBranch"`
	Model      string    `json:"model"`
	AgentID    string    `json:"agentId"`
	AgentName  string    `json:"agentName"`
	Message    struct {
		Parts []qwenPart `json:"parts"`
	} `json:"message"`
	Payload json.RawMessage `json:"systemPayload"`
	Result  struct {
		CallID  string          `json:"callId"`
		Status  string          `json:"status"`
		Display json.RawMessage `json:"resultDisplay"`
	} `json:"toolCallResult"`
}

// qwenPart is a part of a message.
type qwenPart struct {
	Text    string          `json:"text"`
	Inline  json.RawMessage `json:"inlineData"`
	File    json.RawMessage `json:"fileData"`
	Thought bool            `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Answer *struct {
		ID       string `json:"id"`
		Response answer `json:"response"`
	} `json:"functionResponse"`
}

// isQwen recognizes the parts of a message, which Claude Code does not have.
func isQwen(line []byte) bool {
	var l qwenLine
	if !Decode(line, &l) {
		return false
	}
	isDocument := isGemini(line) && bytes.Contains(line, []byte("qwen"))
	isLine := l.UUID != "" && l.Session != "" && (len(l.Message.Parts) > 0 || l.Provenance != "")
	return isLine || isDocument
}

type qwen struct {
	model string
	held  *Event // prompt whose turn is not known yet, or nil
	shell personShell
}

func newQwen(path string) EventReader {
	if plain, _ := TrimCompressed(path); strings.HasSuffix(plain, ".json") {
		return newGemini(path)
	}
	return &qwen{}
}

// ReadLine implements [EventReader].
func (q *qwen) ReadLine(line []byte, offset int64, yield func(*Event)) bool {
	var l qwenLine
	if !Decode(line, &l) {
		return false
	}
	q.model = cmp.Or(l.Model, q.model)
	e := Event{Offset: offset, Time: l.Time, ID: l.UUID, Session: l.Session, Dir: l.Dir, Branch: l.Branch,
		Model: q.model, AgentID: l.AgentID, AgentName: l.AgentName}
	switch l.Type {
	case "system":
		q.system(&l, e, yield)
	case "user":
		q.user(&l, e, yield)
	case "assistant":
		q.release("", yield)
		l.message(e, yield)
	case "tool_result":
	default:
		e.reportUnknown("lines", l.Type, yield)
	}
	l.reportResults(e, yield)
	return true
}

// qwenNotes contains the subtypes of lines that are not part of the conversation, or whose text a program wrote.
var qwenNotes = wordSet(`
	agent_bootstrap agent_launch_prompt agent_retry agent_session_ready at_command attribution_snapshot
	background_task_completed branch_checkpoint cron custom_title file_history_snapshot goal_runtime goal_state
	goal_turn_end managed_session_commit_v1 managed_session_event_v1 managed_session_header_v1 notification
	omni_recall parent_session rewind session_approval_mode session_artifact_event session_artifact_snapshot
	session_execution_engine session_model session_notes session_source session_sources_snapshot slash_command
	turn_result user_text_elements`)

// release yields the held prompt. If turn is "", the prompt's own ID identifies the turn.
func (q *qwen) release(turn string, yield func(*Event)) {
	e := q.held
	if e == nil {
		return
	}
	q.held = nil
	e.Turn = cmp.Or(turn, e.Turn)
	yield(e)
}

func (q *qwen) system(l *qwenLine, e Event, yield func(*Event)) {
	switch l.Subtype {
	case "ui_telemetry":
		if q.held == nil {
			return
		}
		var p struct {
			Event struct {
				Prompt string `json:"prompt_id"`
			} `json:"uiEvent"`
		}
		if Decode(l.Payload, &p) && p.Event.Prompt != "" {
			q.release(p.Event.Prompt, yield)
		}
	case "chat_compression":
		e.Kind = EventCompacted
		yield(&e)
	default:
		if !qwenNotes[l.Subtype] {
			e.reportUnknown("system lines", l.Subtype, yield)
		}
	}
}

// isByPerson reports whether the person wrote the text in a line of type user. A line with an unknown subtype is
// reported as unknown.
func (l *qwenLine) isByPerson(e Event, yield func(*Event)) bool {
	isByProgram := l.Provenance != "" && l.Provenance != "real_user"
	switch l.Subtype {
	case "", "mid_turn_user_message", "realtime_message":
		return !isByProgram
	}
	if !qwenNotes[l.Subtype] {
		e.reportUnknown("user lines", l.Subtype, yield)
	}
	return false
}

// user reads a text in the person's name.
func (q *qwen) user(l *qwenLine, e Event, yield func(*Event)) {
	if !l.isByPerson(e, yield) {
		return
	}
	e.Text, _ = l.textAndThought()
	if q.shell.report(e, e.Text, yield) {
		return
	}
	var payload struct {
		Typed string `json:"displayText"`
	}
	_ = Decode(l.Payload, &payload) // other versions have no payload
	e.Text = cmp.Or(payload.Typed, e.Text)
	if files := l.attachmentNames(); e.Text == "" {
		e.Text = strings.Join(files, " ")
	} else {
		e.reportLeftOut(leftFiles, len(files), yield)
	}
	if e.Text == "" {
		return // a line without text contains only results
	}
	e.Kind, e.Turn = EventPrompt, cmp.Or(l.PromptID, l.UUID)
	q.release("", yield) // the person wrote again before the agent answered
	if l.AgentID != "" || l.PromptID != "" {
		yield(&e)
		return
	}
	q.held = &e
}

// End implements [Ender]. The turn of the prompt is not known, because a line that the client has not written yet may
// name it.
func (q *qwen) End(yield func(*Event)) {
	if q.held != nil {
		q.held.Turn = ""
	}
	q.release("", yield)
}

// attachmentNames returns "[file]" for each file that the person attached.
func (l *qwenLine) attachmentNames() (names []string) {
	for i := range l.Message.Parts {
		if p := &l.Message.Parts[i]; p.Inline != nil || p.File != nil {
			names = append(names, "[file]")
		}
	}
	return names
}

// textAndThought returns the line's text and its reasoning.
func (l *qwenLine) textAndThought() (text, thought string) {
	var said, thoughts []byte
	for i := range l.Message.Parts {
		if p := &l.Message.Parts[i]; p.Thought {
			thoughts = append(thoughts, p.Text...)
		} else {
			said = append(said, p.Text...)
		}
	}
	return string(said), string(thoughts)
}

// message yields the reasoning, the text and the calls of a message by the agent.
func (l *qwenLine) message(e Event, yield func(*Event)) {
	text, thought := l.textAndThought()
	e.Kind, e.Text = EventThought, thought
	if e.Text != "" {
		yield(&e)
	}
	e.Kind, e.Text = EventText, text
	if e.Text != "" {
		yield(&e)
	}
	e.Kind, e.Text = EventCall, ""
	for i := range l.Message.Parts {
		if call := l.Message.Parts[i].Call; call != nil {
			e.ID = call.ID
			e.Tool = call.Name
			e.Args = call.Args
			yield(&e)
		}
	}
}

// reportResults yields the results of calls in a line.
func (l *qwenLine) reportResults(e Event, yield func(*Event)) {
	r := &l.Result
	e.Kind = EventResult
	for i := range l.Message.Parts {
		answer := l.Message.Parts[i].Answer
		if answer == nil {
			continue
		}
		e.ID = cmp.Or(answer.ID, r.CallID)
		e.Failed = (r.Status != "success" && r.Status != "") || answer.Response.Error != ""
		e.output = answer.Response.Output + answer.Response.Error
		e.Shown = r.Display
		var shown struct {
			Exit *int `json:"exitCode"`
		}
		_ = Decode(r.Display, &shown) // a text contains no exit status
		e.Exit = shown.Exit
		yield(&e)
	}
}

// qwenAnswer returns the line for the result of a call.
func qwenAnswer(r *Report, id string) any {
	status, shown := r.outcome()
	response := map[string]any{"functionResponse": map[string]any{"id": id}}
	return map[string]any{
		"type":           "tool_result",
		"sessionId":      r.Session,
		"cwd":            r.Dir,
		"message":        map[string]any{"parts": []any{response}},
		"toolCallResult": map[string]any{"callId": id, "status": status, "resultDisplay": shown},
	}
}
