// This file defines the lines in the transcripts of each client, with the fields that some caller uses.

package clientfile

import (
	"encoding/json"
	"time"
)

// Claude is a line of Claude Code.
type Claude struct {
	Type    string `json:"type"`
	UUID    string `json:"uuid"`
	Parent  string `json:"parentUuid"`
	Logical string `json:"logicalParentUuid"` // parent of the line across a compaction
	Session string `json:"sessionId"`
	Dir     string `json:"cwd"`
	Branch  string `json:"gitBranch"`
	Prompt  string `json:"promptId"`
	Source  string `json:"promptSource"`
	Origin  struct {
		Kind string `json:"kind"` // "human", or the program that wrote the text in the person's name
	} `json:"origin"`
	Agent     string    `json:"agentId"`
	AgentType string    `json:"attributionAgent"`
	Time      time.Time `json:"timestamp"`
	Sidechain bool      `json:"isSidechain"`
	Meta      bool      `json:"isMeta"`
	Summary   bool      `json:"isCompactSummary"`
	Message   struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Result   json.RawMessage `json:"toolUseResult"`
	Position json.RawMessage `json:"turnPosition"`
}

// ClaudeBlock is a part of a message's content.
type ClaudeBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	UseID    string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

// Codex is a line of Codex. Lines from before September 2025 consist only of the payload.
type Codex struct {
	Type    string          `json:"type"`
	Time    time.Time       `json:"timestamp"`
	Payload json.RawMessage `json:"payload"`
}

// CodexItem is the payload of a line, or the item in the payload.
type CodexItem struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	Session     string          `json:"session_id"`
	Forked      string          `json:"forked_from_id"`
	Turn        string          `json:"turn_id"`
	Role        string          `json:"role"`
	Dir         string          `json:"cwd"`
	Model       string          `json:"model"`
	AgentRole   string          `json:"agent_role"`
	AgentName   string          `json:"agent_nickname"`
	Source      json.RawMessage `json:"source"`
	Message     string          `json:"message"`
	Text        string          `json:"text"`
	Content     json.RawMessage `json:"content"`
	Summary     json.RawMessage `json:"summary"`
	SummaryText []string        `json:"summary_text"`
	CallID      string          `json:"call_id"`
	Name        string          `json:"name"`
	Namespace   string          `json:"namespace"`
	Arguments   string          `json:"arguments"`
	Input       string          `json:"input"`
	Action      json.RawMessage `json:"action"`
	Output      json.RawMessage `json:"output"`
	Exit        *int            `json:"exit_code"`
	Success     *bool           `json:"success"`
	Status      string          `json:"status"`
	Item        json.RawMessage `json:"item"`
	Changes     json.RawMessage `json:"changes"`
	Git         struct {
		Branch string `json:"branch"`
	} `json:"git"`
}
