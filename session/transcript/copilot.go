// Transcripts of Copilot CLI: $COPILOT_HOME/session-state/SESSION/events.jsonl.
//
// A line is {"type","data","timestamp","agentId"}: session.start says where,
// user.message what the person said, assistant.message what the agent said,
// tool.execution_start and tool.execution_complete are a call. A turn has the
// identifier of the interaction; what has an agentId is a sub-agent's.

package transcript

import (
	"encoding/json"
	"time"

	"github.com/oxbow-memory/oxbow/session"
)

type copilot struct {
	*file
	calls  map[string]claudeCall
	agents map[string]string // types of sub-agents
}

func newCopilot(f *file) reader {
	return &copilot{file: f, calls: map[string]claudeCall{}, agents: map[string]string{}}
}

type copilotData struct {
	Session string `json:"sessionId"`
	Context struct {
		Dir    string `json:"cwd"`
		Branch string `json:"branch"`
	} `json:"context"`
	Content     string          `json:"content"`
	Message     string          `json:"messageId"`
	Interaction string          `json:"interactionId"`
	Source      string          `json:"source"`
	Model       string          `json:"model"`
	AgentType   string          `json:"agentType"`
	CallID      string          `json:"toolCallId"`
	Tool        string          `json:"toolName"`
	Arguments   json.RawMessage `json:"arguments"`
	Success     bool            `json:"success"`
	Result      json.RawMessage `json:"result"`
	Shell       struct {
		Exit *int `json:"exitCode"`
	} `json:"shellExecution"`
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
	Summary string `json:"summaryContent"`
}

// copilotTake are the types of lines that are read.
var copilotTake = map[string]func(c *copilot, d *copilotData, agent string, when time.Time, at int64){
	"session.start":  func(c *copilot, d *copilotData, _ string, _ time.Time, _ int64) { c.where(d) },
	"session.resume": func(c *copilot, d *copilotData, _ string, _ time.Time, _ int64) { c.where(d) },
	"subagent.started": func(c *copilot, d *copilotData, agent string, _ time.Time, _ int64) {
		c.agents[agent] = d.AgentType
	},
	"user.message": func(c *copilot, d *copilotData, _ string, when time.Time, at int64) {
		if d.Source == "" || d.Source == "user" {
			c.prompt(d.Interaction, d.Content, when, at)
		}
	},
	"assistant.message": func(c *copilot, d *copilotData, _ string, when time.Time, _ int64) {
		if c.agent == "" {
			c.model = d.Model
		}
		c.say(c.event(session.Text, d.Message, when), d.Content)
	},
	"tool.execution_start": func(c *copilot, d *copilotData, _ string, when time.Time, _ int64) {
		c.calls[d.CallID] = claudeCall{c.event(session.Called, d.CallID, when), d.Tool, d.Arguments}
	},
	"tool.execution_complete": func(c *copilot, d *copilotData, _ string, _ time.Time, _ int64) { c.answered(d) },
	"session.compaction_complete": func(c *copilot, d *copilotData, _ string, when time.Time, _ int64) {
		if d.Success {
			e := c.event(session.Compact, c.turn, when)
			e.Text = SummaryText(d.Summary, c.clean)
			c.report(e)
		}
	},
}

func (c *copilot) line(b []byte, at int64) bool {
	var kind, agent string
	var when time.Time
	var data json.RawMessage
	if !pick(b, field{"type", &kind}, field{"timestamp", &when}, field{"data", &data}, field{"agentId", &agent}) {
		return false
	}
	take := copilotTake[kind]
	if take == nil {
		return true
	}
	c.agent = agent
	if t := c.agents[agent]; t != "" {
		c.agent = t
	}
	var d copilotData
	_ = json.Unmarshal(data, &d)
	take(c, &d, agent, when, at)
	c.agent = ""
	return true
}

func (c *copilot) where(d *copilotData) {
	if d.Session != "" {
		c.session = d.Session
	}
	if d.Context.Dir != "" {
		c.dir, c.branch = d.Context.Dir, d.Context.Branch
	}
}

func (c *copilot) answered(d *copilotData) {
	call, ok := c.calls[d.CallID]
	if !ok {
		return
	}
	delete(c.calls, d.CallID)
	var r struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(d.Result, &r)
	c.call(call.event, call.name, call.args, Outcome{Failed: !d.Success, Exit: d.Shell.Exit, Output: r.Content + d.Error.Message})
}
