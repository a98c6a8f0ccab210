// This file parses the reports that clients send to hooks.

package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
)

// HookReport is the JSON object that a client writes to a hook's standard input. It contains the fields of all clients.
// If clients use different names for the same field, HookReport contains the field only under the name that Claude Code
// uses.
type HookReport struct {
	EventName       string          `json:"hook_event_name"`
	SessionID       string          `json:"session_id"`
	TurnID          string          `json:"turn_id"`
	PromptID        string          `json:"prompt_id"`
	TranscriptPath  string          `json:"transcript_path"`
	AgentTranscript string          `json:"agent_transcript_path"`
	WorkingDir      string          `json:"cwd"`
	Time            time.Time       `json:"timestamp,omitzero"`
	Model           string          `json:"model"`
	AgentID         string          `json:"agent_id"`
	AgentType       string          `json:"agent_type"`
	ParentAgentID   string          `json:"parent_agent_id"`
	StartSource     string          `json:"source"`
	Reason          string          `json:"reason"`
	Prompt          string          `json:"prompt"`
	ToolName        string          `json:"tool_name"`
	ToolInput       json.RawMessage `json:"tool_input"`
	ToolResponse    json.RawMessage `json:"tool_response"`
	ToolResult      json.RawMessage `json:"tool_result"`
	ToolMetadata    json.RawMessage `json:"tool_metadata"`
	ToolUseID       string          `json:"tool_use_id"`
	CallID          string          `json:"tool_call_id"`
	ExitStatus      *int            `json:"exit_status"`
	Error           string          `json:"error"`
	LastMessage     string          `json:"last_assistant_message"`
	PromptResponse  string          `json:"prompt_response"`
	AgentText       string          `json:"text"`
	AgentTextID     string          `json:"text_id"`
	CompactSummary  string          `json:"compact_summary"`
}

// ParseHookReport parses a hook report in the form of Claude Code. ok is false if stdin is not valid JSON, or if it
// names no session. Fields of the wrong type stay empty.
func ParseHookReport(stdin []byte) (r HookReport, ok bool) {
	err := json.Unmarshal(bytes.TrimPrefix(stdin, []byte("\ufeff")), &r)
	return r, (err == nil || errors.As(err, new(*json.UnmarshalTypeError))) && r.SessionID != ""
}

// callOutcome returns the reported call's status, as transcripts of Gemini CLI and Qwen Code name it, and the data
// that these clients show for the call.
func (r *HookReport) callOutcome() (status string, displayData json.RawMessage) {
	var o struct {
		Display json.RawMessage `json:"returnDisplay"`
		Error   json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(r.ToolResponse, &o) // Ignore the error: fields that cannot be decoded stay empty.
	if len(o.Error) > 0 && string(o.Error) != "null" {
		return "error", nil
	}
	return "success", o.Display
}
