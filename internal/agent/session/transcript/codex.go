// This file reads transcripts of Codex: $CODEX_HOME/sessions/Y/M/D/rollout-*.jsonl.
//
// A line is {"timestamp","type","payload"}. The first line, session_meta, identifies the session. A
// sub-agent has a separate file, which names its parent's session. Lines of type event_msg contain
// the person's text and commands' results. Lines of type response_item contain the agent's
// messages, calls and their outputs.
//
// Before September 2025 a line was only the payload, without a time, and the first line had id,
// timestamp and instructions. Turn IDs did not exist, so a turn's ID is its offset in the file.
//
// A fork (forked_from_id) begins with a copy of its parent's lines, all written at the same moment.

package transcript

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

type codex struct {
	*file
	task    string // turn of the last task_started that no prompt has used yet
	taskAt  int64  // offset of its line
	calls   map[string]codexCall
	started bool
	born    time.Time      // time of the first line
	bare    bool           // lines are payloads without a type
	copied  bool           // lines are copied from the fork's parent
	last    time.Time      // time of the previous line
	said    map[string]int // number of items minus number of messages, by the agent's text in this turn
}

// copyGap is the time between two lines from which on the second line does not belong to the
// copy at a fork's beginning. The person's first prompt always comes later.
const copyGap = 100 * time.Millisecond

type codexCall struct {
	event session.Event
	name  string
	args  []byte
	exit  *int
	ended bool // an event reports success
}

func newCodex(f *file) reader { return &codex{file: f, calls: map[string]codexCall{}} }

func (c *codex) line(b []byte, offset int64) bool {
	var l clientfile.Codex
	var p clientfile.CodexItem
	if !clientfile.Decode(b, &l) {
		return false
	}
	if l.Payload == nil { // an old file, in which the line is the payload
		c.bare = true
		l.Payload, l.Type = b, "response_item"
		if !c.started {
			l.Type = "session_meta"
		}
	}
	if !c.started {
		c.born = l.Time
	} else if l.Time.IsZero() {
		l.Time = c.born
	}
	if !clientfile.Decode(l.Payload, &p) {
		return false
	}
	if c.isCopy(l.Time) {
		return true
	}
	switch l.Type {
	case "session_meta":
		c.meta(&p)
	case "turn_context":
		c.dir, c.model = p.Dir, p.Model
		c.begin(p.Turn, offset)
	case "compacted":
		e := c.event(session.Compact, c.compactTurn(), l.Time)
		e.Turn, e.Text = e.ID, SummaryText(p.Message, c.clean)
		c.report(e)
	case "event_msg", "response_item":
		if take := codexTake[p.Type]; take != nil {
			take(c, &p, l.Time, offset)
		}
	}
	return true
}

// meta reads the session that the file belongs to.
func (c *codex) meta(p *clientfile.CodexItem) {
	if c.started {
		return // a fork repeats the line of its parent
	}
	c.started = true
	c.session = p.ID
	c.dir = p.Dir
	c.branch = p.Git.Branch
	c.copied = p.Forked != "" && c.from == 0
	if p.Session != "" && p.Session != p.ID {
		c.session = p.Session
		c.agent = p.AgentRole
		if c.agent == "" {
			c.agent = p.ID
		}
	}
}

// isCopy reports whether a line with this time was copied from a fork's parent.
func (c *codex) isCopy(when time.Time) bool {
	if c.copied && !c.last.IsZero() && when.Sub(c.last) >= copyGap {
		c.copied = false
	}
	c.last = when
	return c.copied
}

// begin records the ID of a turn that has begun.
func (c *codex) begin(turn string, offset int64) {
	if turn != "" && turn != c.turn && turn != c.task && c.agent == "" {
		c.task, c.taskAt = turn, offset
	}
}

// compactTurn returns the turn of a compaction: the client's own turn if it has begun, otherwise
// the person's.
func (c *codex) compactTurn() string {
	if c.task != "" {
		return c.task
	}
	return c.turn
}

var codexTake = map[string]func(*codex, *clientfile.CodexItem, time.Time, int64){
	"task_started": func(c *codex, p *clientfile.CodexItem, _ time.Time, at int64) { c.begin(p.Turn, at) },
	"user_message": func(c *codex, p *clientfile.CodexItem, when time.Time, at int64) {
		c.addPrompt(p.Turn, p.Message, when, at)
	},

	"item_completed":   (*codex).addCompletion,
	"exec_command_end": (*codex).addCallEnd,
	"patch_apply_end":  (*codex).addCallEnd,

	"message": func(c *codex, p *clientfile.CodexItem, when time.Time, at int64) {
		switch {
		case p.Role == "assistant":
			c.answer(p.ID, clientfile.Text(p.Content, "output_text"), when, -1)
		case p.Role == "user" && c.bare:
			said := clientfile.Text(p.Content, "input_text")
			if dir := workingDirectory().FindStringSubmatch(said); dir != nil {
				c.dir = dir[1]
			}
			c.addPrompt(p.Turn, said, when, at)
		}
	},
	"function_call":    (*codex).addCall,
	"custom_tool_call": (*codex).addCall,
	"local_shell_call": (*codex).addCall,

	"function_call_output":    (*codex).addAnswer,
	"custom_tool_call_output": (*codex).addAnswer,
}

// workingDirectory matches the working directory in the message about the environment with which
// Codex begins a session.
var workingDirectory = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*<environment_context>[\s\S]*?<cwd>([^<]+)</cwd>`)
})

// answer reports a text of the agent. Newer versions write each text both as an item (form 1) and
// as a message (form -1), in either order. The second of the pair is skipped.
func (c *codex) answer(id, said string, when time.Time, form int) {
	if c.said == nil {
		c.said = map[string]int{}
	}
	isSecond := c.said[said]*form < 0
	c.said[said] += form
	if !isSecond {
		c.say(c.event(session.Text, id, when), said)
	}
}

// addPrompt reports a prompt. Without a turn name, the prompt belongs to the last task that
// began.
func (c *codex) addPrompt(turn, said string, when time.Time, offset int64) {
	if turn == "" {
		turn = c.task
	}
	if turn != "" && turn == c.task {
		offset = c.taskAt
	}
	before := c.turn
	c.prompt(turn, said, when, offset)
	if c.turn != before {
		c.said = nil
	}
	if turn == c.turn {
		c.task = ""
	}
}

func (c *codex) addCompletion(p *clientfile.CodexItem, when time.Time, offset int64) {
	var item clientfile.CodexItem
	_ = clientfile.Decode(p.Item, &item)
	switch item.Type {
	case "UserMessage":
		c.addPrompt(p.Turn, clientfile.Text(item.Content, "text"), when, offset)
	case "AgentMessage":
		c.answer(item.ID, clientfile.Text(item.Content, "text", "Text"), when, 1)
	case "CommandExecution", "FileChange":
		done := item.Status == "completed"
		c.addCallEnd(&clientfile.CodexItem{CallID: item.ID, Exit: item.Exit, Success: &done}, when, offset)
	}
}

// addCallEnd records how a call ended. Its output follows later.
func (c *codex) addCallEnd(p *clientfile.CodexItem, _ time.Time, _ int64) {
	if call, ok := c.calls[p.CallID]; ok {
		call.exit = p.Exit
		call.ended = p.Success == nil || *p.Success
		c.calls[p.CallID] = call
	}
}

func (c *codex) addCall(p *clientfile.CodexItem, when time.Time, _ int64) {
	call := codexCall{event: c.event(session.Called, p.CallID, when), name: p.Name, args: []byte(p.Arguments)}
	switch {
	case p.Type == "custom_tool_call":
		call.args, _ = json.Marshal(map[string]string{"input": p.Input})
	case p.Type == "local_shell_call":
		call.args = bytes.Clone(p.Action)
		call.name = "Bash"
	case p.Namespace != "":
		call.name = p.Namespace + "__" + p.Name
	}
	if roles[call.name] == shell {
		call.name = "Bash" // the name that hooks report
	}
	c.calls[p.CallID] = call
}

func (c *codex) addAnswer(p *clientfile.CodexItem, _ time.Time, _ int64) {
	call, ok := c.calls[p.CallID]
	if !ok {
		return
	}
	delete(c.calls, p.CallID)
	o := Outcome{Exit: call.exit, Output: clientfile.Text(p.Output)}
	o.Failed = strings.HasPrefix(o.Output, "unsupported call")
	if call.name == "apply_patch" && !call.ended {
		o.Failed = !isPatched(o.Output)
	}
	c.call(call.event, call.name, call.args, o)
}

// isPatched reports whether the output of apply_patch reports success. Older versions write
// {"output","metadata":{"exit_code"}}, or a text that begins with "Success.".
func isPatched(output string) bool {
	text, exit := oldOutput(output)
	if exit == nil {
		exit = statusIn(text)
	}
	if exit != nil {
		return *exit == 0
	}
	return strings.HasPrefix(text, "Success. Updated")
}
