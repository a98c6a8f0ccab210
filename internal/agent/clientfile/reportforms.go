// This file parses the hook reports of clients whose field names differ from Claude Code's field names.

package clientfile

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// cursorEventNames maps Cursor's event names to Claude Code's event names.
var cursorEventNames = map[string]string{
	"sessionStart": "SessionStart", "beforeSubmitPrompt": "UserPromptSubmit", "preToolUse": "PreToolUse",
	"postToolUse": "PostToolUse", "postToolUseFailure": "PostToolUseFailure", "afterAgentResponse": "AgentText",
	"subagentStop": "SubagentStop", "stop": "Stop", "sessionEnd": "SessionEnd",
}

// parseCursorReport parses the report that Cursor passes to a hook. Each conversation becomes a session. The
// conversation of a subagent belongs to the session of its parent conversation. A tool's output is a string, which
// often contains JSON.
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
	r.EventName = cmp.Or(cursorEventNames[r.EventName], r.EventName)
	r.SessionID = cmp.Or(in.Parent, in.Conversation, r.SessionID)
	r.WorkingDir = cmp.Or(r.WorkingDir, firstString(in.Roots))
	r.Error = cmp.Or(in.ErrorText, r.Error)
	r.AgentType = cmp.Or(in.SubagentType, r.AgentType)
	r.AgentID = cmp.Or(in.Subagent, r.AgentID, in.SubagentType)
	r.LastMessage = cmp.Or(in.Summary, r.LastMessage)
	if in.Output != "" && len(r.ToolResponse) == 0 {
		r.ToolResponse = parseJSONInString(in.Output)
		r.ExitStatus = exitStatus(r.ToolResponse)
	}
	return r, err
}

// parseGooseReport parses a hook report of Goose. The reports of Goose do not contain tool results.
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
	r.WorkingDir = in.WorkingDir
	return r, err
}

// parseVSCodeReport parses a hook report of VS Code. Only the field names for the session and the event differ from
// Claude Code's field names.
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

// clineEventNames maps Cline's event names to Claude Code's event names. A task is a session. The session's last turn
// ends when the task is completed or cancelled.
var clineEventNames = map[string]string{
	"TaskStart":    "SessionStart",
	"TaskResume":   "SessionStart",
	"TaskComplete": "Stop",
	"TaskCancel":   "Stop",
}

// parseClineReport parses a hook report of Cline. The data of each event type is in a separate member object.
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
	r := HookReport{
		EventName:  cmp.Or(clineEventNames[in.Event], in.Event),
		SessionID:  in.Task,
		Time:       parseReportTime(in.Time),
		WorkingDir: firstString(in.Roots),
		Prompt:     in.Prompt.Prompt,
	}
	call := in.After
	switch in.Event {
	case "TaskResume":
		r.StartSource = "resume"
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

// clineReportCall is a tool call in a hook report of Cline.
type clineReportCall struct {
	Tool       string          `json:"toolName"`
	Parameters json.RawMessage `json:"parameters"`
	Result     json.RawMessage `json:"result"`
	Success    *bool           `json:"success"`
}

// parseReportTime parses a time in RFC 3339, or a number of milliseconds since 1970, with or without quotes. It returns
// the zero time for any other value.
func parseReportTime(raw json.RawMessage) time.Time {
	s := strings.Trim(string(raw), `"`)
	if ms, err := strconv.ParseInt(s, 10, 64); err == nil {
		return time.UnixMilli(ms).UTC()
	}
	t, _ := time.Parse(time.RFC3339Nano, s) // Ignore the error: time.Parse returns the zero time with an error.
	return t
}

// firstString returns the first string of a list, or "" if the list is empty.
func firstString(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// parseJSONInString returns the JSON object or array that a string contains. Any other string is returned as a JSON
// string.
func parseJSONInString(s string) json.RawMessage {
	trimmed := strings.TrimSpace(s)
	isContainer := strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")
	if isContainer && json.Valid([]byte(trimmed)) {
		return json.RawMessage(trimmed)
	}
	b, err := json.Marshal(s)
	if err != nil {
		return nil // This cannot happen, because a string can always be encoded.
	}
	return b
}

// exitStatus returns the exit status in a command's result, or nil if the result contains none.
func exitStatus(result json.RawMessage) *int {
	var o struct {
		Exit *int `json:"exitCode"`
	}
	_ = json.Unmarshal(result, &o) // Ignore the error: only a JSON object contains an exit status.
	return o.Exit
}
