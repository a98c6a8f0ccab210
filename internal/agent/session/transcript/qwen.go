// This file reads Qwen Code's transcripts: ~/.qwen/projects/PROJECT/chats/SESSION.jsonl, and
// sub-agents' in PROJECT/subagents/SESSION.
//
// A line is {"uuid","sessionId","timestamp","type":"user"|"assistant"|"tool_result"|
// "system","provenance","cwd","gitBranch","agentId","model","message":{"parts":[…]},
// "toolCallResult"}. The prompt ID that hooks report occurs only in the telemetry lines after the
// prompt, so a prompt is held until the next telemetry or assistant line.

package transcript

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

type qwen struct {
	*file
	calls   map[string]claudeCall
	waiting *qwenPrompt
}

type qwenPrompt struct {
	uuid, text string
	when       time.Time
	at         int64
}

func newQwen(f *file) reader { return &qwen{file: f, calls: map[string]claudeCall{}} }

func (q *qwen) line(b []byte, offset int64) bool {
	var l clientfile.Qwen
	if !clientfile.Decode(b, &l) {
		return false
	}
	q.session = l.Session
	q.dir = l.Dir
	q.branch = l.Branch
	q.agent = l.AgentID
	switch l.Type {
	case "system":
		q.system(l.Subtype, l.Payload, l.Time)
	case "user":
		if l.AgentID == "" && l.Subtype == "" && l.Provenance != "system" {
			var said []byte
			for _, p := range l.Message.Parts {
				said = append(said, p.Text...)
			}
			q.waiting = &qwenPrompt{l.UUID, string(said), l.Time, offset}
		}
	case "assistant":
		q.begin("")
		q.model = l.Model
		q.assistant(&l)
	case "tool_result":
		q.answered(&l)
	}
	return true
}

// begin reports the held prompt.
func (q *qwen) begin(turn string) {
	if p := q.waiting; p != nil {
		q.waiting = nil
		if turn == "" {
			turn = p.uuid
		}
		q.prompt(turn, p.text, p.when, p.at)
	}
}

func (q *qwen) system(subtype string, payload json.RawMessage, when time.Time) {
	switch subtype {
	case "ui_telemetry":
		var p struct {
			Event struct {
				Prompt string `json:"prompt_id"`
			} `json:"uiEvent"`
		}
		if q.waiting != nil && clientfile.Decode(payload, &p) && p.Event.Prompt != "" {
			q.begin(p.Event.Prompt)
		}
	case "chat_compression":
		q.report(q.event(session.Compact, q.turn, when))
	}
}

func (q *qwen) assistant(l *clientfile.Qwen) {
	said := ""
	for _, p := range l.Message.Parts {
		if !p.Thought {
			said += p.Text
		}
		if c := p.Call; c != nil {
			q.calls[c.ID] = claudeCall{q.event(session.Called, c.ID, l.Time), c.Name, bytes.Clone(c.Args)}
		}
	}
	q.say(q.event(session.Text, l.UUID, l.Time), said)
}

func (q *qwen) answered(l *clientfile.Qwen) {
	for _, p := range l.Message.Parts {
		if p.Answer == nil {
			continue
		}
		call, ok := q.calls[p.Answer.ID]
		if !ok {
			continue
		}
		delete(q.calls, p.Answer.ID)
		o := Outcome{Failed: l.Result.Status == "error" ||
			p.Answer.Response.Error != "", Output: p.Answer.Response.Output + p.Answer.Response.Error}
		var shown struct {
			Exit *int `json:"exitCode"`
		}
		if clientfile.Decode(l.Result.Display, &shown) {
			o.Exit = shown.Exit
		}
		q.call(call.event, call.name, call.args, o)
	}
}
