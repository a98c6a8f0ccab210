// This file reads Claude Code's transcripts: ~/.claude/projects/*/*.jsonl, and sub-agents' in
// SESSION/subagents.
//
// A line is a block of a message: {"type":"assistant"|"user","uuid","sessionId",
// "cwd","gitBranch","timestamp","isSidechain","agentId","message":{"role","model", "content"}}.
// User lines have a promptId, which hooks report as well, and the results of tools. A compaction is
// a user line with isCompactSummary.
//
// A forked conversation continues in a new file, which begins with a copy of the old file. The
// copied lines differ only in the session, and all have the promptId of the first new prompt. So a
// line is recognized as a copy if it is older than the first line of the file. This applies up to
// the first line that is not older, because the clock may be set back later. A line is also a copy
// if a later turn has the same promptId.

package transcript

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/vfs"
)

type claude struct {
	*file
	calls map[string]claudeCall // calls without a result
	born  time.Time             // time of the first line that has a time
	own   bool                  // the lines from here on are not copies
	place string                // position of the turn, as the client counts
}

// outOfOrder is the maximum age of a line, compared with the file's first line, at which it is
// still not regarded as a copy.
const outOfOrder = time.Second

type claudeCall struct {
	event session.Event
	name  string
	args  json.RawMessage
}

func newClaude(f *file) reader {
	f.agent = claudeAgent(f.path)
	return &claude{file: f, calls: map[string]claudeCall{}, own: f.from > 0}
}

// claudeAgent returns the type of the sub-agent to which a transcript belongs, which is stored in a
// file next to it. It returns "" for other transcripts.
func claudeAgent(path string) string {
	name, ok := strings.CutSuffix(path, ".jsonl")
	if !ok || !strings.HasPrefix(filepath.Base(name), "agent-") {
		return ""
	}
	in, err := vfs.OpenRegular(name + ".meta.json")
	if err != nil {
		return ""
	}
	defer in.Close()
	var meta struct {
		Type string `json:"agentType"`
	}
	_ = json.NewDecoder(io.LimitReader(in, 1<<16)).Decode(&meta)
	return meta.Type
}

func (c *claude) line(b []byte, offset int64) bool {
	var l clientfile.Claude
	if !clientfile.Decode(b, &l) {
		return false
	}
	if c.born.IsZero() {
		c.born = l.Time
	}
	if (l.Type != "assistant" && l.Type != "user") || (!c.own && l.Time.Before(c.born.Add(-outOfOrder))) {
		return true
	}
	c.own = true
	c.session = l.Session
	c.dir = l.Dir
	c.branch = l.Branch
	main := c.agent
	if l.Sidechain && c.agent == "" {
		c.agent = l.AgentType
		if c.agent == "" {
			c.agent = l.Agent
		}
		if c.agent == "" {
			c.agent = "sub-agent"
		}
	}
	if l.Type == "assistant" {
		c.assistant(&l)
	} else {
		c.user(&l, offset)
	}
	c.agent = main
	return true
}

func (c *claude) assistant(l *clientfile.Claude) {
	var blocks []clientfile.ClaudeBlock
	if !clientfile.DecodeArray(l.Message.Content, &blocks) || l.Message.Model == "<synthetic>" {
		return
	}
	c.model = l.Message.Model
	for i, b := range blocks {
		switch b.Type {
		case "text":
			id := l.UUID
			if i > 0 && id != "" {
				id += "." + string(rune('0'+i%10))
			}
			c.say(c.event(session.Text, id, l.Time), b.Text)
		case "tool_use":
			c.calls[b.ID] = claudeCall{c.event(session.Called, b.ID, l.Time), b.Name, bytes.Clone(b.Input)}
		}
	}
}

func (c *claude) user(l *clientfile.Claude, offset int64) {
	if l.Prompt != "" && c.agent != "" {
		c.turn = l.Prompt
	}
	if l.Summary {
		if l.Prompt != "" {
			c.turn = l.Prompt
		}
		e := c.event(session.Compact, c.turn, l.Time)
		e.Text = SummaryText(clientfile.Text(l.Message.Content), c.clean)
		c.report(e)
		return
	}
	isPerson := l.Source != "system" && (l.Origin.Kind == "" || l.Origin.Kind == "human")
	if !c.reportResults(l, l.Message.Content) && !l.Meta && isPerson {
		turn := l.Prompt
		if turn == "" {
			turn = l.UUID
		}
		if said := clientfile.Text(l.Message.Content, "text"); PromptText(said, c.clean) != "" && c.agent == "" {
			if turn == c.turn && c.place != string(l.Position) {
				c.turn, c.held = "", nil // the previous prompt was a copy
			}
			c.release()
			c.place, c.hold = string(l.Position), true
			c.prompt(turn, said, l.Time, offset)
		}
	}
}

// reportResults reports the calls with results in a line. It returns false if the line contains no
// reportResults.
func (c *claude) reportResults(l *clientfile.Claude, content json.RawMessage) bool {
	var blocks []clientfile.ClaudeBlock
	if !clientfile.DecodeArray(content, &blocks) {
		return false
	}
	found := 0
	for _, b := range blocks {
		if b.Type == "tool_result" {
			found++
		}
	}
	for _, b := range blocks {
		call, ok := c.calls[b.UseID]
		if b.Type != "tool_result" || !ok {
			continue
		}
		delete(c.calls, b.UseID)
		var o Outcome
		switch {
		case b.IsError:
			o = Outcome{Failed: true, Output: clientfile.Text(b.Content, "text")}
		case found == 1 && len(l.Result) > 0 && l.Result[0] == '{':
			o = DecodeOutcome(l.Result)
		default: // the line of a sub-agent contains only the text
			o = Outcome{Silent: true, Output: clientfile.Text(b.Content, "text")}
			if strings.HasPrefix(o.Output, "Command running in background") {
				o.Silent = false
			}
		}
		c.call(call.event, call.name, call.args, o)
	}
	return found > 0
}
