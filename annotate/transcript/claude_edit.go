// This file works out which lines a call of Claude Code's tools changed.

package transcript

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/annotate"
)

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
