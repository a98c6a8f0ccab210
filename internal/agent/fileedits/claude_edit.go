// This file determines the lines that a call of Claude Code's tools changed.

package fileedits

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// claudeInput contains the arguments of all editing tools.
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

// claudeResult contains the results of all editing tools.
type claudeResult struct {
	File      string  `json:"filePath"`
	Notebook  string  `json:"notebook_path"`
	Original  *string `json:"originalFile"`
	Originals *string `json:"originalFileContents"`
	NbOld     *string `json:"original_file"`
	NbNew     *string `json:"updated_file"`
	Kind      string  `json:"type"` // for Write: create or update
	Modified  bool    `json:"userModified"`
	Patch     []struct {
		New   int      `json:"newStart"`
		Lines []string `json:"lines"`
	} `json:"structuredPatch"`
}

// claudeCall is a call of Claude Code's editing tools.
type claudeCall struct {
	name string
	in   claudeInput
	edit Edit
}

// parseClaudeCall parses the arguments of a tool. It returns nil if the tool does not edit files.
func parseClaudeCall(tool string, raw json.RawMessage) *chatCall {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
	default:
		return nil
	}
	call := &chatCall{claude: &claudeCall{name: tool}}
	_ = json.Unmarshal(raw, &call.claude.in) // without arguments, no edit is found
	call.edit.Path = call.claude.in.File + call.claude.in.Notebook
	call.edit.tabs = true
	return call
}

// finish returns the edits of a successful call. The argument output is the text that the tool
// returned.
func (call *claudeCall) finish(made Edit, result json.RawMessage, output string) []Edit {
	var res claudeResult
	if len(result) > 0 && json.Unmarshal(result, &res) != nil {
		res = claudeResult{}
	}
	call.edit = made
	call.edit.Path = cmp.Or(res.File+res.Notebook, made.Path)
	return count(call.callEdits(&res, output))
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // ignore the error: encoding a string to a buffer never fails
	return strings.TrimSpace(b.String())
}

// change describes the change by a call as far as the transcript contains it.
type change struct {
	todo  []claudeEdit
	now   string    // content of the whole file after the call
	where []stretch // inserted lines
	known bool      // now and where are known
}

// computeChange computes the content after a call from the content before.
func (call *claudeCall) computeChange(res *claudeResult, said string) change {
	in := &call.in
	c := change{todo: in.Edits}
	if in.New != nil && in.Old != nil {
		c.todo = []claudeEdit{{*in.Old, *in.New, in.ReplaceAll}}
	}
	original := res.Original
	if original == nil {
		original = res.Originals
	}
	isNew := (call.name == "Write" && (res.Kind == "create" || strings.HasPrefix(said, "File created"))) ||
		(len(c.todo) > 0 && c.todo[0].Old == "")
	if original == nil && isNew {
		original = new(string)
	}
	switch {
	case res.Modified || original == nil || len(*original) > maxFile:
	case call.name == "Write" && in.Content != nil:
		c.now, c.known = *in.Content, true
		c.where = stretchBetween(*original, c.now)
	case len(c.todo) > 0:
		c.now, c.where, c.known = replaceIn(*original, c.todo)
	}
	c.known = c.known && len(c.now) <= maxFile
	return c
}

// callEdits returns the edits of a call: from the content before the call, if the transcript contains
// it, from the patch, or from the inserted text.
func (call *claudeCall) callEdits(res *claudeResult, said string) []Edit {
	if call.name == "NotebookEdit" {
		return call.notebookEdits(res)
	}
	c := call.computeChange(res, said)
	if len(res.Patch) > 0 {
		return call.byPatch(res, c)
	}
	e := call.edit
	e.tabs = false
	if c.known {
		return e.editsFrom(c.now, c.where)
	}
	if text := call.in.Content; call.name == "Write" && text != nil {
		// The file existed before, and the transcript does not contain its previous content.
		// Therefore the agent counts as the author of all lines.
		return e.editsFrom(*text, []stretch{{first: 1, n: len(annotate.SplitLines([]byte(*text)))}})
	}
	return e.bySnippet(c.todo, parseSnippet(said))
}

// byPatch returns the edits in the hunks of a result. Leading tabs are restored from the content or
// the arguments of the call.
func (call *claudeCall) byPatch(res *claudeResult, c change) []Edit {
	var texts []string
	for _, t := range c.todo {
		texts = append(texts, t.Old, t.New)
	}
	if call.in.Content != nil {
		texts = append(texts, *call.in.Content)
	}
	var now *string
	if c.known {
		now = &c.now
	}
	var hunks []hunk
	for _, p := range res.Patch {
		if p.New >= 0 && p.New <= 1<<30 {
			hunks = append(hunks, hunk{first: max(p.New, 1), lines: p.Lines})
		}
	}
	return call.edit.byHunks(hunks, now, texts)
}

// byHunks returns the edits in hunks. If the content after the edit is known and the hunks match
// it, the lines are taken from the content. Otherwise, leading tabs are restored from texts.
func (e Edit) byHunks(hunks []hunk, now *string, texts []string) []Edit {
	var lines []string
	if now != nil {
		lines = annotate.SplitLines([]byte(*now))
	}
	var out []Edit
	for _, h := range hunks {
		for _, s := range h.splitEdits(e) {
			if now != nil && fitsLines(lines, s) {
				gone := s.Gone
				s = s.editsFrom(*now, []stretch{{first: s.Span.First, n: s.Span.Len()}})[0]
				s.Gone, s.tabs = gone, false
			} else {
				s.Block = withTabs(s.Block, texts)
				s.Before = withTabs(s.Before, texts)
				s.After = withTabs(s.After, texts)
			}
			out = append(out, s)
		}
	}
	return out
}

// bySnippet converts the inserted texts to edits. An edit gets line numbers if the lines that the
// tool printed contain its text. Otherwise it must be searched for in the file.
func (e Edit) bySnippet(todo []claudeEdit, shown []numberedLine) []Edit {
	var out []Edit
	for _, t := range todo {
		if t.New == "" {
			continue // without inserted text, there is nothing to search for
		}
		s := e
		at, ok := locateText(shown, t.New)
		head, foot := commonLines(t.Old, t.New)
		if !ok {
			s.part = t.New
			if head+foot < len(t.New) {
				s.same[0], s.same[1] = strings.Count(t.New[:head], "\n"), strings.Count(
					strings.TrimSuffix(t.New[len(t.New)-foot:], "\n"),
					"\n",
				)
			}
			out = append(out, s)
			continue
		}
		if n := 1 + strings.Count(strings.TrimSuffix(t.New[head:len(t.New)-foot], "\n"), "\n"); head+foot < len(t.New) {
			at = stretch{first: at.first + strings.Count(t.New[:head], "\n"), n: n}
		}
		s.Span = annotate.Span{First: shown[at.first].n, Last: shown[at.first+at.n-1].n}
		texts := func(from, to int) (lines []string) {
			for _, l := range shown[max(0, from):min(len(shown), to)] {
				lines = append(lines, l.text)
			}
			return lines
		}
		s.Before = texts(at.first-annotate.Context, at.first)
		s.Block = texts(at.first, at.first+at.n)
		s.After = texts(at.first+at.n, at.first+at.n+annotate.Context)
		out = append(out, s)
	}
	return out
}

// fitsLines reports whether lines contain the block of an edit at its position. Leading tabs in the
// block may be shown as spaces.
func fitsLines(lines []string, e Edit) bool {
	isInFile := e.Span.First >= 1 && e.Span.Last <= len(lines)
	if !isInFile || len(e.Block) != e.Span.Len() {
		return false
	}
	for i, l := range e.Block {
		if have := lines[e.Span.First-1+i]; have != l && untab(have) != untab(l) {
			return false
		}
	}
	return true
}

// untab replaces each leading tab by two spaces.
func untab(l string) string {
	rest := strings.TrimLeft(l, "\t")
	return strings.Repeat("  ", len(l)-len(rest)) + rest
}

// withTabs restores the leading tabs of lines that occur in texts.
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
				for _, l := range annotate.SplitLines([]byte(t)) {
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

// replaceIn applies the edits in order. It returns the resulting text and the positions of all
// replacements, or false if an edit does not match.
func replaceIn(text string, todo []claudeEdit) (string, []stretch, bool) {
	type place struct {
		from, to int  // inserted bytes
		gone     bool // nothing was inserted and whole lines were removed
	}
	var places []place
	for _, t := range todo {
		old := t.Old
		removesText := t.New == "" && !strings.HasSuffix(old, "\n")
		if removesText && strings.Contains(text, old+"\n") {
			old += "\n" // the tool removes the line together with its line end
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
			head, foot := commonLines(old, t.New)
			p := place{from: i + head, to: i + len(t.New) - foot}
			p.gone = p.from == p.to && (p.from == 0 || text[p.from-1] == '\n') &&
				strings.HasSuffix(old[:len(old)-foot], "\n")
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

// commonLines returns the number of bytes in the whole lines that a and b have in common at their
// beginning and end.
func commonLines(a, b string) (head, foot int) {
	for {
		i, j := strings.IndexByte(a[head:], '\n')+1, strings.IndexByte(b[head:], '\n')+1
		if i == 0 || i != j {
			break
		}
		if a[head:head+i] != b[head:head+j] {
			break
		}
		head += i
	}
	for {
		i, j := strings.LastIndexByte(a[head:len(a)-foot], '\n'), strings.LastIndexByte(b[head:len(b)-foot], '\n')
		if i < 0 || j < 0 {
			break
		}
		if a[head+i:len(a)-foot] != b[head+j:len(b)-foot] {
			break
		}
		foot = len(a) - head - i
	}
	// If the remaining part of one text is also the last line in the other's remaining part, both
	// have this line in common as well.
	ra, rb := a[head:len(a)-foot], b[head:len(b)-foot]
	if ra != "" && strings.HasSuffix(rb, "\n"+ra) {
		foot += len(ra)
	} else if rb != "" && strings.HasSuffix(ra, "\n"+rb) {
		foot += len(rb)
	}
	return head, foot
}

// numberedLine is a line of a file with its number, as shown by a tool.
type numberedLine struct {
	n    int
	text string
}

var shownLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ *([0-9]{1,9})(?:→|\t)(.*)$`)
})

// parseSnippet parses the numbered lines in older tools' output.
func parseSnippet(said string) []numberedLine {
	var out []numberedLine
	for l := range strings.SplitSeq(said, "\n") {
		m := shownLine().FindStringSubmatch(strings.TrimSuffix(l, "\r"))
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 {
			return nil
		}
		if len(out) > 0 && n != out[len(out)-1].n+1 {
			return nil
		}
		out = append(out, numberedLine{n, m[2]})
	}
	return out
}

// locateText finds the lines that contain a text. The text must occur exactly once.
func locateText(lines []numberedLine, text string) (stretch, bool) {
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

// notebookEdits returns the edits of a cell. A notebook contains the lines of a cell as JSON strings.
func (call *claudeCall) notebookEdits(res *claudeResult) []Edit {
	e := call.edit
	e.tabs = false
	hasTexts := res.NbOld != nil && res.NbNew != nil
	if hasTexts && len(*res.NbNew) <= maxFile {
		return e.editsFrom(*res.NbNew, stretchBetween(*res.NbOld, *res.NbNew))
	}
	if call.in.Mode == "delete" || call.in.Source == "" {
		return nil
	}
	for l := range strings.SplitAfterSeq(call.in.Source, "\n") {
		if l == "" {
			continue
		}
		e.Block = append(e.Block, quote(l))
	}
	e.loose = true
	return []Edit{e}
}
