// Transcripts of Qwen Code: ~/.qwen/projects/PROJECT/chats/SESSION.jsonl, those of
// sub-agents in PROJECT/subagents/SESSION.
//
// A line is {"uuid","sessionId","timestamp","type":"user"|"assistant"|"tool_result"|
// "system","provenance","cwd","gitBranch","agentId","model","message":{"parts":[…]},
// "toolCallResult"}. The identifier of a prompt, which hooks give, stands only in
// the lines of telemetry that follow it, so a prompt waits for the next of them.

package transcript

import (
	"encoding/json"
	"time"

	"github.com/oxbow-memory/oxbow/session"
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

type qwenPart struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Answer *struct {
		ID       string `json:"id"`
		Response struct {
			Output string `json:"output"`
			Error  string `json:"error"`
		} `json:"response"`
	} `json:"functionResponse"`
}

func (q *qwen) line(b []byte, at int64) bool {
	var l struct {
		kind, uuid, of, dir, branch, model, provenance, subtype, agent string
		when                                                           time.Time
		message, payload, result                                       json.RawMessage
	}
	if !pick(b, field{"type", &l.kind}, field{"uuid", &l.uuid}, field{"sessionId", &l.of}, field{"cwd", &l.dir}, field{"gitBranch", &l.branch}, field{"model", &l.model},
		field{"provenance", &l.provenance}, field{"subtype", &l.subtype}, field{"agentId", &l.agent}, field{"timestamp", &l.when}, field{"message", &l.message},
		field{"systemPayload", &l.payload}, field{"toolCallResult", &l.result}) {
		return false
	}
	q.session, q.dir, q.branch, q.agent = l.of, l.dir, l.branch, l.agent
	if l.kind == "system" {
		q.system(l.subtype, l.payload, l.when)
		return true
	}
	var m struct {
		Parts []qwenPart `json:"parts"`
	}
	_ = json.Unmarshal(l.message, &m)
	switch l.kind {
	case "user":
		if l.agent == "" && l.subtype == "" && l.provenance != "system" {
			var said []byte
			for _, p := range m.Parts {
				said = append(said, p.Text...)
			}
			q.waiting = &qwenPrompt{l.uuid, string(said), l.when, at}
		}
	case "assistant":
		q.begin("")
		q.model = l.model
		q.assistant(m.Parts, l.uuid, l.when)
	case "tool_result":
		q.answered(m.Parts, l.result)
	}
	return true
}

// begin reports the prompt that waits.
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
		if q.waiting != nil && json.Unmarshal(payload, &p) == nil && p.Event.Prompt != "" {
			q.begin(p.Event.Prompt)
		}
	case "chat_compression":
		q.report(q.event(session.Compact, q.turn, when))
	}
}

func (q *qwen) assistant(parts []qwenPart, uuid string, when time.Time) {
	said := ""
	for _, p := range parts {
		if !p.Thought {
			said += p.Text
		}
		if c := p.Call; c != nil {
			q.calls[c.ID] = claudeCall{q.event(session.Called, c.ID, when), c.Name, c.Args}
		}
	}
	q.say(q.event(session.Text, uuid, when), said)
}

func (q *qwen) answered(parts []qwenPart, result json.RawMessage) {
	var r struct {
		Status  string          `json:"status"`
		Display json.RawMessage `json:"resultDisplay"`
	}
	_ = json.Unmarshal(result, &r)
	for _, p := range parts {
		if p.Answer == nil {
			continue
		}
		call, ok := q.calls[p.Answer.ID]
		if !ok {
			continue
		}
		delete(q.calls, p.Answer.ID)
		o := Outcome{Failed: r.Status == "error" || p.Answer.Response.Error != "", Output: p.Answer.Response.Output + p.Answer.Response.Error}
		var shown struct {
			Exit *int `json:"exitCode"`
		}
		if json.Unmarshal(r.Display, &shown) == nil {
			o.Exit = shown.Exit
		}
		q.call(call.event, call.name, call.args, o)
	}
}
