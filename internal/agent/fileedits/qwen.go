// This file reads transcripts of Qwen Code: ~/.qwen/projects/PROJECT/chats/SESSION.jsonl. The
// transcripts of sub-agents are in PROJECT/subagents/SESSION.
//
// A line is {"uuid","parentUuid","sessionId","timestamp","type":"user"|"assistant"|
// "tool_result"|"system","provenance","cwd","agentName","model","message":{"parts":
// [{"text","thought"},{"functionCall":{"id","name","args"}}]},"toolCallResult":
// {"callId","status","resultDisplay":{"fileDiff","filePath","newContent"}}}. The results of a
// sub-agent's calls have no resultDisplay.

package fileedits

import "github.com/oxbow-memory/oxbow/internal/agent/clientfile"

// isQwen recognizes the parts of a message, which Claude Code does not have.
func isQwen(b []byte) bool {
	var l clientfile.Qwen
	return clientfile.Decode(b, &l) && l.UUID != "" && l.Session != "" &&
		(len(l.Message.Parts) > 0 || l.Provenance != "")
}

type qwen struct{ *chat }

func newQwen(t *Transcript) reader { return qwen{newChat(t)} }

func (c qwen) line(b []byte) error {
	var l clientfile.Qwen
	if !clientfile.Decode(b, &l) {
		return errLine
	}
	sub := l.AgentName
	if sub == "" {
		sub = l.AgentID
	}
	c.session, c.dir = l.Session, l.Dir
	if l.Model != "" {
		c.model = l.Model
	}
	for _, p := range l.Message.Parts {
		switch {
		case p.Call != nil && p.Call.ID != "":
			c.call(p.Call.ID, sub, p.Call.Name, p.Call.Args, l.Time)
		case p.Answer != nil && l.Result.CallID == "":
			c.answer(p.Answer.ID, p.Answer.Response.Error != "", nil)
		case p.Answer != nil:
			c.answer(l.Result.CallID, (l.Result.Status != "success" && l.Result.Status != "") ||
				p.Answer.Response.Error != "", l.Result.Display)
		case l.Type == "assistant":
			c.recordText(sub, p.Text, p.Thought)
		case l.Type == "user" && l.Provenance != "system":
			c.recordRequest(sub, p.Text)
		}
	}
	return nil
}
