// This file reads transcripts of Copilot CLI: ~/.copilot/session-state/SESSION/events.jsonl.
//
// A line is {"type":T,"data":{…},"timestamp":…,"agentId":…}, where agentId identifies a sub-agent.
// session.start has sessionId and context.cwd. user.message and assistant.message have content.
// assistant.message also has toolRequests [{"toolCallId","name","arguments"}].
// tool.execution_complete has toolCallId, success and result.detailedContent, a diff with line
// numbers.

package fileedits

import "github.com/oxbow-memory/oxbow/internal/agent/clientfile"

// isCopilot recognizes the first event.
func isCopilot(b []byte) bool {
	var l clientfile.Copilot
	return clientfile.Decode(b, &l) && l.Type == "session.start" && l.Data.Producer == "copilot-agent"
}

type copilot struct {
	*chat
	names map[string]string // names of sub-agents
}

func newCopilot(t *Transcript) reader { return &copilot{chat: newChat(t), names: map[string]string{}} }

func (c *copilot) line(b []byte) error {
	var l clientfile.Copilot
	if !clientfile.Decode(b, &l) {
		return errLine
	}
	d := &l.Data
	sub := l.Agent
	if name := c.names[sub]; name != "" {
		sub = name
	}
	switch l.Type {
	case "session.start", "session.resume":
		if d.Session != "" {
			c.session = d.Session
		}
		if d.Context.Dir != "" {
			c.dir = d.Context.Dir
		}
	case "subagent.started":
		c.names[l.Agent] = d.AgentName
	case "user.message":
		for _, t := range clientfile.Texts(d.Content, "text") {
			c.recordRequest(sub, t)
		}
	case "assistant.message":
		c.model = d.Model
		for _, t := range clientfile.Texts(d.Content, "text") {
			c.says(sub, t)
		}
		for _, r := range d.Requests {
			if r.ID != "" {
				c.call(r.ID, sub, r.Name, r.Args, l.Time)
			}
		}
	case "tool.execution_complete":
		c.answer(d.CallID, !d.Success, d.Result)
	}
	return nil
}
