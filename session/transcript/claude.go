// Transcripts of Claude Code: ~/.claude/projects/*/*.jsonl, those of sub-agents in
// SESSION/subagents.
//
// A line is a block of a message: {"type":"assistant"|"user","uuid","sessionId",
// "cwd","gitBranch","timestamp","isSidechain","agentId","message":{"role","model",
// "content"}}. User lines have promptId, the identifier that hooks give as well,
// and the results of tools. A compaction is a user line with isCompactSummary.
//
// A conversation that is forked goes on in a new file, which begins with a copy of
// the old one: the same lines but for the session, and all with the promptId of
// the first new prompt. So a line is a copy when it is older than the line that
// the file begins with, or when a later turn has its promptId.

package transcript

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/session"
)

type claude struct {
	*file
	calls map[string]claudeCall // without an answer
	born  time.Time             // of the first line that has a time
	place string                // of the turn, as the client counts
}

// outOfOrder is how much older than the line before a line may be.
const outOfOrder = time.Second

type claudeCall struct {
	event session.Event
	name  string
	args  json.RawMessage
}

func newClaude(f *file) reader {
	f.agent = claudeAgent(f.path)
	return &claude{file: f, calls: map[string]claudeCall{}}
}

// claudeAgent returns the type of the sub-agent that a file is of, which stands in
// a file next to it; "" where there is none.
func claudeAgent(path string) string {
	name, ok := strings.CutSuffix(path, ".jsonl")
	if !ok || !strings.HasPrefix(filepath.Base(name), "agent-") {
		return ""
	}
	in, err := os.Open(name + ".meta.json")
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

type claudeLine struct {
	kind, uuid, session, dir, branch, prompt, agent, agentType string
	source                                                     string
	when                                                       time.Time
	side, meta, summary                                        bool
	message, result, place                                     json.RawMessage
}

type claudeBlock struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	UseID   string          `json:"tool_use_id"`
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

func (c *claude) line(b []byte, at int64) bool {
	var l claudeLine
	want := []field{{"type", &l.kind}, {"uuid", &l.uuid}, {"sessionId", &l.session}, {"cwd", &l.dir}, {"gitBranch", &l.branch}, {"promptId", &l.prompt},
		{"agentId", &l.agent}, {"attributionAgent", &l.agentType}, {"promptSource", &l.source}, {"timestamp", &l.when}, {"isSidechain", &l.side}, {"isMeta", &l.meta},
		{"isCompactSummary", &l.summary}, {"message", &l.message}, {"toolUseResult", &l.result}, {"turnPosition", &l.place}}
	if !pick(b, want...) {
		return false
	}
	if c.born.IsZero() {
		c.born = l.when
	}
	if l.kind != "assistant" && l.kind != "user" || l.when.Before(c.born.Add(-outOfOrder)) {
		return true
	}
	c.session, c.dir, c.branch = l.session, l.dir, l.branch
	main := c.agent
	if l.side && c.agent == "" {
		if c.agent = l.agentType; c.agent == "" {
			c.agent = l.agent
		}
		if c.agent == "" {
			c.agent = "sub-agent"
		}
	}
	if l.kind == "assistant" {
		c.assistant(&l)
	} else {
		c.user(&l, at)
	}
	c.agent = main
	return true
}

func (c *claude) assistant(l *claudeLine) {
	var m struct {
		Model   string        `json:"model"`
		Content []claudeBlock `json:"content"`
	}
	if json.Unmarshal(l.message, &m) != nil || m.Model == "<synthetic>" {
		return
	}
	c.model = m.Model
	for i, b := range m.Content {
		switch b.Type {
		case "text":
			id := l.uuid
			if i > 0 && id != "" {
				id += "." + string(rune('0'+i%10))
			}
			c.say(c.event(session.Text, id, l.when), b.Text)
		case "tool_use":
			c.calls[b.ID] = claudeCall{c.event(session.Called, b.ID, l.when), b.Name, b.Input}
		}
	}
}

func (c *claude) user(l *claudeLine, at int64) {
	var m struct {
		Content json.RawMessage `json:"content"`
	}
	_ = pick(l.message, field{"content", &m.Content})
	if l.prompt != "" && c.agent != "" {
		c.turn = l.prompt
	}
	if l.summary {
		if l.prompt != "" {
			c.turn = l.prompt
		}
		e := c.event(session.Compact, c.turn, l.when)
		e.Text = SummaryText(text(m.Content), c.clean)
		c.report(e)
		return
	}
	if !c.results(l, m.Content) && !l.meta && l.source != "system" {
		turn := l.prompt
		if turn == "" {
			turn = l.uuid
		}
		if said := text(m.Content, "text"); PromptText(said, c.clean) != "" && c.agent == "" {
			if turn == c.turn && c.place != string(l.place) {
				c.turn, c.held = "", nil // it was a copy
			}
			c.release()
			c.place, c.hold = string(l.place), true
			c.prompt(turn, said, l.when, at)
		}
	}
}

// results reports the calls that a line has the answers of; false for a line
// without.
func (c *claude) results(l *claudeLine, content json.RawMessage) bool {
	if len(content) == 0 || content[0] != '[' {
		return false
	}
	var blocks []claudeBlock
	_ = json.Unmarshal(content, &blocks)
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
			o = Outcome{Failed: true, Output: text(b.Content, "text")}
		case found == 1 && len(l.result) > 0 && l.result[0] == '{':
			o = OutcomeOf(l.result)
		default: // a sub-agent's line says no more than the text
			o = Outcome{Silent: true, Output: text(b.Content, "text")}
			if strings.HasPrefix(o.Output, "Command running in background") {
				o.Silent = false
			}
		}
		c.call(call.event, call.name, call.args, o)
	}
	return found > 0
}
