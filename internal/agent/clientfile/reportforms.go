// This file reads the reports of clients that name their fields in another way than Claude Code.

package clientfile

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// cursorEvents maps Cursor's events to those of Claude Code.
var cursorEvents = map[string]string{
	"sessionStart": "SessionStart", "beforeSubmitPrompt": "UserPromptSubmit", "preToolUse": "PreToolUse",
	"postToolUse": "PostToolUse", "postToolUseFailure": "PostToolUseFailure", "afterAgentResponse": "AgentText",
	"subagentStop": "SubagentStop", "stop": "Stop", "sessionEnd": "SessionEnd",
}

// parseCursorReport parses a report of Cursor. A conversation is a session. The ID of a generation is ignored, because
// Cursor's files do not have it. The output of a tool is a string that often contains JSON.
func parseCursorReport(stdin []byte) (HookReport, error) {
	var in struct {
		HookReport
		Conversation string   `json:"conversation_id"`
		Parent       string   `json:"parent_conversation_id"`
		Roots        []string `json:"workspace_roots"`
		Output       string   `json:"tool_output"`
		ErrorText    string   `json:"error_message"`
		Subagent     string   `json:"subagent_id"`
		SubagentType string   `json:"subagent_type"`
		Summary      string   `json:"summary"`
	}
	err := json.Unmarshal(stdin, &in)
	r := in.HookReport
	r.EventName = cmp.Or(cursorEvents[r.EventName], r.EventName)
	r.SessionID = cmp.Or(in.Parent, in.Conversation, r.SessionID)
	r.Dir = cmp.Or(r.Dir, firstString(in.Roots))
	r.Error = cmp.Or(in.ErrorText, r.Error)
	r.AgentType = cmp.Or(in.SubagentType, r.AgentType)
	r.AgentID = cmp.Or(in.Subagent, r.AgentID, in.SubagentType)
	r.LastMessage = cmp.Or(in.Summary, r.LastMessage)
	if in.Output != "" && len(r.ToolResponse) == 0 {
		r.ToolResponse = jsonInString(in.Output)
		r.ExitStatus = exitStatus(r.ToolResponse)
	}
	return r, err
}

// parseGooseReport parses a report of Goose. It contains no result of a tool.
func parseGooseReport(stdin []byte) (HookReport, error) {
	var in struct {
		HookReport
		GooseEvent string `json:"event"`
		Message    string `json:"message"`
		WorkingDir string `json:"working_dir"`
	}
	err := json.Unmarshal(stdin, &in)
	r := in.HookReport
	r.EventName = in.GooseEvent
	r.Prompt = in.Message
	r.Dir = in.WorkingDir
	return r, err
}

// parseVSCodeReport parses a report of VS Code, which has other names only for the session and the event.
func parseVSCodeReport(stdin []byte) (HookReport, error) {
	var in struct {
		HookReport
		VSCodeEvent   string `json:"hookEventName"`
		VSCodeSession string `json:"sessionId"`
	}
	err := json.Unmarshal(stdin, &in)
	r := in.HookReport
	r.EventName = cmp.Or(in.VSCodeEvent, r.EventName)
	r.SessionID = cmp.Or(in.VSCodeSession, r.SessionID)
	return r, err
}

// clineEvents maps Cline's events to those of Claude Code. A task is a session. Its last turn ends when it is
// completed or cancelled.
var clineEvents = map[string]string{"TaskStart": "SessionStart", "TaskResume": "SessionStart", "TaskComplete": "Stop",
	"TaskCancel": "Stop"}

// parseClineReport parses a report of Cline, in which each event has an object of its own.
func parseClineReport(stdin []byte) (HookReport, error) {
	var in struct {
		Event  string          `json:"hookName"`
		Task   string          `json:"taskId"`
		Time   json.RawMessage `json:"timestamp"`
		Roots  []string        `json:"workspaceRoots"`
		Prompt struct {
			Prompt string `json:"prompt"`
		} `json:"userPromptSubmit"`
		Before clineReportCall `json:"preToolUse"`
		After  clineReportCall `json:"postToolUse"`
	}
	err := json.Unmarshal(stdin, &in)
	r := HookReport{EventName: cmp.Or(clineEvents[in.Event], in.Event), SessionID: in.Task, Time: reportTime(in.Time),
		Dir: firstString(in.Roots), Prompt: in.Prompt.Prompt}
	call := in.After
	switch in.Event {
	case "TaskResume":
		r.Source = "resume"
	case "PreToolUse":
		call = in.Before
	case "PostToolUse":
		if call.Success != nil && !*call.Success {
			r.EventName, r.Error = "PostToolUseFailure", ContentText(call.Result)
		}
	}
	r.ToolName = call.Tool
	r.ToolInput = call.Parameters
	r.ToolResponse = call.Result
	return r, err
}

// clineReportCall is a call of a tool in a report of Cline.
type clineReportCall struct {
	Tool       string          `json:"toolName"`
	Parameters json.RawMessage `json:"parameters"`
	Result     json.RawMessage `json:"result"`
	Success    *bool           `json:"success"`
}

// reportTime returns a time that is written as RFC 3339, or as the number of milliseconds since 1970, which may be in
// quotes. It returns the zero time for any other value.
func reportTime(raw json.RawMessage) time.Time {
	s := strings.Trim(string(raw), `"`)
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(ms).UTC()
	}
	t, _ := time.Parse(time.RFC3339Nano, s) // an unreadable time is the zero time
	return t
}

// firstString returns the first of several strings, or "".
func firstString(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// jsonInString returns the JSON object or array in a string. If the string contains no such value, it returns the
// string as JSON.
func jsonInString(s string) json.RawMessage {
	trimmed := strings.TrimSpace(s)
	isContainer := strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
	if isContainer && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil // a string can always be encoded
	}
	return b
}

// exitStatus returns the exit status in the result of a command, or nil if the result has none.
func exitStatus(result json.RawMessage) *int {
	var o struct {
		Exit *int `json:"exitCode"`
	}
	_ = json.Unmarshal(result, &o) // a result of another form has no exit status
	return o.Exit
}
