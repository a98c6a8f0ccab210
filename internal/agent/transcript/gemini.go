// Transcripts of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.jsonl.
//
// The first line is {"sessionId":…,"startTime":…,"kind":…}. A line with an id is a
// message, {"id":…,"timestamp":…,"type":"user"|"gemini","content":…,"thoughts":
// [{"subject":…,"description":…}],"model":…,"toolCalls":[{"id","name","args",
// "status","resultDisplay":{"fileDiff","filePath","newContent"}}]}; it comes again
// under its id as it grows. {"$set":{…}} changes the chat: one that is resumed gets
// its messages so, and {"$rewindTo":ID} takes messages back. Hooks do not name calls,
// so an edit is named by what it does.

package transcript

import (
	"encoding/json"

	"github.com/oxbow-memory/oxbow/internal/agent/clientline"
)

// isGemini goes by the header.
func isGemini(b []byte) bool {
	var l clientline.Gemini
	return clientline.Decode(b, &l) && l.Session != "" && l.Start != "" && l.ID == "" && l.Type == ""
}

type gemini struct {
	*chat
	sub    string
	before map[string]*reasoning // by message: what was said before it
	last   string                // message
}

func newGemini(t *Transcript) reader {
	return &gemini{chat: newChat(t), before: map[string]*reasoning{}}
}

func (c *gemini) line(b []byte) error {
	var m clientline.Gemini
	if !clientline.Decode(b, &m) {
		return errLine
	}
	switch {
	case m.Set != nil:
		var set struct {
			Messages []json.RawMessage `json:"messages"`
		}
		_ = clientline.Decode(m.Set, &set)
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
		for _, t := range clientline.Texts(m.Content) {
			c.asks(c.sub, t)
		}
	case m.Type == "gemini":
		c.message(&m)
	}
	return nil
}

// message takes a message; when it comes again, from where it began.
func (c *gemini) message(m *clientline.Gemini) {
	if m.ID != "" && m.ID == c.last {
		c.said[c.sub] = c.before[m.ID]
	} else if c.before[m.ID] != nil {
		return // an older one, as of a chat that is gone on with
	}
	c.before[m.ID] = c.of(c.sub)
	c.last = m.ID
	c.model = m.Model
	var thoughts []struct {
		Subject     string `json:"subject"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(m.Thoughts, &thoughts) // what cannot be read was not thought
	for _, t := range thoughts {
		c.says(c.sub, t.Subject+"\n"+t.Description, false)
	}
	for _, t := range clientline.Texts(m.Content) {
		c.says(c.sub, t, true)
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
			c.answer(made.key(), false, call.Display)
		case "error", "cancelled":
			c.seen[over] = true
			c.answer(made.key(), true, nil)
			delete(c.seen, made.key()) // it may go well the next time
		}
	}
}
