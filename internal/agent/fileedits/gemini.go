// This file reads transcripts of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.jsonl.
//
// The first line is {"sessionId":…,"startTime":…,"kind":…}. A line with an ID is a message,
// {"id":…,"timestamp":…,"type":"user"|"gemini","content":…,"thoughts":
// [{"subject":…,"description":…}],"model":…,"toolCalls":[{"id","name","args",
// "status","resultDisplay":{"fileDiff","filePath","newContent"}}]}. A message that grows is
// repeated with the same ID. {"$set":{…}} changes the chat, and a resumed chat gets its messages
// this way. {"$rewindTo":ID} removes messages. Hooks do not name calls, so an edit is identified
// by the arguments of its call.

package fileedits

import (
	"encoding/json"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// isGemini recognizes the header.
func isGemini(b []byte) bool {
	var l clientfile.Gemini
	return clientfile.Decode(b, &l) && l.Session != "" && l.Start != "" && l.ID == "" && l.Type == ""
}

type gemini struct {
	*chat
	sub    string
	before map[string]*reasoning // reasoning before each message
	last   string                // ID of the last message
}

func newGemini(t *Transcript) reader {
	return &gemini{chat: newChat(t), before: map[string]*reasoning{}}
}

func (c *gemini) line(b []byte) error {
	var m clientfile.Gemini
	if !clientfile.Decode(b, &m) {
		return errLine
	}
	switch {
	case m.Set != nil:
		var set struct {
			Messages []json.RawMessage `json:"messages"`
		}
		_ = clientfile.Decode(m.Set, &set)
		for _, more := range set.Messages {
			if err := c.line(more); err != nil {
				return err
			}
		}
	case m.Rewind != "":
		if r := c.before[m.Rewind]; r != nil {
			c.said[c.sub] = r
		}
	case m.Type == "" && m.Session != "":
		c.session = m.Session
		if m.Kind != "" && m.Kind != "main" {
			c.sub = "sub-agent"
		}
	case m.Type == "user":
		for _, t := range clientfile.Texts(m.Content) {
			c.recordRequest(c.sub, t)
		}
	case m.Type == "gemini":
		c.message(&m)
	}
	return nil
}

// message reads a message. If the message is repeated, it starts from the reasoning before the
// message.
func (c *gemini) message(m *clientfile.Gemini) {
	if m.ID != "" && m.ID == c.last {
		c.said[c.sub] = c.before[m.ID]
	} else if c.before[m.ID] != nil {
		return // an older message of a chat that was continued
	}
	c.before[m.ID] = c.reasoningFor(c.sub)
	c.last = m.ID
	c.model = m.Model
	var thoughts []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(m.Thoughts, &thoughts) // ignore the error: unreadable thoughts are treated as missing
	for _, t := range thoughts {
		c.thinks(c.sub, t.Subject+"\n"+t.Description)
	}
	for _, t := range clientfile.Texts(m.Content) {
		c.says(c.sub, t)
	}
	for _, call := range m.Calls {
		over := "over " + call.ID
		if call.ID != "" && c.seen[over] {
			continue
		}
		made := c.call("", c.sub, call.Name, call.Args, m.Time)
		if made == nil {
			continue
		}
		switch call.Status {
		case "success", "":
			c.seen[over] = true
			c.recordSuccess(made.argumentKey(), call.Display)
		case "error", "cancelled":
			c.seen[over] = true
			c.recordFailure(made.argumentKey())
			delete(c.seen, made.argumentKey()) // the same call may succeed later
		}
	}
}
