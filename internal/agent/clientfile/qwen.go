// This file reads transcripts of Qwen Code: ~/.qwen/projects/PROJECT/chats/SESSION.jsonl, and
// sub-agents' transcripts in PROJECT/subagents/SESSION.
//
// A line is {"uuid","sessionId","timestamp","type":"user"|"assistant"|"tool_result"|"system",
// "provenance","cwd","gitBranch","agentId","agentName","model","message":{"parts":
// [{"text","thought"},{"functionCall":{"id","name","args"}},{"functionResponse":{…}}]},
// "toolCallResult":{"callId","status","resultDisplay":{"fileDiff","filePath","newContent"}}}. The results of a
// sub-agent's calls lack resultDisplay. The prompt ID that hooks report occurs only in the telemetry lines after the
// prompt, so a prompt is held until the next telemetry line, the agent's answer or another prompt. A prompt that the
// person typed while the agent worked has the subtype mid_turn_user_message, and the text that the person typed is in
// systemPayload.displayText.
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

// qwenLine is a line of a Qwen Code transcript.
type qwenLine struct {
	Type       string    `json:"type"`
	Subtype    string    `json:"subtype"`
	UUID       string    `json:"uuid"`
	Session    string    `json:"sessionId"`
	Provenance string    `json:"provenance"`
	PromptID   string    `json:"promptId"`
	Time       time.Time `json:"timestamp"`
	WorkingDir string    `json:"cwd"`
	Branch     string    `json:"gitBranch"`
	Model      string    `json:"model"`
	AgentID    string    `json:"agentId"`
	AgentName  string    `json:"agentName"`
	Message    struct {
		Parts []qwenPart `json:"parts"`
	} `json:"message"`
	SystemPayload json.RawMessage `json:"systemPayload"`
	Result        struct {
		CallID  string          `json:"callId"`
		Status  string          `json:"status"`
		Display json.RawMessage `json:"resultDisplay"`
	} `json:"toolCallResult"`
}

// qwenPart is a part of a message, such as a text, a call or a result.
type qwenPart struct {
	Text         string          `json:"text"`
	InlineData   json.RawMessage `json:"inlineData"`
	FileData     json.RawMessage `json:"fileData"`
	IsThought    bool            `json:"thought"`
	FunctionCall *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	FunctionResponse *struct {
		ID       string       `json:"id"`
		Response toolResponse `json:"response"`
	} `json:"functionResponse"`
}

// isQwenLine reports whether a line may come from a transcript of Qwen Code. It accepts a message that consists of
// parts or has a provenance. Claude Code, whose lines are similar, does not use parts. It also accepts a whole session
// in one JSON document. Old versions of Qwen Code wrote such documents in the format of Gemini CLI.
func isQwenLine(line []byte) bool {
	var l qwenLine
	if !DecodeObject(line, &l) {
		return false
	}
	isDocument := isGeminiLine(line) && bytes.Contains(line, []byte("qwen"))
	isLine := l.UUID != "" && l.Session != "" && (len(l.Message.Parts) > 0 || l.Provenance != "")
	return isLine || isDocument
}

type qwenReader struct {
	model          string
	heldPrompt     *Event // last prompt, as long as its turn is not known (nil without such a prompt)
	personCommands personCommandReporter
}

func newQwenReader(path string) EventReader {
	if plain, _ := TrimCompressedSuffix(path); strings.HasSuffix(plain, ".json") {
		return newGeminiReader(path)
	}
	return &qwenReader{}
}

// ParseLine implements [EventReader].
func (q *qwenReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l qwenLine
	if !DecodeObject(line, &l) {
		return false
	}
	q.model = cmp.Or(l.Model, q.model)
	e := Event{Offset: offset, Time: l.Time, ID: l.UUID, Session: l.Session, WorkingDir: l.WorkingDir, Branch: l.Branch,
		Model: q.model, AgentID: l.AgentID, AgentName: l.AgentName}
	switch l.Type {
	case "system":
		q.readSystemLine(&l, e, yield)
	case "user":
		q.readUserText(&l, e, yield)
	case "assistant":
		q.reportHeldPrompt("", yield)
		l.reportMessage(e, yield)
	case "tool_result":
	default:
		e.reportUnknownPart("lines", l.Type, yield)
	}
	l.reportCallResults(e, yield)
	return true
}

// qwenIgnoredSubtypes contains the subtypes of lines that are not reported. Such a line is not part of the
// conversation, or a program wrote its text.
var qwenIgnoredSubtypes = lazyWordSet(`
	agent_bootstrap agent_launch_prompt agent_retry agent_session_ready at_command attribution_snapshot
	background_task_completed branch_checkpoint cron custom_title file_history_snapshot goal_runtime goal_state
	goal_turn_end managed_session_commit_v1 managed_session_event_v1 managed_session_header_v1 notification
	omni_recall parent_session rewind session_approval_mode session_artifact_event session_artifact_snapshot
	session_execution_engine session_model session_notes session_source session_sources_snapshot slash_command
	turn_result user_text_elements`)

// reportHeldPrompt reports the last prompt, which was kept back until a later line names its turn. If no line named the
// turn, turnID is "", and the prompt keeps the turn ID that it has.
func (q *qwenReader) reportHeldPrompt(turnID string, yield func(*Event)) {
	e := q.heldPrompt
	if e == nil {
		return
	}
	q.heldPrompt = nil
	e.TurnID = cmp.Or(turnID, e.TurnID)
	yield(e)
}

// readSystemLine reads a line of type system. A telemetry line can name the turn of the prompt that is kept back, which
// is then reported. A line about a compaction is reported as an event.
func (q *qwenReader) readSystemLine(l *qwenLine, e Event, yield func(*Event)) {
	switch l.Subtype {
	case "ui_telemetry":
		if q.heldPrompt == nil {
			return
		}
		var p struct {
			Event struct {
				Prompt string `json:"prompt_id"`
			} `json:"uiEvent"`
		}
		if DecodeObject(l.SystemPayload, &p) && p.Event.Prompt != "" {
			q.reportHeldPrompt(p.Event.Prompt, yield)
		}
	case "chat_compression":
		e.Kind = EventConversationCompacted
		yield(&e)
	default:
		if !qwenIgnoredSubtypes()[l.Subtype] {
			e.reportUnknownPart("system lines", l.Subtype, yield)
		}
	}
}

// isWrittenByPerson reports whether the person wrote the text of a user line. The result is false if the line's
// provenance is a program, or if its subtype is in qwenIgnoredSubtypes. A line with an unknown subtype is reported to
// yield as an unknown part, and the result is false.
func (l *qwenLine) isWrittenByPerson(e Event, yield func(*Event)) bool {
	isByProgram := l.Provenance != "" && l.Provenance != "real_user"
	switch l.Subtype {
	case "", "mid_turn_user_message", "realtime_message":
		return !isByProgram
	}
	if !qwenIgnoredSubtypes()[l.Subtype] {
		e.reportUnknownPart("user lines", l.Subtype, yield)
	}
	return false
}

// readUserText reads a line that the transcript attributes to the person. If the line does not name the turn of the
// prompt, the prompt is kept back until a later line names the turn.
func (q *qwenReader) readUserText(l *qwenLine, e Event, yield func(*Event)) {
	if !l.isWrittenByPerson(e, yield) {
		return
	}
	e.Text, _ = l.textAndThought()
	if q.personCommands.reportShellText(e, e.Text, yield) {
		return
	}
	var payload struct {
		Typed string `json:"displayText"`
	}
	// Ignore the error: some versions of Qwen Code write no payload. The line then contains the text that the person
	// typed.
	_ = DecodeObject(l.SystemPayload, &payload)
	e.Text = cmp.Or(payload.Typed, e.Text)
	if files := l.attachmentNames(); e.Text == "" {
		e.Text = strings.Join(files, " ")
	} else {
		e.reportNonTextParts(nonTextFilesText, len(files), yield)
	}
	if e.Text == "" {
		return // A message without text contains only results of tool calls.
	}
	e.Kind, e.TurnID = EventPrompt, cmp.Or(l.PromptID, l.UUID)
	// Report the earlier prompt, which was kept back. The agent did not answer it before the person wrote this prompt.
	q.reportHeldPrompt("", yield)
	if l.AgentID != "" || l.PromptID != "" {
		yield(&e)
		return
	}
	q.heldPrompt = &e
}

// FlushEvents implements [EventFlusher]. It reports the last prompt if that prompt was kept back until a later line
// names the prompt's turn. The reported prompt has an empty TurnID, because the line that names the turn may not have
// been written yet.
func (q *qwenReader) FlushEvents(yield func(*Event)) {
	if q.heldPrompt != nil {
		q.heldPrompt.TurnID = ""
	}
	q.reportHeldPrompt("", yield)
}

// attachmentNames returns "[file]" for each file that the person attached.
func (l *qwenLine) attachmentNames() (names []string) {
	for i := range l.Message.Parts {
		if p := &l.Message.Parts[i]; p.InlineData != nil || p.FileData != nil {
			names = append(names, "[file]")
		}
	}
	return names
}

// textAndThought returns the line's visible text and its reasoning, separately.
func (l *qwenLine) textAndThought() (text, thought string) {
	var said, thoughts []byte
	for i := range l.Message.Parts {
		if p := &l.Message.Parts[i]; p.IsThought {
			thoughts = append(thoughts, p.Text...)
		} else {
			said = append(said, p.Text...)
		}
	}
	return string(said), string(thoughts)
}

// reportMessage reports the reasoning, the text and the calls in a message of the agent.
func (l *qwenLine) reportMessage(e Event, yield func(*Event)) {
	text, thought := l.textAndThought()
	e.Kind, e.Text = EventAgentThought, thought
	if e.Text != "" {
		yield(&e)
	}
	e.Kind, e.Text = EventText, text
	if e.Text != "" {
		yield(&e)
	}
	e.Kind, e.Text = EventToolCall, ""
	for i := range l.Message.Parts {
		if call := l.Message.Parts[i].FunctionCall; call != nil {
			e.ID = call.ID
			e.ToolName = call.Name
			e.Args = call.Args
			yield(&e)
		}
	}
}

// reportCallResults reports the results of calls in a line.
func (l *qwenLine) reportCallResults(e Event, yield func(*Event)) {
	r := &l.Result
	e.Kind = EventToolResult
	for i := range l.Message.Parts {
		answer := l.Message.Parts[i].FunctionResponse
		if answer == nil {
			continue
		}
		e.ID = cmp.Or(answer.ID, r.CallID)
		e.HasFailed = (r.Status != "success" && r.Status != "") || answer.Response.Error != ""
		e.decodedResultText = answer.Response.Output + answer.Response.Error
		e.ResultDisplayData = r.Display
		var shown struct {
			Exit *int `json:"exitCode"`
		}
		_ = DecodeObject(r.Display, &shown) // Ignore the error: only a JSON object contains an exit status.
		e.ExitStatus = shown.Exit
		yield(&e)
	}
}

// makeQwenResultLine converts a hook's report about a call's result to the line that Qwen Code will write into the
// transcript. The callID identifies the call in the transcript.
func makeQwenResultLine(r *HookReport, callID string) any {
	status, shown := r.callOutcome()
	response := map[string]any{"functionResponse": map[string]any{"id": callID}}
	return map[string]any{
		"type":           "tool_result",
		"sessionId":      r.SessionID,
		"cwd":            r.WorkingDir,
		"message":        map[string]any{"parts": []any{response}},
		"toolCallResult": map[string]any{"callId": callID, "status": status, "resultDisplay": shown},
	}
}
