// This file reads the reports of opencode's plug-in, one on each line, as a hook receives them.
// opencode keeps its own sessions in a database, which is not read.
//
// A report is {"hook_event_name":"UserPromptSubmit"|"AgentText"|"PostToolUse"|…,
// "session_id","cwd","timestamp","agent_type","prompt","text","tool_name",
// "tool_use_id","tool_input","model"}. Between the reports there may be notes that a hook made of
// other reports: {"client":"opencode","kind":"prompt"|"text"|"call","agent","text",
// "call":{"wrote"}}.

package fileedits

import (
	"encoding/json"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

type opencodeLine struct {
	clientfile.Report

	Kind   string `json:"kind"`
	Client string `json:"client"`
	Noted  string `json:"session"`
	Sub    string `json:"agent"`
	Call   struct {
		Wrote []string `json:"wrote"`
	} `json:"call"`
}

// isOpencode recognizes the prefix of opencode's session IDs.
func isOpencode(b []byte) bool {
	var l opencodeLine
	return json.Unmarshal(b, &l) == nil &&
		((l.Event != "" && strings.HasPrefix(l.Session, "ses_")) || (l.Client == "opencode" && l.Kind != ""))
}

type opencode struct{ *chat }

func newOpencode(t *Transcript, _ string) reader { return opencode{newChat(t)} }

func (c opencode) line(b []byte) error {
	var l opencodeLine
	if err := json.Unmarshal(b, &l); err != nil {
		return err
	}
	if l.Model != "" {
		c.model = l.Model
	}
	if l.Event == "" {
		c.session = l.Noted
	} else {
		c.session, c.dir = l.Session, l.Dir
	}
	sub := l.AgentType + l.Sub
	switch l.Event + l.Kind {
	case "UserPromptSubmit":
		c.recordRequest(sub, l.Prompt)
	case "prompt":
		c.recordRequest(sub, l.Text)
	case "AgentText", "text":
		c.says(sub, l.Text)
	case "call":
		if len(l.Call.Wrote) > 0 {
			c.said[sub] = c.reasoningFor(sub).edits()
		}
	case "PostToolUse", "PostToolUseFailure":
		if l.UseID != "" {
			c.call(l.UseID, sub, l.Tool, l.Input, l.Time)
			c.answer(l.UseID, l.Event != "PostToolUse", l.Metadata, "")
		}
	}
	return nil
}
