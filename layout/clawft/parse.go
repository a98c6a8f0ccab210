// This file parses MEMORY.md and HISTORY.md into entries.
//
// Each paragraph (lines without a blank line between them) is an entry. Headings belong to the paragraph below them. A
// fenced and closed code block is always part of a single paragraph. An entry's name is made from its first line, or
// from the last of several headings. If the name is already used, a number is appended. An HTML comment above a
// paragraph, which Markdown does not show, contains data that the paragraph cannot express. Such data are a name that
// differs from the first line, labels, aliases, a time, or the number of the closing line of a content with blank
// lines:
//
//	<!-- oxbow {"name":"style","labels":["tag:go"],"created":"2026-04-14T10:23:45Z"} -->
//	Tabs, not spaces.
//
//	<!-- oxbow {"name":"vet","created":"2026-04-14T10:23:45Z","end":1} -->
//	Luna sees the vet on Thursdays.
//
//	Dr. Chen, at nine.
//	<!-- /oxbow 1 -->
//
// If the comment contains "end", the content extends to the closing line with the same number. The writer chooses a
// number whose closing line does not occur in the content. A missing closing line or an invalid comment is not an
// error. The text is then parsed as paragraphs.
//
// In HISTORY.md a paragraph may begin with its date, as in "[2026-04-14 10:23]". Paragraphs without a date have the
// time of the paragraph before them.

package clawft

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/tree/mdtree"
)

// Names of the two files that contain the memory of the program clawft.
const (
	memoryFile  = "MEMORY.md"
	historyFile = "HISTORY.md"
)

const (
	commentOpening       = "<!-- oxbow {"
	commentEnding        = "} -->"
	closingCommentPrefix = "<!-- /oxbow "
)

// entryComment is the decoded comment above an entry. It contains the name and the labels of the entry, and other data
// that a paragraph cannot express.
type entryComment struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Labels  []string `json:"labels,omitempty"`
	Created string   `json:"created,omitempty"` // RFC 3339
	End     int      `json:"end,omitempty"`

	labels      []oxbow.Label
	created     time.Time
	unknownKeys map[string]json.RawMessage // keys that this version of oxbow does not know
}

// parsedItem is an entry in the text of a file.
type parsedItem struct {
	start, end               int // byte range of the entry and its comments, without the final line end
	contentStart, contentEnd int // byte range of the entry's text without oxbow's comments
	// oxbow's comment above the entry, with the entry's name and labels (nil without a comment)
	comment *entryComment
	content string
	name    string
	created time.Time // creation time (zero if the text does not contain one)
}

// lineEnding returns the line end after the first line of a text, or "\n" if this line lacks a line end.
func lineEnding(text string) string {
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// lineBounds returns two positions for the line that begins at position i. The result end is the end of the line,
// without its line end. The result nextLineStart is the beginning of the next line.
func lineBounds(text string, i int) (end, nextLineStart int) {
	n := strings.IndexByte(text[i:], '\n')
	if n < 0 {
		return len(text), len(text)
	}
	end, nextLineStart = i+n, i+n+1
	if end > i && text[end-1] == '\r' {
		end--
	}
	return end, nextLineStart
}

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

// splitItems returns the entries in a text. Entries without a comment do not have a name yet.
func splitItems(text string) []parsedItem {
	eol := lineEnding(text)
	plain := func(s string) string {
		if eol == "\n" {
			return s
		}
		return strings.ReplaceAll(s, eol, "\n")
	}
	var items []parsedItem
	open := false // If open is true, the next line continues the last element of items, unless the line is blank.
	// The variable frame is true if the last element of items contains only headings. The next text then belongs to
	// this element, even after a blank line.
	frame := false
	unclosed := map[int]bool{}
	fences := codeFenceFinder{text: text}
	at := len(text) - len(strings.TrimPrefix(text, "\ufeff"))
	for at < len(text) {
		end, next := lineBounds(text, at)
		line := text[at:end]
		m := parseEntryComment(line)
		heading := m == nil && headingLevel(line) > 0
		if m == nil {
			if after := fences.blockEnd(at); after > 0 {
				end = after
				_, next = lineBounds(text, end)
			}
		}
		switch {
		case isBlank(line):
			open = false
		case m != nil:
			it := parsedItem{start: at, end: end, contentStart: next, contentEnd: next, comment: m}
			open, frame = true, false
			if m.End <= 0 || unclosed[m.End] {
				// The comment line that should end the entry is missing, so the entry ends at the next blank line.
			} else if from, to, after := findClosingCommentLine(text, next, m.End); after == 0 {
				unclosed[m.End] = true
			} else {
				it.contentStart = from
				it.contentEnd = to
				it.end = after
				_, next = lineBounds(text, after)
				open = false
			}
			items = append(items, it)
		case open || frame:
			it := &items[len(items)-1]
			it.contentEnd, it.end = end, end
			open, frame = true, frame && heading
		default:
			items = append(items, parsedItem{start: at, end: end, contentStart: at, contentEnd: end})
			open, frame = true, heading
		}
		at = next
	}
	for i := range items {
		it := &items[i]
		it.contentStart = min(it.contentStart, it.contentEnd)
		it.content = plain(text[it.contentStart:it.contentEnd])
	}
	return items
}

// codeFenceFinder finds fenced code blocks.
type codeFenceFinder struct {
	text           string
	unclosedFences map[string]bool // opening fences that are known to lack a closing line
}

// blockEnd returns the end offset of the fenced code block that begins with the line at offset i. The closing line
// belongs to the block. If no block begins there, or if the block is not closed, the result is 0.
func (f *codeFenceFinder) blockEnd(i int) int {
	end, next := lineBounds(f.text, i)
	line := strings.TrimLeft(f.text[i:end], " \t")
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return 0
	}
	n := len(line) - len(strings.TrimLeft(line, line[:1]))
	fence := line[:n]
	// The line contains code such as ```x``` and does not begin a block.
	isCode := fence[0] == '`' && strings.Contains(line[n:], "`")
	if isCode || f.unclosedFences[fence] {
		return 0
	}
	for at := next; at < len(f.text); at = next {
		end, next = lineBounds(f.text, at)
		line := strings.TrimSpace(f.text[at:end])
		if len(line) >= n && strings.Trim(line, fence[:1]) == "" {
			return end
		}
	}
	if f.unclosedFences == nil {
		f.unclosedFences = map[string]bool{}
	}
	f.unclosedFences[fence] = true
	return 0
}

// findClosingCommentLine finds the comment line that ends an entry's content. The content begins at the offset from.
// commentNumber is the number that the comment must have. The results are the byte range of the content, and the offset
// after the closing line. If there is no such line, closingLineEnd is 0.
func findClosingCommentLine(text string, from, commentNumber int) (contentStart, contentEnd, closingLineEnd int) {
	line := closingCommentLine(commentNumber)
	for i := from; i > 0; i++ {
		k := strings.Index(text[i-1:], "\n"+line)
		if k < 0 {
			return 0, 0, 0
		}
		// Accept oxbow's closing comment only if it is at the beginning of a line and the rest of the line is blank.
		i += k
		end, _ := lineBounds(text, i)
		if !isBlank(text[i+len(line) : end]) {
			continue
		}
		contentEnd = max(i-1, from)
		endsInCR := contentEnd > from && text[contentEnd-1] == '\r'
		if endsInCR && lineEnding(text) == "\r\n" {
			contentEnd--
		}
		return from, contentEnd, end
	}
	return 0, 0, 0
}

func closingCommentLine(commentNumber int) string {
	return fmt.Sprintf("%s%d -->", closingCommentPrefix, commentNumber)
}

// parseEntryComment decodes a line with oxbow's comment, which is above an entry and contains its name and labels. For
// any other line, it returns nil.
func parseEntryComment(line string) *entryComment {
	line = strings.TrimRight(line, " \t")
	if !strings.HasPrefix(line, commentOpening) || !strings.HasSuffix(line, commentEnding) {
		return nil
	}
	object := []byte(line[len(commentOpening)-1 : len(line)-len(commentEnding)+1])
	m := &entryComment{}
	if json.Unmarshal(object, m) != nil || json.Unmarshal(object, &m.unknownKeys) != nil {
		return nil
	}
	for _, key := range []string{"name", "aliases", "labels", "created", "end"} {
		delete(m.unknownKeys, key)
	}
	for _, s := range m.Labels {
		l, err := oxbow.ParseLabel(s)
		if err != nil {
			return nil
		}
		m.labels = append(m.labels, l)
	}
	if m.Created != "" {
		t, err := time.Parse(time.RFC3339Nano, m.Created)
		if err != nil {
			return nil
		}
		m.created = t.UTC()
	}
	if (oxbow.Add{Name: m.Name, Aliases: m.Aliases, Labels: m.labels}).Check() != nil {
		return nil
	}
	return m
}

// encode returns the comment as it is written in a file. The JSON encoder escapes < and >, so no value can end the
// comment.
func (m *entryComment) encode() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // Encoding strings and a number cannot fail.
	}
	if len(m.unknownKeys) > 0 {
		more, err := json.Marshal(m.unknownKeys)
		if err != nil {
			panic(err) // Encoding cannot fail, because the value was decoded from JSON.
		}
		b = append(append(b[:len(b)-1], ','), more[1:]...)
	}
	return "<!-- oxbow " + string(b) + " -->"
}

// makeEntryComment returns the comment for an entry. It keeps those keys of the old comment that oxbow does not know.
func makeEntryComment(e oxbow.Entry, old *entryComment) *entryComment {
	m := &entryComment{Name: e.Name, Aliases: e.Aliases, labels: oxbow.SortLabels(e.Labels), created: e.Created}
	for _, l := range m.labels {
		m.Labels = append(m.Labels, l.String())
	}
	if !e.Created.IsZero() {
		m.Created = e.Created.UTC().Format(time.RFC3339Nano)
	}
	if old != nil {
		m.unknownKeys = old.unknownKeys
	}
	return m
}

// parseItems returns the entries in the text of a file, with their names and creation times. An entry with a comment by
// oxbow has the name in this comment. Other entries get names from their texts, and numbers such as "Name (2)" make
// these names unique.
func (l treeLayout) parseItems(path, text string) []parsedItem {
	items := splitItems(text)
	taken := map[string]bool{}
	for i := range items {
		if m := items[i].comment; m != nil {
			items[i].name, items[i].created = m.Name, m.created
			taken[m.Name] = true
		}
	}
	var last time.Time
	count := map[string]int{}
	for i := range items {
		it := &items[i]
		if it.comment != nil {
			continue
		}
		if path == historyFile {
			if t, ok := l.leadingDate(it.content); ok {
				last = t
			}
			it.created = last
		}
		base := l.baseName(path, it.content)
		it.name = base
		for n := max(2, count[base]+1); taken[it.name]; n++ {
			it.name = fmt.Sprintf("%s (%d)", base, n)
			count[base] = n
		}
		taken[it.name] = true
	}
	return items
}

// baseName derives a name from the text of a paragraph that has no comment in which oxbow stored the name. Names are
// unique in a store, so a name in HISTORY.md and a name in MEMORY.md must differ. Therefore a name in HISTORY.md always
// begins with a date or with "history: ". A name from MEMORY.md that begins with a date or with "history: " gets the
// prefix "memory: ".
func (l treeLayout) baseName(path, content string) string {
	title := content
	line, rest, ok := strings.Cut(content, "\n")
	isInBrackets := strings.HasPrefix(line, "(") && strings.HasSuffix(line, ")")
	if ok && isInBrackets && path == historyFile {
		// Skip the first line, which is in brackets. When oxbow moved the paragraph from MEMORY.md, it wrote the
		// headings of the paragraph on this line.
		title = rest
	}
	for {
		line, rest, ok := strings.Cut(title, "\n")
		next := strings.TrimLeftFunc(rest, unicode.IsSpace)
		areHeadings := headingLevel(line) > 0 && headingLevel(firstLine(next)) > 0
		if !ok || !areHeadings {
			break
		}
		title = next
	}
	name := text.DeriveName(title)
	_, dated := l.leadingDate(name)
	switch {
	case path == historyFile && !dated:
		return "history: " + name
	case path == memoryFile && (dated || strings.HasPrefix(name, "history: ")):
		return "memory: " + name
	}
	return name
}

// leadingDate returns the time at the beginning of a paragraph, such as 2026-04-14 or 2026-04-14 10:23. It may be in
// brackets or in a heading. The second result is false if the date is missing.
func (l treeLayout) leadingDate(content string) (time.Time, bool) {
	s := strings.TrimLeft(content, "#*[ \t")
	mayBeDate := len(s) >= len(time.DateOnly) && s[4] == '-' && s[7] == '-'
	if !mayBeDate {
		return time.Time{}, false
	}
	for _, form := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04",
		"2006-01-02T15:04", time.DateOnly} {
		if len(s) < len(form) {
			continue
		}
		if after := s[len(form):]; after != "" && strings.IndexByte("0123456789-", after[0]) >= 0 {
			continue
		}
		if t, err := time.ParseInLocation(form, s[:len(form)], l.zone); err == nil {
			return t.UTC(), true
		}
	}
	return time.Time{}, false
}

// fileKind returns the kind of the entries in a file.
func fileKind(path string) oxbow.Kind {
	if path == historyFile {
		return oxbow.History
	}
	return oxbow.Note
}

func (it *parsedItem) toEntry(path string) oxbow.Entry {
	e := oxbow.Entry{Name: it.name, Kind: fileKind(path), Content: it.content, Created: it.created}
	if it.comment != nil {
		e.Aliases, e.Labels = it.comment.Aliases, oxbow.SortLabels(it.comment.labels)
	}
	return e
}

// Parse implements [mdtree.Layout]. It never fails.
func (l treeLayout) Parse(path, text string) ([]mdtree.Item, error) {
	items := l.parseItems(path, text)
	out := make([]mdtree.Item, len(items))
	for i := range items {
		out[i] = mdtree.Item{Entry: items[i].toEntry(path), StartOffset: items[i].start, EndOffset: items[i].end}
	}
	return out, nil
}

// treeLayout parses and edits MEMORY.md and HISTORY.md, the files with the memory of the program clawft.
type treeLayout struct {
	zone *time.Location // time zone of the dates in HISTORY.md
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// headingLevel returns the level of a heading line, or 0 if the line is not a heading.
func headingLevel(line string) int {
	rest := strings.TrimLeft(line, "#")
	n := len(line) - len(rest)
	isLevel := 1 <= n && n <= 6
	isApart := rest == "" || strings.IndexByte(" \t\r", rest[0]) >= 0
	if isLevel && isApart {
		return n
	}
	return 0
}

// textOrLineEnd returns the text, or a line end if the text is empty, because oxbow never writes an empty file.
func textOrLineEnd(text string) string {
	if text == "" {
		return "\n"
	}
	return text
}
