// This file reads transcripts of Copilot CLI: $COPILOT_HOME/session-state/SESSION/events.jsonl.
//
// A line is {"type","data","timestamp","agentId"}. The type session.start contains the directory,
// user.message the person's text and assistant.message the agent's text. The types
// tool.execution_start and tool.execution_complete form a call. A turn's ID is the interaction's
// ID. Lines with an agentId belong to a sub-agent.

package transcript

import (
	"bytes"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

type copilot struct {
	*file
	calls  map[string]claudeCall
	agents map[string]string // types of sub-agents by ID
}

func newCopilot(f *file) reader {
	return &copilot{file: f, calls: map[string]claudeCall{}, agents: map[string]string{}}
}

// copilotTake contains the functions that read a line, by its type.
var copilotTake = map[string]func(c *copilot, d *clientfile.CopilotData, agent string, when time.Time, at int64){
	"session.start":  func(c *copilot, d *clientfile.CopilotData, _ string, _ time.Time, _ int64) { c.where(d) },
	"session.resume": func(c *copilot, d *clientfile.CopilotData, _ string, _ time.Time, _ int64) { c.where(d) },
	"subagent.started": func(c *copilot, d *clientfile.CopilotData, agent string, _ time.Time, _ int64) {
		c.agents[agent] = d.AgentType
	},
	"user.message": func(c *copilot, d *clientfile.CopilotData, _ string, when time.Time, at int64) {
		if d.Source == "" || d.Source == "user" {
			c.prompt(d.Interaction, clientfile.Text(d.Content), when, at)
		}
	},
	"assistant.message": func(c *copilot, d *clientfile.CopilotData, _ string, when time.Time, _ int64) {
		if c.agent == "" {
			c.model = d.Model
		}
		c.say(c.event(session.Text, d.Message, when), clientfile.Text(d.Content))
	},
	"tool.execution_start": func(c *copilot, d *clientfile.CopilotData, _ string, when time.Time, _ int64) {
		c.calls[d.CallID] = claudeCall{c.event(session.Called, d.CallID, when), d.Tool, bytes.Clone(d.Arguments)}
	},
	"tool.execution_complete": func(c *copilot, d *clientfile.CopilotData, _ string, _ time.Time, _ int64) {
		c.answered(d)
	},
	"session.compaction_complete": func(c *copilot, d *clientfile.CopilotData, _ string, when time.Time, _ int64) {
		if d.Success {
			e := c.event(session.Compact, c.turn, when)
			e.Text = SummaryText(d.Summary, c.clean)
			c.report(e)
		}
	},
}

func (c *copilot) line(b []byte, offset int64) bool {
	var l clientfile.Copilot
	if !clientfile.Decode(b, &l) {
		return false
	}
	if take := copilotTake[l.Type]; take != nil {
		c.agent = l.Agent
		if c.agents[l.Agent] != "" {
			c.agent = c.agents[l.Agent]
		}
		take(c, &l.Data, l.Agent, l.Time, offset)
		c.agent = ""
	}
	return true
}

func (c *copilot) where(d *clientfile.CopilotData) {
	if d.Session != "" {
		c.session = d.Session
	}
	if d.Context.Dir != "" {
		c.dir, c.branch = d.Context.Dir, d.Context.Branch
	}
}

func (c *copilot) answered(d *clientfile.CopilotData) {
	call, ok := c.calls[d.CallID]
	if !ok {
		return
	}
	delete(c.calls, d.CallID)
	var r struct {
		Content string `json:"content"`
	}
	_ = clientfile.Decode(d.Result, &r)
	c.call(
		call.event,
		call.name,
		call.args,
		Outcome{Failed: !d.Success, Exit: d.Shell.Exit, Output: r.Content + d.Error.Message},
	)
}
