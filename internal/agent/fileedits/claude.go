// This file reads transcripts of Claude Code: ~/.claude/projects/*/*.jsonl.
//
// A line is {"type":"assistant"|"user"|…,"uuid":…,"parentUuid":…,"sessionId":…,
// "cwd":…,"timestamp":…,"isSidechain":…,"message":{"role":…,"content":…}}. An assistant's content
// consists of blocks of the types text, thinking and tool_use. A user's content is a string, or
// blocks of type text and tool_result. A line with the result of a tool contains it also in
// toolUseResult, in the program's own format. For editing tools, this is
//
//	{"filePath":…,"oldString":…,"newString":…,"replaceAll":…,"originalFile":…,
//	 "structuredPatch":[{"oldStart":…,"newStart":…,"lines":[" a","-b","+c"]}],"userModified":…}
//
// The lines of the patch contain two spaces for each leading tab. originalFile may be null. The
// parents make the lines a tree, because a conversation can be rewound. The main conversation and
// sub-agents' conversations may be in the same file.

package fileedits

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
)

// isClaude recognizes lines that only Claude Code writes: a message with content (in similar
// lines, other programs have parts or nothing), or the end of a summary.
func isClaude(b []byte) bool {
	var l struct {
		Type    string          `json:"type"`
		Session string          `json:"sessionId"`
		Parent  json.RawMessage `json:"parentUuid"`
		Leaf    string          `json:"leafUuid"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	return json.Unmarshal(b, &l) == nil && l.Type != "" &&
		(l.Leaf != "" || ((l.Session != "" || l.Parent != nil) && l.Message.Content != nil))
}

type claude struct {
	t     *Transcript
	at    map[string]*reasoning // reasoning up to each line, by the line's UUID
	lines map[string]*reasoning // the same by sub-agent, for lines without UUIDs
	calls map[string]*claudeCall
	seen  map[string]bool // IDs of calls
	done  map[int][]Edit  // edits by number of the call
	n     int
}

func newClaude(t *Transcript, _ string) reader {
	return &claude{t: t, at: map[string]*reasoning{}, lines: map[string]*reasoning{},
		calls: map[string]*claudeCall{}, seen: map[string]bool{}, done: map[int][]Edit{}}
}

func (c *claude) line(b []byte) error {
	var l clientfile.Claude
	if !clientfile.Decode(b, &l) {
		return errLine
	}
	key := ""
	if l.Sidechain {
		key = "sub:" + l.Agent
	}
	r := c.at[l.Parent]
	if r == nil {
		r = c.at[l.Logical]
	}
	if r == nil && l.UUID == "" {
		r = c.lines[key]
	}
	if r == nil {
		r = &reasoning{}
	}
	switch l.Type {
	case "assistant":
		r = c.assistant(&l, r)
	case "user":
		r = c.user(&l, r)
	}
	if l.UUID != "" {
		c.at[l.UUID] = r
	} else {
		c.lines[key] = r
	}
	return nil
}

func (c *claude) assistant(l *clientfile.Claude, r *reasoning) *reasoning {
	var blocks []clientfile.ClaudeBlock
	if !clientfile.DecodeArray(l.Message.Content, &blocks) {
		for _, t := range clientfile.Texts(l.Message.Content) {
			r = r.says(t)
		}
		return r
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			r = r.says(b.Text)
		case "thinking":
			r = r.thinks(b.Thinking)
		case "tool_use":
			switch b.Name {
			case "Edit", "MultiEdit", "Write", "NotebookEdit":
			default:
				continue
			}
			if b.ID == "" || c.seen[b.ID] {
				continue // a conversation that was continued may repeat earlier calls
			}
			c.seen[b.ID] = true
			c.t.Calls++
			call := &claudeCall{
				at:   c.n,
				name: b.Name,
				edit: Edit{Call: b.ID, Dir: l.Dir, Why: r.why(), Time: l.Time, Session: l.Session,
					Model: l.Message.Model, tabs: true},
			}
			c.n++
			if l.Sidechain {
				call.edit.Sub = l.Agent
				if l.Agent == "" {
					call.edit.Sub = "sub-agent"
				}
			}
			if json.Unmarshal(b.Input, &call.in) != nil {
				c.t.Unread++
				continue
			}
			call.edit.Path = call.in.File + call.in.Notebook
			c.calls[b.ID] = call
			r = r.edits()
		}
	}
	return r
}

func (c *claude) user(l *clientfile.Claude, r *reasoning) *reasoning {
	var blocks []clientfile.ClaudeBlock
	if clientfile.DecodeArray(l.Message.Content, &blocks) {
		results := 0
		for _, b := range blocks {
			if b.Type == "tool_result" {
				results++
			}
		}
		for _, b := range blocks {
			if b.Type != "tool_result" {
				continue
			}
			call := c.calls[b.UseID]
			if call == nil {
				continue
			}
			delete(c.calls, b.UseID)
			if b.IsError {
				c.t.Failed++
				continue
			}
			var res claudeResult
			if results == 1 && json.Unmarshal(l.Result, &res) != nil {
				res = claudeResult{}
			}
			c.finish(call, &res, clientfile.Text(b.Content, "text"))
		}
	}
	if l.Meta || l.Summary {
		return r
	}
	for _, t := range clientfile.Texts(l.Message.Content, "text") {
		t = strings.TrimSpace(t)
		if t != "" && !isInjected(t) {
			r = r.startRequest(t)
		}
	}
	return r
}

// isInjected reports whether a text in the user's name was inserted by the program.
func isInjected(t string) bool {
	return slices.ContainsFunc(
		[]string{"<command-", "<local-command-", "<bash-", "<system-reminder>", "Caveat: The messages below",
			"[Request interrupted"},
		func(p string) bool { return strings.HasPrefix(t, p) },
	)
}

// finish records the edits of a successful call.
func (c *claude) finish(call *claudeCall, res *claudeResult, said string) {
	if p := res.File + res.Notebook; p != "" {
		call.edit.Path = p
	}
	es := call.edits(res, said)
	for i := range es {
		es[i].N = i
	}
	if len(es) == 0 {
		c.t.Unread++
	}
	c.done[call.at] = es
}

func (c *claude) end() {
	c.t.Pending += len(c.calls)
	for i := range c.n {
		c.t.Edits = append(c.t.Edits, c.done[i]...)
	}
}
