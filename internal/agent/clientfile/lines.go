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
