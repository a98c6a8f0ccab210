// This file reads transcripts of Codex: ~/.codex/sessions/*/*/*/rollout-*.jsonl.
//
// A line is {"timestamp":…,"type":T,"payload":{…}}. In files from before September 2025, lines
// consist only of the payload, and the first line is
// {"id":…,"timestamp":…,"instructions":…,"git":{…}}. The types are: session_meta with id and cwd,
// turn_context with cwd and model, response_item for the model's output and calls, and event_msg
// for output to the user. An edit is a call of apply_patch, directly or through a shell, and its
// output. The change is contained a second time, with line numbers, in the event patch_apply_end,
// or in item_completed with an item FileChange:
//
//	{"type":"patch_apply_end","call_id":…,"success":true,"changes":{PATH:
//	  {"type":"add","content":…} | {"type":"delete",…} |
//	  {"type":"update","unified_diff":…,"move_path":null}}}

package fileedits

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

type codexShell struct {
	Command json.RawMessage `json:"command"`
	Cmd     json.RawMessage `json:"cmd"`
	Input   string          `json:"input"`
	Patch   string          `json:"patch"`
	Workdir string          `json:"workdir"`
	Dir     string          `json:"working_directory"`
}

type codexChange struct {
	Type    string `json:"type"`
	Content string `json:"content"`
	Diff    string `json:"unified_diff"`
	Moved   string `json:"move_path"`
}

// isCodex recognizes the envelope, or in old files the first line.
func isCodex(b []byte) bool {
	var l struct {
		Type         string          `json:"type"`
		Payload      json.RawMessage `json:"payload"`
		Record       string          `json:"record_type"`
		ID           string          `json:"id"`
		Instructions json.RawMessage `json:"instructions"`
	}
	if json.Unmarshal(b, &l) != nil {
		return false
	}
	switch l.Type {
	case "session_meta", "response_item", "turn_context", "event_msg":
		return l.Payload != nil
	case "":
		return l.Record == "state" || (l.ID != "" && l.Instructions != nil)
	}
	return false
}

// codexCall is a call of apply_patch. It is kept until the transcript's end, because the order of
// results depends on Codex's version.
type codexCall struct {
	edit    Edit
	patch   string
	changes map[string]codexChange // nil if they were not read yet
	over    bool                   // the call has a result
	ok      bool
}

type codex struct {
	t       *Transcript
	r       *reasoning
	session string
	dir     string
	model   string
	sub     string
	calls   map[string]*codexCall
	order   []string
}

func newCodex(t *Transcript, _ string) reader {
	return &codex{t: t, r: &reasoning{}, calls: map[string]*codexCall{}}
}

func (c *codex) line(b []byte) error {
	var l clientfile.Codex
	if !clientfile.Decode(b, &l) {
		return errLine
	}
	payload := l.Payload
	if payload == nil { // the old format
		payload = b
	}
	var it clientfile.CodexItem
	if !clientfile.Decode(payload, &it) {
		return errLine
	}
	switch l.Type {
	case "session_meta":
		c.meta(&it)
	case "turn_context":
		c.context(&it)
	case "event_msg":
		return c.event(&it, l.Time)
	case "response_item":
		c.item(&it, l.Time)
	case "":
		c.meta(&it)
	default:
		if l.Payload == nil {
			c.item(&it, l.Time)
		}
	}
	return nil
}

// meta reads the first header. The transcript of a forked session repeats the parent's header after
// its own.
func (c *codex) meta(it *clientfile.CodexItem) {
	if it.ID == "" || c.session != "" {
		return
	}
	c.session = it.ID
	c.context(it)
	if strings.Contains(string(it.Source), `"subagent"`) {
		c.sub = it.AgentName
		if c.sub == "" {
			c.sub = "sub-agent"
		}
	}
}

func (c *codex) context(it *clientfile.CodexItem) {
	if it.Dir != "" {
		c.dir = it.Dir
	}
	if it.Model != "" {
		c.model = it.Model
	}
}

// oldCwd is compiled when first needed, because that takes milliseconds.
var oldCwd = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`<cwd>([^<]{1,1000})</cwd>`)
})

func (c *codex) item(it *clientfile.CodexItem, at time.Time) {
	switch it.Type {
	case "message":
		for _, t := range clientfile.Texts(it.Content, "output_text", "input_text", "text") {
			switch it.Role {
			case "assistant":
				c.r = c.r.says(t)
			case "user":
				if m := oldCwd().FindStringSubmatch(t); m != nil && c.dir == "" {
					c.dir = m[1]
				}
				c.recordUserRequest(t)
			}
		}
	case "reasoning":
		for _, t := range clientfile.Texts(it.Summary, "summary_text") {
			c.r = c.r.thinks(t)
		}
	case "function_call":
		var args codexShell
		if json.Unmarshal([]byte(it.Arguments), &args) != nil {
			args.Input = it.Arguments
		}
		c.shellCall(it, &args, at)
	case "local_shell_call":
		var action codexShell
		if json.Unmarshal(it.Action, &action) == nil {
			c.shellCall(it, &action, at)
		}
	case "custom_tool_call":
		if it.Name == "apply_patch" {
			c.call(it.CallID, it.Input, "", at)
		}
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		if call := c.calls[it.CallID]; call != nil && !call.over {
			call.over, call.ok = true, hasSucceeded(it.Output)
		}
	}
}

// recordUserRequest records a request of the user. It ignores text that the program inserted in the user's name.
func (c *codex) recordUserRequest(t string) {
	t = strings.TrimSpace(t)
	if t == "" || strings.HasPrefix(t, "<") || strings.HasPrefix(t, "# AGENTS.md") ||
		strings.TrimSpace(c.r.asked) == t {
		return
	}
	c.r = c.r.startRequest(t)
}

// shellCall searches a function call for a call of apply_patch.
func (c *codex) shellCall(it *clientfile.CodexItem, s *codexShell, at time.Time) {
	dir := s.Workdir + s.Dir
	if it.Name == "apply_patch" {
		c.call(it.CallID, s.Input+s.Patch, dir, at)
		return
	}
	for _, raw := range []json.RawMessage{s.Command, s.Cmd} {
		var words []string
		if json.Unmarshal(raw, &words) != nil {
			var one string
			if json.Unmarshal(raw, &one) != nil {
				continue
			}
			words = []string{one}
		}
		all := strings.Join(words, "\n")
		begin := strings.Index(all, "*** Begin Patch")
		if begin < 0 || (!strings.Contains(all[:begin], "apply_patch") &&
			!strings.Contains(all[:begin], "applypatch")) {
			continue
		}
		c.call(it.CallID, all[begin:], dir, at)
		return
	}
}

func (c *codex) call(id, patch, dir string, at time.Time) *codexCall {
	if id == "" || c.calls[id] != nil {
		return c.calls[id]
	}
	if dir == "" {
		dir = c.dir
	}
	call := &codexCall{
		patch: patch,
		edit:  Edit{Call: id, Dir: dir, Why: c.r.why(), Time: at, Session: c.session, Model: c.model, Sub: c.sub},
	}
	c.calls[id] = call
	c.order = append(c.order, id)
	c.t.Calls++
	c.r = c.r.edits()
	return call
}

func (c *codex) event(it *clientfile.CodexItem, at time.Time) error {
	switch it.Type {
	case "agent_message":
		c.r = c.r.says(it.Message)
	case "agent_reasoning":
		c.r = c.r.thinks(it.Text)
	case "user_message":
		c.recordUserRequest(it.Message)
	case "patch_apply_end":
		c.recordPatch(it, it.CallID, it.Success != nil && *it.Success, at)
	case "item_completed":
		var in clientfile.CodexItem
		if !clientfile.Decode(it.Item, &in) {
			return errLine
		}
		switch in.Type {
		case "AgentMessage":
			for _, t := range clientfile.Texts(in.Content, "Text", "text") {
				c.r = c.r.says(t)
			}
		case "UserMessage":
			for _, t := range clientfile.Texts(in.Content, "text") {
				c.recordUserRequest(t)
			}
		case "Reasoning":
			for _, t := range in.SummaryText {
				c.r = c.r.thinks(t)
			}
		case "FileChange":
			c.recordPatch(&in, in.ID, in.Status == "completed", at)
		}
	}
	return nil
}

// recordPatch records the changes by a patch. The transcript need not contain the call, because the
// model can write a program that calls apply_patch.
func (c *codex) recordPatch(it *clientfile.CodexItem, id string, ok bool, at time.Time) {
	call := c.call(id, "", "", at)
	if call == nil || call.changes != nil {
		return
	}
	call.over, call.ok = true, ok
	call.changes = map[string]codexChange{}
	_ = json.Unmarshal(it.Changes, &call.changes) // ignore the error: unreadable changes are treated as missing
}

var exitCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:exit code:?|exited with code) *(-?[0-9]+)`)
})

// hasSucceeded reports whether the output of apply_patch indicates success. The output is a text, JSON
// with an exit code as a text, or blocks of text.
func hasSucceeded(raw json.RawMessage) bool {
	text := clientfile.Text(raw, "input_text", "output_text", "text")
	if text == "" {
		var o struct {
			Content string `json:"content"`
			Success *bool  `json:"success"`
		}
		if json.Unmarshal(raw, &o) == nil {
			if o.Success != nil {
				return *o.Success
			}
			text = o.Content
		}
	}
	var o struct {
		Output   string `json:"output"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	if json.Unmarshal([]byte(text), &o) == nil && (o.Metadata.Exit != nil || o.Output != "") {
		if o.Metadata.Exit != nil {
			return *o.Metadata.Exit == 0
		}
		text = o.Output
	}
	if m := exitCode().FindStringSubmatch(text); m != nil {
		return m[1] == "0"
	}
	if strings.Contains(text, "Success. Updated the following files") {
		return true
	}
	low := strings.ToLower(text)
	for _, sign := range []string{"failed", "error", "rejected", "aborted", "denied", "invalid patch"} {
		if strings.Contains(low, sign) {
			return false
		}
	}
	return true
}

func (c *codex) end() {
	for _, id := range c.order {
		call := c.calls[id]
		switch {
		case !call.over:
			c.t.Pending++
		case !call.ok:
			c.t.Failed++
		case len(call.changes) > 0:
			c.t.Edits = append(c.t.Edits, c.reportedEdits(call)...)
		default:
			c.t.Edits = append(c.t.Edits, c.t.requestedEdits(call.edit, call.patch)...)
		}
	}
}

// reportedEdits returns the edits in the changes that an event reports.
func (c *codex) reportedEdits(call *codexCall) []Edit {
	var out []Edit
	unread := false
	for _, path := range slices.Sorted(maps.Keys(call.changes)) {
		ch := call.changes[path]
		e := call.edit
		e.Path = path
		if ch.Moved != "" {
			c.t.Moves = append(c.t.Moves, Move{From: e.Path, To: ch.Moved, Dir: e.Dir, At: len(c.t.Edits)})
			e.Path = ch.Moved
		}
		var es []Edit
		switch ch.Type {
		case "delete":
			c.t.Removed++
			continue
		case "add":
			es = e.editsFrom(ch.Content, []stretch{{first: 1, n: len(annotate.Lines([]byte(ch.Content)))}})
		case "update":
			hunks, err := parseUnified(ch.Diff)
			if err != nil || len(hunks) == 0 {
				unread = unread || err != nil || ch.Moved == ""
				continue
			}
			for _, h := range hunks {
				es = append(es, h.edits(e)...)
			}
		default:
			unread = true
		}
		out = append(out, count(es)...)
	}
	if unread {
		c.t.Unread++
	}
	return out
}

// requestedEdits returns the edits in a requested patch. Such a patch contains line numbers only for new
// files.
func (t *Transcript) requestedEdits(made Edit, patch string) []Edit {
	files, err := parseEnvelope(patch)
	if err != nil {
		t.Unread++
		return nil
	}
	var out []Edit
	for _, f := range files {
		e := made
		e.Path = f.path
		if f.moved != "" {
			t.Moves = append(t.Moves, Move{From: e.Path, To: f.moved, Dir: e.Dir, At: len(t.Edits)})
			e.Path = f.moved
		}
		if f.del {
			t.Removed++
			continue
		}
		if f.add {
			var b strings.Builder
			for _, l := range f.hunks[0].lines {
				b.WriteString(l[1:] + "\n")
			}
			out = append(out, count(e.editsFrom(b.String(), []stretch{{first: 1, n: len(f.hunks[0].lines)}}))...)
			continue
		}
		var es []Edit
		for _, h := range f.hunks {
			es = append(es, h.edits(e)...)
		}
		out = append(out, count(es)...)
	}
	return out
}

// count numbers the edits in a file.
func count(es []Edit) []Edit {
	for i := range es {
		es[i].N = i
	}
	return es
}
