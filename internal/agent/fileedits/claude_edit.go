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

// claudeInput contains the arguments of all editing tools in Claude Code.
type claudeInput struct {
	File       string       `json:"file_path"`
	Notebook   string       `json:"notebook_path"`
	Content    *string      `json:"content"`
	OldText    *string      `json:"old_string"`
	NewText    *string      `json:"new_string"`
	ReplaceAll bool         `json:"replace_all"`
	Edits      []claudeEdit `json:"edits"`
	NewSource  string       `json:"new_source"`
	EditMode   string       `json:"edit_mode"`
}

type claudeEdit struct {
	OldText    string `json:"old_string"`
	NewText    string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all"`
}

// claudeEditResult contains the results of all editing tools in Claude Code.
type claudeEditResult struct {
	File             string  `json:"filePath"`
	Notebook         string  `json:"notebook_path"`
	OriginalFile     *string `json:"originalFile"`
	OriginalContents *string `json:"originalFileContents"`
	OldNotebook      *string `json:"original_file"`
	NewNotebook      *string `json:"updated_file"`
	Kind             string  `json:"type"` // "create" or "update", only for the tool Write
	IsUserModified   bool    `json:"userModified"`
	Patch            []struct {
		New   int      `json:"newStart"`
		Lines []string `json:"lines"`
	} `json:"structuredPatch"`
}

// claudeCall is a call of an editing tool in Claude Code.
type claudeCall struct {
	tool string
	args claudeInput
	edit Edit
}

// parseClaudeCall parses the arguments of a tool call. It returns nil if the tool does not edit files.
func parseClaudeCall(tool string, raw json.RawMessage) *chatCall {
	switch tool {
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
	default:
		return nil
	}
	call := &chatCall{claudeCall: &claudeCall{tool: tool}}
	// Ignore the error: a call whose arguments cannot be decoded results in no edits.
	_ = json.Unmarshal(raw, &call.claudeCall.args)
	call.edit.Path = call.claudeCall.args.File + call.claudeCall.args.Notebook
	call.edit.mayHaveSpacesForTabs = true
	return call
}

// editsFromResult returns the edits of a successful call. Each edit is a copy of template with the changed lines
// added. output is the text that the tool returned.
func (call *claudeCall) editsFromResult(template Edit, result json.RawMessage, output string) []Edit {
	var res claudeEditResult
	if len(result) > 0 && json.Unmarshal(result, &res) != nil {
		res = claudeEditResult{}
	}
	call.edit = template
	call.edit.Path = cmp.Or(res.File+res.Notebook, template.Path)
	return assignEditNumbers(call.editsFromChange(&res, output))
}

func jsonQuote(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // Ignore the error: writing to a buffer never fails.
	return strings.TrimSpace(b.String())
}

// fileContentChange describes how a call changed a file. It contains only what the transcript shows.
type fileContentChange struct {
	replacements   []claudeEdit
	newContent     string      // the whole file's content after the call
	insertedRanges []lineRange // ranges of the lines in newContent that the call inserted
	isKnown        bool        // whether newContent and insertedRanges are known (replacements is always set)
}

// computeChange applies the call to the file's previous content and returns the file's new content and the ranges that
// were inserted. The previous content comes from res, the call's result in the transcript. The previous content of a
// new file is empty.
//
// If the new content cannot be computed, the result's field isKnown is false. The reason can be that the previous
// content is unknown, that the user modified the edit, or that the previous or the new content is longer than
// maxFileBytes.
func (call *claudeCall) computeChange(res *claudeEditResult, toolOutput string) fileContentChange {
	in := &call.args
	c := fileContentChange{replacements: in.Edits}
	if in.NewText != nil && in.OldText != nil {
		c.replacements = []claudeEdit{{*in.OldText, *in.NewText, in.ReplaceAll}}
	}
	original := res.OriginalFile
	if original == nil {
		original = res.OriginalContents
	}
	isNew := (call.tool == "Write" && (res.Kind == "create" || strings.HasPrefix(toolOutput, "File created"))) ||
		(len(c.replacements) > 0 && c.replacements[0].OldText == "")
	if original == nil && isNew {
		original = new(string)
	}
	switch {
	case res.IsUserModified || original == nil || len(*original) > maxFileBytes:
	case call.tool == "Write" && in.Content != nil:
		c.newContent, c.isKnown = *in.Content, true
		c.insertedRanges = findChangedRange(*original, c.newContent)
	case len(c.replacements) > 0:
		c.newContent, c.insertedRanges, c.isKnown = applyReplacements(*original, c.replacements)
	}
	c.isKnown = c.isKnown && len(c.newContent) <= maxFileBytes
	return c
}

// editsFromChange returns the edits of a call. For the tool NotebookEdit, it returns the edits of the notebook cell.
// For other tools, it uses the first of these sources that is present:
//
// - the patch in the result
// - the new content of the file, as computed from the previous content
// - the whole text that the tool Write wrote
// - the replacements in the call's arguments
func (call *claudeCall) editsFromChange(res *claudeEditResult, toolOutput string) []Edit {
	if call.tool == "NotebookEdit" {
		return call.editsFromNotebook(res)
	}
	c := call.computeChange(res, toolOutput)
	if len(res.Patch) > 0 {
		return call.editsFromPatch(res, c)
	}
	e := call.edit
	e.mayHaveSpacesForTabs = false
	if c.isKnown {
		return e.editsInRanges(c.newContent, c.insertedRanges)
	}
	if text := call.args.Content; call.tool == "Write" && text != nil {
		// The file existed before the call, but the transcript does not contain its previous content. Therefore all
		// lines count as written by the agent.
		return e.editsInRanges(*text, []lineRange{{firstLine: 1, lineCount: len(annotate.SplitLines([]byte(*text)))}})
	}
	return e.editsFromSnippet(c.replacements, parseSnippet(toolOutput))
}

// editsFromPatch returns the edits in the patch of a result. Claude Code shows leading tabs as spaces, so the tabs are
// restored from the new content or the call's arguments.
func (call *claudeCall) editsFromPatch(res *claudeEditResult, change fileContentChange) []Edit {
	var texts []string
	for _, t := range change.replacements {
		texts = append(texts, t.OldText, t.NewText)
	}
	if call.args.Content != nil {
		texts = append(texts, *call.args.Content)
	}
	var now *string
	if change.isKnown {
		now = &change.newContent
	}
	var hunks []hunk
	for _, p := range res.Patch {
		if p.New >= 0 && p.New <= 1<<30 {
			hunks = append(hunks, hunk{firstLine: max(p.New, 1), lines: p.Lines})
		}
	}
	return call.edit.editsFromHunks(hunks, now, texts)
}

// editsFromHunks returns an edit for each stretch of changed lines in a diff's hunks. Each edit is a copy of e with the
// changed lines and the lines around them. If newContent contains all lines of an edit, they are copied from
// newContent. Otherwise they are copied from the diff. A diff may show leading tabs as spaces. editsFromHunks then
// changes these spaces back into tabs if the list textsWithTabs contains the same line with tabs.
func (e Edit) editsFromHunks(hunks []hunk, newContent *string, textsWithTabs []string) []Edit {
	var lines []string
	if newContent != nil {
		lines = annotate.SplitLines([]byte(*newContent))
	}
	var out []Edit
	for _, h := range hunks {
		for _, s := range h.splitIntoEdits(e) {
			if newContent != nil && containsEditLines(lines, s) {
				gone := s.IsRemovalOnly
				s = s.editsInRanges(*newContent, []lineRange{{firstLine: s.Span.First, lineCount: s.Span.Len()}})[0]
				s.IsRemovalOnly, s.mayHaveSpacesForTabs = gone, false
			} else {
				s.NewLines = restoreLeadingTabs(s.NewLines, textsWithTabs)
				s.LinesBefore = restoreLeadingTabs(s.LinesBefore, textsWithTabs)
				s.LinesAfter = restoreLeadingTabs(s.LinesAfter, textsWithTabs)
			}
			out = append(out, s)
		}
	}
	return out
}

// editsFromSnippet returns an edit for each inserted text. If the numbered lines that the tool printed contain the
// text, the edit gets their line numbers. Otherwise the text must be searched for in the file.
func (e Edit) editsFromSnippet(replacements []claudeEdit, numberedLines []numberedLine) []Edit {
	var out []Edit
	for _, t := range replacements {
		if t.NewText == "" {
			continue // The call only deleted text, so the file contains no inserted text that could be searched for.
		}
		s := e
		at, ok := findTextLines(numberedLines, t.NewText)
		head, foot := countCommonLineBytes(t.OldText, t.NewText)
		if !ok {
			s.partialLineText = t.NewText
			if head+foot < len(t.NewText) {
				s.unchangedEdgeLineCounts[0], s.unchangedEdgeLineCounts[1] = strings.Count(
					t.NewText[:head],
					"\n",
				), strings.Count(
					strings.TrimSuffix(t.NewText[len(t.NewText)-foot:], "\n"),
					"\n",
				)
			}
			out = append(out, s)
			continue
		}
		if n := 1 + strings.Count(strings.TrimSuffix(t.NewText[head:len(t.NewText)-foot], "\n"), "\n"); head+foot < len(
			t.NewText,
		) {
			at = lineRange{firstLine: at.firstLine + strings.Count(t.NewText[:head], "\n"), lineCount: n}
		}
		s.Span = annotate.LineSpan{
			First: numberedLines[at.firstLine].number,
			Last:  numberedLines[at.firstLine+at.lineCount-1].number,
		}
		texts := func(from, to int) (lines []string) {
			for _, l := range numberedLines[max(0, from):min(len(numberedLines), to)] {
				lines = append(lines, l.text)
			}
			return lines
		}
		s.LinesBefore = texts(at.firstLine-annotate.ContextLines, at.firstLine)
		s.NewLines = texts(at.firstLine, at.firstLine+at.lineCount)
		s.LinesAfter = texts(at.firstLine+at.lineCount, at.firstLine+at.lineCount+annotate.ContextLines)
		out = append(out, s)
	}
	return out
}

// containsEditLines reports whether the file's lines at e.Span are equal to e.NewLines. A line in e.NewLines may
// contain two spaces for each leading tab of the line in the file.
func containsEditLines(lines []string, e Edit) bool {
	isInFile := e.Span.First >= 1 && e.Span.Last <= len(lines)
	if !isInFile || len(e.NewLines) != e.Span.Len() {
		return false
	}
	for i, l := range e.NewLines {
		if have := lines[e.Span.First-1+i]; have != l && expandLeadingTabs(have) != expandLeadingTabs(l) {
			return false
		}
	}
	return true
}

// expandLeadingTabs replaces each leading tab by two spaces.
func expandLeadingTabs(line string) string {
	rest := strings.TrimLeft(line, "\t")
	return strings.Repeat("  ", len(line)-len(rest)) + rest
}

// restoreLeadingTabs returns the lines with their leading tabs restored. A line is restored if the texts in
// textsWithTabs contain the same line with tabs instead of spaces.
func restoreLeadingTabs(lines []string, textsWithTabs []string) []string {
	var have map[string]string
	out := slices.Clone(lines)
	for i, l := range lines {
		if !strings.HasPrefix(l, "  ") {
			continue
		}
		if have == nil {
			have = map[string]string{}
			for _, t := range textsWithTabs {
				for _, l := range annotate.SplitLines([]byte(t)) {
					if strings.HasPrefix(l, "\t") {
						have[expandLeadingTabs(l)] = l
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

// applyReplacements applies the replacements to the text one after another. It returns the resulting text, and the line
// ranges of the inserted texts in the result, sorted. Whole lines that a replacement leaves unchanged at its beginning
// and its end are not in its range. applyReplacements returns false if a text to replace does not occur, or if the
// result is longer than maxFileBytes.
func applyReplacements(text string, replacements []claudeEdit) (string, []lineRange, bool) {
	type place struct {
		from, to int  // range of the bytes in the resulting text that were inserted
		gone     bool // The replacement only removed whole lines from the text.
	}
	var places []place
	for _, t := range replacements {
		old := t.OldText
		removesText := t.NewText == "" && !strings.HasSuffix(old, "\n")
		if removesText && strings.Contains(text, old+"\n") {
			old += "\n" // Claude Code's edit tool also removes the newline after a removed text.
		}
		if old == "" {
			if text != "" {
				return "", nil, false
			}
			text, places = t.NewText, []place{{0, len(t.NewText), false}}
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
			grown := len(t.NewText) - len(old)
			if len(text)+grown > maxFileBytes {
				return "", nil, false
			}
			text = text[:i] + t.NewText + text[i+len(old):]
			for k := range places {
				if places[k].from >= i+len(old) {
					places[k].from += grown
				}
				if places[k].to >= i+len(old) {
					places[k].to += grown
				}
			}
			head, foot := countCommonLineBytes(old, t.NewText)
			p := place{from: i + head, to: i + len(t.NewText) - foot}
			p.gone = p.from == p.to && (p.from == 0 || text[p.from-1] == '\n') &&
				strings.HasSuffix(old[:len(old)-foot], "\n")
			places = append(places, p)
			at = i + len(t.NewText)
			if !t.ReplaceAll || len(places) > 10000 {
				break
			}
		}
	}
	var out []lineRange
	for _, p := range places {
		p.to = min(p.to, len(text))
		p.from = min(p.from, p.to)
		first := 1 + strings.Count(text[:p.from], "\n")
		put := text[p.from:p.to]
		n := 1 + strings.Count(strings.TrimSuffix(put, "\n"), "\n")
		out = append(out, lineRange{first, n, p.gone})
	}
	slices.SortFunc(out, func(a, b lineRange) int { return a.firstLine - b.firstLine })
	return text, slices.Compact(out), true
}

// countCommonLineBytes compares the whole lines of the texts a and b. The result prefixBytes is the length in bytes of
// the lines that are equal at the beginning of both texts. The result suffixBytes is the length of the lines that are
// equal at the end. No line is counted in both results.
func countCommonLineBytes(a, b string) (prefixBytes, suffixBytes int) {
	for {
		i, j := strings.IndexByte(a[prefixBytes:], '\n')+1, strings.IndexByte(b[prefixBytes:], '\n')+1
		if i == 0 || i != j {
			break
		}
		if a[prefixBytes:prefixBytes+i] != b[prefixBytes:prefixBytes+j] {
			break
		}
		prefixBytes += i
	}
	for {
		i, j := strings.LastIndexByte(
			a[prefixBytes:len(a)-suffixBytes],
			'\n',
		), strings.LastIndexByte(
			b[prefixBytes:len(b)-suffixBytes],
			'\n',
		)
		if i < 0 || j < 0 {
			break
		}
		if a[prefixBytes+i:len(a)-suffixBytes] != b[prefixBytes+j:len(b)-suffixBytes] {
			break
		}
		suffixBytes = len(a) - prefixBytes - i
	}
	// The strings ra and rb contain what remains of a and b between the common lines. If one of these strings is equal
	// to the last line of the other string, this last line is also common to both texts.
	ra, rb := a[prefixBytes:len(a)-suffixBytes], b[prefixBytes:len(b)-suffixBytes]
	if ra != "" && strings.HasSuffix(rb, "\n"+ra) {
		suffixBytes += len(ra)
	} else if rb != "" && strings.HasSuffix(ra, "\n"+rb) {
		suffixBytes += len(rb)
	}
	return prefixBytes, suffixBytes
}

// numberedLine is a line of a file with its line number, as a tool prints the line.
type numberedLine struct {
	number int
	text   string
}

var numberedLinePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^ *([0-9]{1,9})(?:→|\t)(.*)$`)
})

// parseSnippet parses the numbered lines that editing tools print in old versions of Claude Code. Other lines are
// skipped. parseSnippet returns nil if the line numbers are not consecutive.
func parseSnippet(toolOutput string) []numberedLine {
	var out []numberedLine
	for l := range strings.SplitSeq(toolOutput, "\n") {
		m := numberedLinePattern().FindStringSubmatch(strings.TrimSuffix(l, "\r"))
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 {
			return nil
		}
		if len(out) > 0 && n != out[len(out)-1].number+1 {
			return nil
		}
		out = append(out, numberedLine{n, m[2]})
	}
	return out
}

// findTextLines returns the range of the lines that contain a text. Unlike in other ranges, firstLine is an index in
// lines, from 0. findTextLines returns false unless the text occurs exactly once.
func findTextLines(lines []numberedLine, text string) (lineRange, bool) {
	if len(lines) == 0 || strings.TrimSpace(text) == "" {
		return lineRange{}, false
	}
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text + "\n")
	}
	all := b.String()
	text = strings.ReplaceAll(text, "\r\n", "\n")
	i := strings.Index(all, text)
	if i < 0 || strings.Contains(all[i+1:], text) {
		return lineRange{}, false
	}
	first := strings.Count(all[:i], "\n")
	n := 1 + strings.Count(strings.TrimSuffix(text, "\n"), "\n")
	if first+n > len(lines) {
		return lineRange{}, false
	}
	return lineRange{firstLine: first, lineCount: n}, true
}

// editsFromNotebook returns the edits of a notebook cell. In a notebook file, each line of a cell is a JSON string,
// so the edits contain lines in this form.
func (call *claudeCall) editsFromNotebook(res *claudeEditResult) []Edit {
	e := call.edit
	e.mayHaveSpacesForTabs = false
	hasTexts := res.OldNotebook != nil && res.NewNotebook != nil
	if hasTexts && len(*res.NewNotebook) <= maxFileBytes {
		return e.editsInRanges(*res.NewNotebook, findChangedRange(*res.OldNotebook, *res.NewNotebook))
	}
	if call.args.EditMode == "delete" || call.args.NewSource == "" {
		return nil
	}
	for l := range strings.SplitAfterSeq(call.args.NewSource, "\n") {
		if l == "" {
			continue
		}
		e.NewLines = append(e.NewLines, jsonQuote(l))
	}
	e.mayBeReformatted = true
	return []Edit{e}
}
