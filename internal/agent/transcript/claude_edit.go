// Which lines a call of Claude Code's tools changed.

package transcript

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

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

// claudeCall is a call of a tool that edits, until its result is there.
type claudeCall struct {
	at   int // in the order of calls
	name string
	in   claudeInput
	edit Edit
}

func quote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a text and a buffer do not fail
	return strings.TrimSpace(b.String())
}

// change is what a call did, as far as the transcript tells.
type change struct {
	todo  []claudeEdit
	now   string    // the whole file after the call
	where []stretch // that were put in
	known bool      // now and where are
}

// changeOf works out the content after a call from the content before.
func (call *claudeCall) changeOf(res *claudeResult, said string) change {
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
		c.where = between(*original, c.now)
	case len(c.todo) > 0:
		c.now, c.where, c.known = replaceIn(*original, c.todo)
	}
	c.known = c.known && len(c.now) <= maxFile
	return c
}

// edits finds the lines that a call has changed: by its content before, when
// the transcript has it; by its patch; by what it has put in.
func (call *claudeCall) edits(res *claudeResult, said string) []Edit {
	if call.name == "NotebookEdit" {
		return call.notebook(res)
	}
	c := call.changeOf(res, said)
	if len(res.Patch) > 0 {
		return call.byPatch(res, c)
	}
	e := call.edit
	e.tabs = false
	if c.known {
		return e.from(c.now, c.where)
	}
	if text := call.in.Content; call.name == "Write" && text != nil {
		// The file was there, and the transcript does not show how it was: all
		// of it is what the agent wrote.
		return e.from(*text, []stretch{{first: 1, n: len(annotate.Lines([]byte(*text)))}})
	}
	return e.bySnippet(c.todo, snippet(said))
}

// byPatch makes edits of the hunks of a result, with the leading tabs that the
// content or the texts of the call have.
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

// byHunks makes edits of hunks: of the content after them, when it is known and they
// fit; else with the leading tabs that the texts have.
func (e Edit) byHunks(hunks []hunk, now *string, texts []string) []Edit {
	var lines []string
	if now != nil {
		lines = annotate.Lines([]byte(*now))
	}
	var out []Edit
	for _, h := range hunks {
		for _, s := range h.edits(e) {
			if now != nil && fits(lines, s) {
				gone := s.Gone
				s = s.from(*now, []stretch{{first: s.Span.First, n: s.Span.Len()}})[0]
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

// bySnippet makes edits of the texts that were put in: where the lines that the
// tool has shown hold them, else to be found in the file.
func (e Edit) bySnippet(todo []claudeEdit, shown []numbered) []Edit {
	var out []Edit
	for _, t := range todo {
		if t.New == "" {
			continue // nothing is left to be found
		}
		s := e
		at, ok := locate(shown, t.New)
		head, foot := common(t.Old, t.New)
		if !ok {
			s.part = t.New
			if head+foot < len(t.New) {
				s.same[0], s.same[1] = strings.Count(t.New[:head], "\n"), strings.Count(strings.TrimSuffix(t.New[len(t.New)-foot:], "\n"), "\n")
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

var shownLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ *([0-9]{1,9})(?:→|\t)(.*)$`)
})

// snippet reads the lines with their numbers that the tools of older versions
// answer with.
func snippet(said string) []numbered {
	var out []numbered
	for l := range strings.SplitSeq(said, "\n") {
		m := shownLine().FindStringSubmatch(strings.TrimSuffix(l, "\r"))
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || (len(out) > 0 && n != out[len(out)-1].n+1) {
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
		e.Block = append(e.Block, quote(l))
	}
	e.loose = true
	return []Edit{e}
}
