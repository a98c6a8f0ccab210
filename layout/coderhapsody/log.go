// This file parses the blocks of a log and edits them in place. A log consists of blocks:
//
//	---
//	time: 2026-04-18T14:02:03Z
//	project: homebrew-vtt
//	tags: [architecture, decision]
//	related_files: [pkg/vtt/spatial.go]
//	---
//
//	Built the spatial awareness system.
//
//	---
//	time: 2026-04-18T15:10:00Z
//	…
//
// A block begins with a line --- if the next line begins with a known key (listed below) and a
// colon. At the beginning of a file, any key is sufficient. The front matter ends with the next
// line ---. Text before the first such line is a block without front matter. Logs from before
// labels existed consist of only this block.
//
// The content does not include an empty line after the front matter, the last line end, and the
// empty line before the next block. A content line --- that would begin a block is written as \---.
// Parsing removes the backslash.

package coderhapsody

import (
	"slices"
	"strings"
)

// Keys of front matter, in the order in which they are written.
const (
	keyName       = "name"    // name of the entry, if it is not made from the content
	keyTime       = "time"    // creation time
	keyUpdated    = "updated" // time at which the content last changed
	keyKind       = "kind"    // kind, if it differs from the kind of the file
	keyAliases    = "aliases"
	keyProject    = "project" // a project or a list
	keyTags       = "tags"
	keyFiles      = "related_files"
	keyConfidence = "confidence" // a number from 0 to 1
	keyProcess    = "process"    // true or false
	keyPinned     = "pinned"     // true or false
	keyLabels     = "labels"     // all other labels, as key:value
	keyCovers     = "covers"     // in the first block of a digest: the covered files
)

var keys = []string{keyName, keyTime, keyUpdated, keyKind, keyAliases, keyProject, keyTags, keyFiles,
	keyConfidence, keyProcess, keyPinned, keyLabels, keyCovers}

// block is a block of a log. All fields except front and line are byte offsets in the text.
type block struct {
	start     int
	front     bool
	head      int // beginning of the YAML, which is text[head:close]
	close     int // beginning of the closing marker
	line      int // line number of text[head], from 1
	body, end int // byte range of the content
	next      int // beginning of the next block
}

// log is the text of a file with its blocks. The first block always exists, but may be blank.
type log struct {
	text   string
	eol    string // line ending: "\n", or "\r\n" if the first line ends with it
	blocks []block
}

// isMarker reports whether a line, with or without its line end, consists of three dashes.
func isMarker(line string) bool { return strings.TrimRight(line, " \t\r\n") == "---" }

// An opener reports whether a marker line begins a block. next is the line after the marker.
type opener func(next string) bool

// openerAt returns the opener for a marker in the line with this index, or for a marker before the block with this
// index.
func openerAt(index int) opener {
	if index == 0 {
		return opensFile
	}
	return opensBlock
}

// opener returns the opener for a marker in the first line of the block's content.
func (b block) opener() opener {
	if b.front {
		return opensBlock
	}
	return opensFile // only the first block of a file can lack front matter
}

// opensBlock is the opener for a marker that is not in the first line of a file.
func opensBlock(next string) bool {
	key, ok := firstKey(next)
	return ok && slices.Contains(keys, key)
}

// opensFile is the opener for a marker in the first line of a file. The line next may begin with any
// key.
func opensFile(next string) bool {
	key, ok := firstKey(next)
	return ok && !strings.ContainsFunc(key, func(c rune) bool {
		return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
	})
}

// firstKey returns the text before a line's first colon, if a blank or the line end follows the
// colon.
func firstKey(line string) (string, bool) {
	i := strings.IndexByte(line, ':')
	isWord := i+1 < len(line) && strings.IndexByte(" \t\r\n", line[i+1]) < 0
	if i <= 0 || isWord {
		return "", false
	}
	return line[:i], true
}

// parseLog splits a text into blocks. bad may be nil. Front matter that begins at an offset for
// which bad returns true is treated as content.
func parseLog(text string, bad func(start int) bool) *log {
	l := &log{text: text, eol: "\n"}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		l.eol = "\r\n"
	}
	top := 0
	if strings.HasPrefix(text, "\ufeff") {
		top = len("\ufeff")
	}
	l.blocks = []block{{start: top, body: top}}
	lines, markers := cutLines(text, top)
	line := func(i int) string { return text[lines[i].from:lines[i].to] }
	for i := 0; i < len(lines); i++ {
		if markers[i] != i || i+1 >= len(lines) {
			continue
		}
		if !openerAt(i)(line(i+1)) || markers[i+1] < 0 {
			continue
		}
		if bad != nil && bad(lines[i].from) {
			continue
		}
		c := markers[i+1]
		b := block{start: lines[i].from, front: true, head: lines[i+1].from, close: lines[c].from, line: i + 2,
			body: lines[c].to}
		if c+1 < len(lines) && strings.TrimRight(line(c+1), "\r\n") == "" {
			b.body = lines[c+1].to
		}
		if i == 0 {
			l.blocks[0] = b
		} else {
			l.blocks = append(l.blocks, b)
		}
		i = c
	}
	l.setEnds()
	return l
}

// textRange is a byte range of a text.
type textRange struct{ from, to int }

// cutLines returns the lines of text[top:]. For each line, markers has the index of the next marker
// line at or after the line, or -1 if no marker follows.
func cutLines(text string, top int) (lines []textRange, markers []int) {
	for at := top; at < len(text); {
		to := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			to = at + i + 1
		}
		lines = append(lines, textRange{at, to})
		at = to
	}
	markers = make([]int, len(lines)+1)
	markers[len(lines)] = -1
	for i := len(lines) - 1; i >= 0; i-- {
		markers[i] = markers[i+1]
		if isMarker(text[lines[i].from:lines[i].to]) {
			markers[i] = i
		}
	}
	return lines, markers
}

// setEnds sets for each block where its content ends and where the next block
// begins.
func (l *log) setEnds() {
	for i := range l.blocks {
		b := &l.blocks[i]
		b.next = len(l.text)
		if i+1 < len(l.blocks) {
			b.next = l.blocks[i+1].start
		}
		b.end = b.next
		trim := func() {
			if strings.HasSuffix(l.text[b.body:b.end], l.eol) {
				b.end -= len(l.eol)
			}
		}
		if b.next < len(l.text) && strings.HasSuffix(l.text[b.body:b.next], l.eol+l.eol) {
			trim()
		}
		trim()
	}
}

// blank reports whether the block contains only white space and no front matter.
func (l *log) blank(i int) bool {
	b := l.blocks[i]
	return !b.front && strings.TrimSpace(l.text[b.body:b.next]) == ""
}

// content returns the content of block i with "\n" as line ending and without the backslashes of
// escaped markers.
func (l *log) content(i int) string {
	b := l.blocks[i]
	s := l.text[b.body:b.end]
	if l.eol != "\n" {
		s = strings.ReplaceAll(s, l.eol, "\n")
	}
	return unescape(s, b.opener())
}

// raw returns a content as it is written in this log, with escaped markers. firstOpens is opensFile
// if the content is at the beginning of the log, otherwise opensBlock.
func (l *log) raw(content string, firstOpens opener) string {
	content = escape(content, firstOpens)
	if l.eol != "\n" {
		content = strings.ReplaceAll(content, "\n", l.eol)
	}
	return content
}

// withContent returns the text with the content of block i replaced.
func (l *log) withContent(i int, content string) string {
	if content == l.content(i) {
		return l.text
	}
	b := l.blocks[i]
	raw := l.raw(content, b.opener())
	text := l.text[:b.body] + raw + l.text[b.end:]
	now := parseLog(text, nil)
	keepsBlocks := len(now.blocks) == len(l.blocks) && now.blocks[i].front == b.front
	if keepsBlocks && now.content(i) == content {
		return text
	}
	// The empty lines around the content are ambiguous: empty lines of the file would be parsed as
	// content, or empty lines of the content as part of the file. Write the block again with the
	// usual empty lines.
	head, tail := l.text[:b.body], l.eol
	if b.front {
		head = l.text[:b.close] + marker(l.eol) + l.eol
	}
	if b.next < len(l.text) {
		tail += l.eol
	}
	return head + raw + tail + l.text[b.next:]
}

func marker(eol string) string { return "---" + eol }

// appendBlock returns the text with a block appended. It returns false if that would change an
// existing block.
func (l *log) appendBlock(front, content string) (string, bool) {
	var b strings.Builder
	b.WriteString(l.text)
	if text := strings.TrimPrefix(l.text, "\ufeff"); text != "" {
		if !strings.HasSuffix(text, l.eol) {
			b.WriteString(l.eol)
		}
		if strings.TrimSpace(text) != "" {
			b.WriteString(l.eol)
		}
	}
	start := b.Len()
	if l.eol != "\n" {
		front = strings.ReplaceAll(front, "\n", l.eol)
	}
	b.WriteString(marker(l.eol) + front + marker(l.eol) + l.eol + l.raw(content, opensBlock) + l.eol)
	text := b.String()
	now := parseLog(text, nil)
	if last := now.blocks[len(now.blocks)-1]; !last.front || last.start != start {
		return text, false
	}
	if start == l.blocks[0].start {
		return text, len(now.blocks) == 1
	}
	if len(now.blocks) != len(l.blocks)+1 {
		return text, false
	}
	for i, old := range l.blocks {
		b := now.blocks[i]
		isSame := b.start == old.start && b.front == old.front && b.body == old.body && b.end == old.end
		if !isSame {
			return text, false
		}
	}
	return text, true
}

// without returns the log's text without block i. It returns false if nothing
// remains.
func (l *log) without(i int) (string, bool) {
	b := l.blocks[i]
	rest := l.text[b.next:]
	if i == 0 {
		return l.text[:b.start] + rest, rest != ""
	}
	if rest != "" {
		return l.text[:b.start] + rest, true
	}
	prev := l.blocks[i-1]
	if i == 1 && l.blank(0) {
		return "", false
	}
	return l.text[:prev.end] + l.eol, true
}

// escape adds the backslashes that unescape removes. firstOpens is the opener for a marker in the
// first line.
func escape(s string, firstOpens opener) string {
	return eachMarker(s, firstOpens, func(line string) string { return `\` + line })
}

func unescape(s string, firstOpens opener) string {
	return eachMarker(s, firstOpens, func(line string) string { return strings.TrimPrefix(line, `\`) })
}

// eachMarker applies fn to the lines that consist of backslashes and three dashes and would begin a
// block without the backslashes.
func eachMarker(s string, firstOpens opener, fn func(line string) string) string {
	if !strings.Contains(s, "---") {
		return s
	}
	var b strings.Builder
	for at := 0; at < len(s); {
		to := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			to = at + i + 1
		}
		line := s[at:to]
		opens := opener(opensBlock)
		if at == 0 {
			opens = firstOpens
		}
		if isMarker(strings.TrimLeft(line, `\`)) && opens(s[to:]) {
			line = fn(line)
		}
		b.WriteString(line)
		at = to
	}
	return b.String()
}
