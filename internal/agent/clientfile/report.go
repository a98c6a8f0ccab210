// This file parses the reports that clients send to hooks.

package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"
)

// Report is the JSON object that a client writes to a hook's standard input. It contains the field
// names of all clients.
type Report struct {
	Event           string          `json:"hook_event_name"`
	Session         string          `json:"session_id"`
	Turn            string          `json:"turn_id"`
	PromptID        string          `json:"prompt_id"`
	Transcript      string          `json:"transcript_path"`
	AgentTranscript string          `json:"agent_transcript_path"`
	Dir             string          `json:"cwd"`
	Time            time.Time       `json:"timestamp,omitzero"`
	Model           string          `json:"model"`
	AgentID         string          `json:"agent_id"`
	AgentType       string          `json:"agent_type"`
	Parent          string          `json:"parent_agent_id"`
	Source          string          `json:"source"`
	Reason          string          `json:"reason"`
	Prompt          string          `json:"prompt"`
	Tool            string          `json:"tool_name"`
	Input           json.RawMessage `json:"tool_input"`
	Response        json.RawMessage `json:"tool_response"`
	Result          json.RawMessage `json:"tool_result"`
	Metadata        json.RawMessage `json:"tool_metadata"`
	UseID           string          `json:"tool_use_id"`
	CallID          string          `json:"tool_call_id"`
	Exit            *int            `json:"exit_status"`
	Error           string          `json:"error"`
	Last            string          `json:"last_assistant_message"`
	Said            string          `json:"prompt_response"`
	Text            string          `json:"text"`
	TextID          string          `json:"text_id"`
	Summary         string          `json:"compact_summary"`
}

// ReadReport parses a report. ok is false if stdin is not valid JSON or names no session. Fields of
// the wrong type stay empty.
func ReadReport(stdin []byte) (r Report, ok bool) {
	err := json.Unmarshal(bytes.TrimPrefix(stdin, []byte("\ufeff")), &r)
	return r, (err == nil || errors.As(err, new(*json.UnmarshalTypeError))) && r.Session != ""
}

// outcome returns the status of the reported call, in the words of the transcripts of Gemini CLI and Qwen
// Code, and the data that these clients show.
func (r *Report) outcome() (status string, shown json.RawMessage) {
	var o struct {
		Display json.RawMessage `json:"returnDisplay"`
		Error   json.RawMessage `json:"error"`
	}
	_ = json.Unmarshal(r.Response, &o) // ignore the error: unreadable fields stay empty
	if len(o.Error) > 0 && string(o.Error) != "null" {
		return "error", nil
	}
	return "success", o.Display
}
