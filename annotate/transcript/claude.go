// This file reads transcripts of Claude Code: ~/.claude/projects/*/*.jsonl.
//
// A line is {"type":"assistant"|"user"|…,"uuid":…,"parentUuid":…,"sessionId":…,
// "cwd":…,"timestamp":…,"isSidechain":…,"message":{"role":…,"content":…}}. The
// content of an assistant is blocks of text, thinking and tool_use; that of a
// user is a string, or blocks of text and tool_result. A line that carries the
// result of a tool has it once more under toolUseResult, as the program knows
// it. For tools that edit this is
//
//	{"filePath":…,"oldString":…,"newString":…,"replaceAll":…,"originalFile":…,
//	 "structuredPatch":[{"oldStart":…,"newStart":…,"lines":[" a","-b","+c"]}],"userModified":…}
//
// where the lines of the patch show each leading tab as two spaces, and
// originalFile may be null. Parents make the lines a tree, since a conversation
// can be taken back; the main conversation and those of sub-agents may stand in
// one file.

package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/annotate"
)

type claudeLine struct {
	Type      string    `json:"type"`
	UUID      string    `json:"uuid"`
	Parent    string    `json:"parentUuid"`
	Logical   string    `json:"logicalParentUuid"` // across a compaction
	Session   string    `json:"sessionId"`
	Cwd       string    `json:"cwd"`
	Time      time.Time `json:"timestamp"`
	Sidechain bool      `json:"isSidechain"`
	Agent     string    `json:"agentId"`
	Meta      bool      `json:"isMeta"`
	Summary   bool      `json:"isCompactSummary"`
	Message   struct {
		Role    string          `json:"role"`
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	Result json.RawMessage `json:"toolUseResult"`
}

type claudeBlock struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Thinking string          `json:"thinking"`
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Input    json.RawMessage `json:"input"`
	UseID    string          `json:"tool_use_id"`
	Content  json.RawMessage `json:"content"`
	IsError  bool            `json:"is_error"`
}

// claudeInput is what the tools that edit are given, all in one.
type claudeInput struct {
	File       string       `json:"file_path"`
	Notebook   string       `json:"notebook_path"`
	Content    *string      `json:"content"`
	Old        *string      `json:"old_string"`
	New        *string      `json:"new_string"`
	ReplaceAll bool         `json:"replace_all"`
	Edits      []claudeEdit `json:"edits"`
	Source     string       `json:"new_source"`
	Mode       string       `json:"edit_mode"`
}

type claudeEdit struct {
	Old        string `json:"old_string"`
	New        string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// claudeResult is what the tools that edit answer, all in one.
type claudeResult struct {
	File      string  `json:"filePath"`
	Notebook  string  `json:"notebook_path"`
	Original  *string `json:"originalFile"`
	Originals *string `json:"originalFileContents"`
	NbOld     *string `json:"original_file"`
	NbNew     *string `json:"updated_file"`
	Kind      string  `json:"type"` // of Write: create or update
	Modified  bool    `json:"userModified"`
	Patch     []struct {
		New   int      `json:"newStart"`
		Lines []string `json:"lines"`
	} `json:"structuredPatch"`
}

// isClaude goes by keys that no other program writes.
func isClaude(b []byte) bool {
	var l struct {
		Type    string          `json:"type"`
		Session string          `json:"sessionId"`
		Parent  json.RawMessage `json:"parentUuid"`
		Leaf    string          `json:"leafUuid"`
	}
	return json.Unmarshal(b, &l) == nil && l.Type != "" && (l.Session != "" || l.Parent != nil || l.Leaf != "")
}

// claudeCall is a call of a tool that edits, until its result is there.
type claudeCall struct {
	at   int // in the order of calls
	name string
	in   claudeInput
	edit Edit
}

type claude struct {
	t     *Transcript
	at    map[string]*reasoning // by uuid of a line: what was said up to there
	lines map[string]*reasoning // the same by sub-agent, for lines without uuids
	calls map[string]*claudeCall
	seen  map[string]bool // ids of calls
	done  map[int][]Edit  // by order of calls
	n     int
}

func newClaude(t *Transcript) reader {
	return &claude{t: t, at: map[string]*reasoning{}, lines: map[string]*reasoning{},
		calls: map[string]*claudeCall{}, seen: map[string]bool{}, done: map[int][]Edit{}}
}

func (c *claude) line(b []byte) error {
	var l claudeLine
	if err := json.Unmarshal(b, &l); err != nil {
		return err
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

func (c *claude) assistant(l *claudeLine, r *reasoning) *reasoning {
	var blocks []claudeBlock
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		for _, t := range texts(l.Message.Content) {
			r = r.says(t, true)
		}
		return r
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			r = r.says(b.Text, true)
		case "thinking":
			r = r.says(b.Thinking, false)
		case "tool_use":
			switch b.Name {
			case "Edit", "MultiEdit", "Write", "NotebookEdit":
			default:
				continue
			}
			if b.ID == "" || c.seen[b.ID] {
				continue // a conversation that was gone on with may repeat its past
			}
			c.seen[b.ID] = true
			c.t.Calls++
			call := &claudeCall{at: c.n, name: b.Name, edit: Edit{Call: b.ID, Dir: l.Cwd, Why: r.why(), Time: l.Time, Session: l.Session, Model: l.Message.Model, tabs: true}}
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

func (c *claude) user(l *claudeLine, r *reasoning) *reasoning {
	var blocks []claudeBlock
	if json.Unmarshal(l.Message.Content, &blocks) == nil {
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
			c.finish(call, &res, strings.Join(texts(b.Content, "text"), "\n"))
		}
	}
	if l.Meta || l.Summary {
		return r
	}
	for _, t := range texts(l.Message.Content, "text") {
		if t = strings.TrimSpace(t); t != "" && !injected(t) {
			r = r.asks(t)
		}
	}
	return r
}

// injected reports whether a text in the user's name is the program's.
func injected(t string) bool {
	for _, p := range []string{"<command-", "<local-command-", "<bash-", "<system-reminder>", "Caveat: The messages below", "[Request interrupted"} {
		if strings.HasPrefix(t, p) {
			return true
		}
	}
	return false
}

// finish makes edits of a call that succeeded.
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

// edits finds the lines that a call has changed: by its content before, when
// the transcript has it; by its patch; by what it has put in.
func (call *claudeCall) edits(res *claudeResult, said string) []Edit {
	e, in := call.edit, &call.in
	if call.name == "NotebookEdit" {
		return call.notebook(res)
	}
	todo := in.Edits
	if in.New != nil && in.Old != nil {
		todo = []claudeEdit{{*in.Old, *in.New, in.ReplaceAll}}
	}
	original := res.Original
	if original == nil {
		original = res.Originals
	}
	if original == nil && (call.name == "Write" && (res.Kind == "create" || strings.HasPrefix(said, "File created")) ||
		len(todo) > 0 && todo[0].Old == "") {
		original = new(string) // the file is new
	}
	now, where, known := "", []stretch(nil), false
	switch {
	case res.Modified || original == nil || len(*original) > maxFile:
	case call.name == "Write" && in.Content != nil:
		now, known = *in.Content, true
		where = between(*original, now)
	case len(todo) > 0:
		now, where, known = replaceIn(*original, todo)
	}
	if known && len(now) > maxFile {
		known = false
	}
	if len(res.Patch) > 0 {
		lines := annotate.Lines([]byte(now))
		var out []Edit
		for _, p := range res.Patch {
			if p.New < 0 || p.New > 1<<30 {
				continue
			}
			for _, s := range (hunk{first: max(p.New, 1), lines: p.Lines}).edits(e) {
				switch {
				case known && fits(lines, s):
					gone := s.Gone
					s = s.from(now, []stretch{{first: s.Span.First, n: s.Span.Len()}})[0]
					s.Gone, s.tabs = gone, false
				default:
					var texts []string
					for _, t := range todo {
						texts = append(texts, t.Old, t.New)
					}
					if in.Content != nil {
						texts = append(texts, *in.Content)
					}
					s.Block, s.Before, s.After = withTabs(s.Block, texts), withTabs(s.Before, texts), withTabs(s.After, texts)
				}
				out = append(out, s)
			}
		}
		return out
	}
	if known {
		e.tabs = false
		return e.from(now, where)
	}
	if call.name == "Write" && in.Content != nil {
		// The file was there, and the transcript does not show how it was: all
		// of it is what the agent wrote.
		e.tabs = false
		return e.from(*in.Content, []stretch{{first: 1, n: len(annotate.Lines([]byte(*in.Content)))}})
	}
	var out []Edit
	shown := snippet(said)
	for _, t := range todo {
		s := e
		s.tabs = false
		if t.New == "" {
			continue // nothing is left to be found
		}
		if at, ok := locate(shown, t.New); ok {
			head, foot := common(t.Old, t.New)
			if n := 1 + strings.Count(strings.TrimSuffix(t.New[head:len(t.New)-foot], "\n"), "\n"); head+foot < len(t.New) {
				at = stretch{first: at.first + strings.Count(t.New[:head], "\n"), n: n}
			}
			s.Span = annotate.Span{First: shown[at.first].n, Last: shown[at.first+at.n-1].n}
			for i := max(0, at.first-annotate.Context); i < min(len(shown), at.first+at.n+annotate.Context); i++ {
				switch {
				case i < at.first:
					s.Before = append(s.Before, shown[i].text)
				case i < at.first+at.n:
					s.Block = append(s.Block, shown[i].text)
				default:
					s.After = append(s.After, shown[i].text)
				}
			}
		} else {
			s.part = t.New
		}
		out = append(out, s)
	}
	return out
}

// fits reports whether the block of an edit, whose leading tabs may be shown as
// spaces, stands in its place among the lines.
func fits(lines []string, e Edit) bool {
	if e.Span.First < 1 || e.Span.Last > len(lines) || len(e.Block) != e.Span.Len() {
		return false
	}
	for i, l := range e.Block {
		if have := lines[e.Span.First-1+i]; have != l && untab(have) != untab(l) {
			return false
		}
	}
	return true
}

// untab shows each leading tab as two spaces.
func untab(l string) string {
	rest := strings.TrimLeft(l, "\t")
	return strings.Repeat("  ", len(l)-len(rest)) + rest
}

// withTabs gives lines their leading tabs back, as far as the texts hold them.
func withTabs(lines []string, texts []string) []string {
	var have map[string]string
	out := slices.Clone(lines)
	for i, l := range lines {
		if !strings.HasPrefix(l, "  ") {
			continue
		}
		if have == nil {
			have = map[string]string{}
			for _, t := range texts {
				for _, l := range annotate.Lines([]byte(t)) {
					if strings.HasPrefix(l, "\t") {
						have[untab(l)] = l
					}
				}
			}
		}
		if was, ok := have[l]; ok {
			out[i] = was
		}
	}
	return out
}

// replaceIn does the edits in turn and returns where the last of each stand, or
// false when one does not fit.
func replaceIn(text string, todo []claudeEdit) (string, []stretch, bool) {
	type place struct {
		from, to int  // bytes that were put in
		gone     bool // nothing was, and whole lines were taken out
	}
	var places []place
	for _, t := range todo {
		old := t.Old
		if t.New == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n") {
			old += "\n" // the tool takes out the line with its end
		}
		if old == "" {
			if text != "" {
				return "", nil, false
			}
			text, places = t.New, []place{{0, len(t.New), false}}
			continue
		}
		for at := 0; ; {
			i := strings.Index(text[at:], old)
			if i < 0 {
				if at == 0 {
					return "", nil, false
				}
				break
			}
			i += at
			grown := len(t.New) - len(old)
			if len(text)+grown > maxFile {
				return "", nil, false
			}
			text = text[:i] + t.New + text[i+len(old):]
			for k := range places {
				if places[k].from >= i+len(old) {
					places[k].from += grown
				}
				if places[k].to >= i+len(old) {
					places[k].to += grown
				}
			}
			head, foot := common(old, t.New)
			p := place{from: i + head, to: i + len(t.New) - foot}
			p.gone = p.from == p.to && (p.from == 0 || text[p.from-1] == '\n') && strings.HasSuffix(old[:len(old)-foot], "\n")
			places = append(places, p)
			at = i + len(t.New)
			if !t.ReplaceAll || len(places) > 10000 {
				break
			}
		}
	}
	var out []stretch
	for _, p := range places {
		p.to = min(p.to, len(text))
		p.from = min(p.from, p.to)
		first := 1 + strings.Count(text[:p.from], "\n")
		put := text[p.from:p.to]
		n := 1 + strings.Count(strings.TrimSuffix(put, "\n"), "\n")
		out = append(out, stretch{first, n, p.gone})
	}
	slices.SortFunc(out, func(a, b stretch) int { return a.first - b.first })
	return text, slices.Compact(out), true
}

// common returns how many bytes of whole lines two texts begin and end with in
// common.
func common(a, b string) (head, foot int) {
	for {
		i, j := strings.IndexByte(a[head:], '\n')+1, strings.IndexByte(b[head:], '\n')+1
		if i == 0 || i != j || a[head:head+i] != b[head:head+j] {
			break
		}
		head += i
	}
	for {
		i, j := strings.LastIndexByte(a[head:len(a)-foot], '\n'), strings.LastIndexByte(b[head:len(b)-foot], '\n')
		if i < 0 || j < 0 || a[head+i:len(a)-foot] != b[head+j:len(b)-foot] {
			break
		}
		foot = len(a) - head - i
	}
	// What is left of one may be the last line of the other.
	ra, rb := a[head:len(a)-foot], b[head:len(b)-foot]
	if ra != "" && strings.HasSuffix(rb, "\n"+ra) {
		foot += len(ra)
	} else if rb != "" && strings.HasSuffix(ra, "\n"+rb) {
		foot += len(rb)
	}
	return head, foot
}

// numbered is a line of a file as a tool shows it.
type numbered struct {
	n    int
	text string
}

var shownLine = regexp.MustCompile(`^ *([0-9]{1,9})(?:→|\t)(.*)$`)

// snippet reads the lines with their numbers that the tools of older versions
// answer with.
func snippet(said string) []numbered {
	var out []numbered
	for l := range strings.SplitSeq(said, "\n") {
		m := shownLine.FindStringSubmatch(strings.TrimSuffix(l, "\r"))
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || len(out) > 0 && n != out[len(out)-1].n+1 {
			return nil
		}
		out = append(out, numbered{n, m[2]})
	}
	return out
}

// locate finds the lines that hold a text, which must stand there once.
func locate(lines []numbered, text string) (stretch, bool) {
	if len(lines) == 0 || strings.TrimSpace(text) == "" {
		return stretch{}, false
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	all := b.String()
	text = strings.ReplaceAll(text, "\r\n", "\n")
	i := strings.Index(all, text)
	if i < 0 || strings.Contains(all[i+1:], text) {
		return stretch{}, false
	}
	first := strings.Count(all[:i], "\n")
	n := 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	if first+n > len(lines) {
		return stretch{}, false
	}
	return stretch{first: first, n: n}, true
}

// notebook finds the lines of a cell, which a notebook holds as JSON strings.
func (call *claudeCall) notebook(res *claudeResult) []Edit {
	e := call.edit
	e.tabs = false
	if res.NbOld != nil && res.NbNew != nil && len(*res.NbNew) <= maxFile {
		return e.from(*res.NbNew, between(*res.NbOld, *res.NbNew))
	}
	if call.in.Mode == "delete" || call.in.Source == "" {
		return nil
	}
	for l := range strings.SplitAfterSeq(call.in.Source, "\n") {
		if l == "" {
			continue
		}
		q, err := quote(l)
		if err != nil {
			return nil
		}
		e.Block = append(e.Block, q)
	}
	e.loose = true
	return []Edit{e}
}

func quote(s string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return "", errors.New("is no text")
	}
	return strings.TrimSpace(b.String()), nil
}
