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
// A block begins with a line --- if the next line begins with a known key (listed below) and a colon. At the beginning
// of a file, any key is sufficient. The front matter ends with the next line ---. Text before the first line --- that
// begins a block is itself a block, without front matter. Logs that were written before labels existed consist only of
// such a block.
//
// The content does not include an empty line after the front matter, the last line end, and the empty line before the
// next block. A content line --- that would begin a block is written as \---. Parsing removes the backslash.

package coderhapsody

import (
	"slices"
	"strings"
)

// These are the keys of front matter, in the order in which they are written.
const (
	frontMatterKeyName       = "name"    // name of the entry, if the name cannot be made from the content
	frontMatterKeyTime       = "time"    // creation time
	frontMatterKeyUpdated    = "updated" // time at which the content last changed
	frontMatterKeyKind       = "kind"    // kind of the entry, if it is not the usual kind of entries in this file
	frontMatterKeyAliases    = "aliases"
	frontMatterKeyProject    = "project" // project to which the entry belongs, or a list of projects
	frontMatterKeyTags       = "tags"
	frontMatterKeyFiles      = "related_files"
	frontMatterKeyConfidence = "confidence" // number from 0 to 1
	frontMatterKeyProcess    = "process"    // true or false
	frontMatterKeyPinned     = "pinned"     // whether the entry is pinned (true or false)
	frontMatterKeyLabels     = "labels"     // labels for which no other key exists, in the form key:value
	// names of the logs that a digest summarizes, in the digest's first block.
	frontMatterKeySummarizedLogs = "covers"
)

var frontMatterKeys = []string{
	frontMatterKeyName,
	frontMatterKeyTime,
	frontMatterKeyUpdated,
	frontMatterKeyKind,
	frontMatterKeyAliases,
	frontMatterKeyProject,
	frontMatterKeyTags,
	frontMatterKeyFiles,
	frontMatterKeyConfidence,
	frontMatterKeyProcess,
	frontMatterKeyPinned,
	frontMatterKeyLabels,
	frontMatterKeySummarizedLogs,
}

// logBlock is a block of a log. frontMatterStart, frontMatterEnd, contentStart, contentEnd, nextBlockOffset and
// blockStart are byte offsets in the text of the log.
type logBlock struct {
	blockStart               int
	hasFrontMatter           bool
	frontMatterStart         int // beginning of the YAML, which is text[frontMatterStart:frontMatterEnd]
	frontMatterEnd           int // beginning of the marker after the YAML
	frontMatterFirstLine     int // number of the YAML's first line, counting from 1
	contentStart, contentEnd int // byte range of the entry's content
	nextBlockOffset          int // offset of the next block in the log, or the length of the text
}

// logText is the text of a file, divided into blocks. There is always a first block, but it may be blank.
type logText struct {
	text       string
	lineEnding string // line ending of the first line, "\n" or "\r\n"
	blocks     []logBlock
}

// isBlockMarkerLine reports whether a line, with or without its line end, consists of three dashes.
func isBlockMarkerLine(line string) bool { return strings.TrimRight(line, " \t\r\n") == "---" }

// blockStartTest reports whether a marker line begins a block. next is the line after the marker.
type blockStartTest func(next string) bool

// blockStartTestForIndex returns the function that decides whether a marker line (---) begins a block. index is the
// number of the line in the file, or of the block, counted from 0. The first line of a file has another test than all
// further lines.
func blockStartTestForIndex(index int) blockStartTest {
	if index == 0 {
		return opensBlockAtFileStart
	}
	return opensBlockAfterFileStart
}

// blockStartTestForContent returns the test for the first line of this block's content. If this line is a marker (---),
// the test decides whether the line begins a new block.
func (b logBlock) blockStartTestForContent() blockStartTest {
	if b.hasFrontMatter {
		return opensBlockAfterFileStart
	}
	return opensBlockAtFileStart // only the first block of a file may lack front matter
}

// opensBlockAfterFileStart reports whether a marker line (---) begins a block. It is used for markers after the first
// line of a file. nextLine, the line after the marker, must begin with a known key and a colon, such as "tags: [x]".
func opensBlockAfterFileStart(nextLine string) bool {
	key, ok := keyBeforeColon(nextLine)
	return ok && slices.Contains(frontMatterKeys, key)
}

// opensBlockAtFileStart reports whether a marker line (---) at the beginning of a file begins a block. nextLine, the
// line after the marker, must begin with a key and a colon. The key need not be known.
func opensBlockAtFileStart(nextLine string) bool {
	key, ok := keyBeforeColon(nextLine)
	return ok && !strings.ContainsFunc(key, func(c rune) bool {
		return !((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
	})
}

// keyBeforeColon returns the text before the first colon in a line. For example, it returns "tags" for "tags: [x]". The
// second result is false if the line has no colon, begins with the colon, or has another character than a blank, a tab
// or a line end after the colon.
func keyBeforeColon(line string) (string, bool) {
	i := strings.IndexByte(line, ':')
	isWord := i+1 < len(line) && strings.IndexByte(" \t\r\n", line[i+1]) < 0
	if i <= 0 || isWord {
		return "", false
	}
	return line[:i], true
}

// parseLog splits the text of a log into blocks. A block consists of front matter and content. Only the first block may
// lack front matter. The function isInvalidFrontMatter gets the byte offset at which a block begins. If it returns
// true, the front matter there is treated as content. If the function is nil, all front matter is valid.
func parseLog(text string, isInvalidFrontMatter func(start int) bool) *logText {
	l := &logText{text: text, lineEnding: "\n"}
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		l.lineEnding = "\r\n"
	}
	top := 0
	if strings.HasPrefix(text, "\ufeff") {
		top = len("\ufeff")
	}
	l.blocks = []logBlock{{blockStart: top, contentStart: top}}
	lines, markers := findLinesAndBlockMarkers(text, top)
	line := func(i int) string { return text[lines[i].start:lines[i].end] }
	for i := 0; i < len(lines); i++ {
		if markers[i] != i || i+1 >= len(lines) {
			continue
		}
		if !blockStartTestForIndex(i)(line(i+1)) || markers[i+1] < 0 {
			continue
		}
		if isInvalidFrontMatter != nil && isInvalidFrontMatter(lines[i].start) {
			continue
		}
		c := markers[i+1]
		b := logBlock{
			blockStart:           lines[i].start,
			hasFrontMatter:       true,
			frontMatterStart:     lines[i+1].start,
			frontMatterEnd:       lines[c].start,
			frontMatterFirstLine: i + 2,
			contentStart:         lines[c].end,
		}
		if c+1 < len(lines) && strings.TrimRight(line(c+1), "\r\n") == "" {
			b.contentStart = lines[c+1].end
		}
		if i == 0 {
			l.blocks[0] = b
		} else {
			l.blocks = append(l.blocks, b)
		}
		i = c
	}
	l.setBlockEnds()
	return l
}

// byteRange is a byte range of a text.
type byteRange struct{ start, end int }

// findLinesAndBlockMarkers returns the byte ranges of the lines in text[start:]. nextMarkerLines[i] is the index of the
// first line that contains only three dashes, at line i or after it. It is -1 if no such line follows. nextMarkerLines
// has one element more than lines, which is always -1.
func findLinesAndBlockMarkers(text string, start int) (lines []byteRange, nextMarkerLines []int) {
	for at := start; at < len(text); {
		to := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			to = at + i + 1
		}
		lines = append(lines, byteRange{at, to})
		at = to
	}
	nextMarkerLines = make([]int, len(lines)+1)
	nextMarkerLines[len(lines)] = -1
	for i := len(lines) - 1; i >= 0; i-- {
		nextMarkerLines[i] = nextMarkerLines[i+1]
		if isBlockMarkerLine(text[lines[i].start:lines[i].end]) {
			nextMarkerLines[i] = i
		}
	}
	return lines, nextMarkerLines
}

// setBlockEnds sets contentEnd and nextBlockOffset in each block of the log. The line end after the content, and an
// empty line before the next block, do not belong to the content.
func (l *logText) setBlockEnds() {
	for i := range l.blocks {
		b := &l.blocks[i]
		b.nextBlockOffset = len(l.text)
		if i+1 < len(l.blocks) {
			b.nextBlockOffset = l.blocks[i+1].blockStart
		}
		b.contentEnd = b.nextBlockOffset
		trim := func() {
			if strings.HasSuffix(l.text[b.contentStart:b.contentEnd], l.lineEnding) {
				b.contentEnd -= len(l.lineEnding)
			}
		}
		if b.nextBlockOffset < len(l.text) &&
			strings.HasSuffix(l.text[b.contentStart:b.nextBlockOffset], l.lineEnding+l.lineEnding) {
			trim()
		}
		trim()
	}
}

// isBlankBlock reports whether the block lacks front matter and contains only white space.
func (l *logText) isBlankBlock(i int) bool {
	b := l.blocks[i]
	return !b.hasFrontMatter && strings.TrimSpace(l.text[b.contentStart:b.nextBlockOffset]) == ""
}

// unescapedBlockContent returns block i's content with "\n" as line ending and without the backslashes of escaped
// markers.
func (l *logText) unescapedBlockContent(i int) string {
	b := l.blocks[i]
	s := l.text[b.contentStart:b.contentEnd]
	if l.lineEnding != "\n" {
		s = strings.ReplaceAll(s, l.lineEnding, "\n")
	}
	return unescapeBlockMarkers(s, b.blockStartTestForContent())
}

// escapeEntryContent returns the content of an entry in the form in which it is written to a log. In a log, a line of
// three dashes (---) can begin a new block. Therefore escapeEntryContent puts a backslash before such a line in the
// content. It also converts the line endings. The function firstLineOpensBlock decides whether the content's first line
// would begin a block. The caller must pass opensBlockAtFileStart for content at the beginning of a log, and
// opensBlockAfterFileStart for all other content.
func (l *logText) escapeEntryContent(content string, firstLineOpensBlock blockStartTest) string {
	content = escapeBlockMarkers(content, firstLineOpensBlock)
	if l.lineEnding != "\n" {
		content = strings.ReplaceAll(content, "\n", l.lineEnding)
	}
	return content
}

// textWithContent returns the log's text in which the content of the entry with index blockIndex is replaced.
func (l *logText) textWithContent(blockIndex int, content string) string {
	if content == l.unescapedBlockContent(blockIndex) {
		return l.text
	}
	b := l.blocks[blockIndex]
	raw := l.escapeEntryContent(content, b.blockStartTestForContent())
	text := l.text[:b.contentStart] + raw + l.text[b.contentEnd:]
	now := parseLog(text, nil)
	keepsBlocks := len(now.blocks) == len(l.blocks) && now.blocks[blockIndex].hasFrontMatter == b.hasFrontMatter
	if keepsBlocks && now.unescapedBlockContent(blockIndex) == content {
		return text
	}
	// When oxbow reads the new text, it cannot tell which empty lines belong to the content and which surround the
	// entry. If the result is not the content that was written, write the entry with the usual empty lines around the
	// content.
	head, tail := l.text[:b.contentStart], l.lineEnding
	if b.hasFrontMatter {
		head = l.text[:b.frontMatterEnd] + blockMarkerLine(l.lineEnding) + l.lineEnding
	}
	if b.nextBlockOffset < len(l.text) {
		tail += l.lineEnding
	}
	return head + raw + tail + l.text[b.nextBlockOffset:]
}

func blockMarkerLine(eol string) string { return "---" + eol }

// textWithAppendedBlock returns the log's text with a new block at the end. It returns false if an existing block would
// be parsed differently then.
func (l *logText) textWithAppendedBlock(frontMatter, content string) (string, bool) {
	var b strings.Builder
	b.WriteString(l.text)
	if text := strings.TrimPrefix(l.text, "\ufeff"); text != "" {
		if !strings.HasSuffix(text, l.lineEnding) {
			b.WriteString(l.lineEnding)
		}
		if strings.TrimSpace(text) != "" {
			b.WriteString(l.lineEnding)
		}
	}
	start := b.Len()
	if l.lineEnding != "\n" {
		frontMatter = strings.ReplaceAll(frontMatter, "\n", l.lineEnding)
	}
	b.WriteString(
		blockMarkerLine(
			l.lineEnding,
		) + frontMatter + blockMarkerLine(
			l.lineEnding,
		) + l.lineEnding + l.escapeEntryContent(
			content,
			opensBlockAfterFileStart,
		) + l.lineEnding,
	)
	text := b.String()
	now := parseLog(text, nil)
	if last := now.blocks[len(now.blocks)-1]; !last.hasFrontMatter || last.blockStart != start {
		return text, false
	}
	if start == l.blocks[0].blockStart {
		return text, len(now.blocks) == 1
	}
	if len(now.blocks) != len(l.blocks)+1 {
		return text, false
	}
	for i, old := range l.blocks {
		b := now.blocks[i]
		isSame := b.blockStart == old.blockStart && b.hasFrontMatter == old.hasFrontMatter &&
			b.contentStart == old.contentStart &&
			b.contentEnd == old.contentEnd
		if !isSame {
			return text, false
		}
	}
	return text, true
}

// textWithoutBlock returns the log's text without the entry with index blockIndex. If the removed entry was the last
// entry, the separator before it is removed too. The second result is false if no entry remains, so that the caller can
// remove the file.
func (l *logText) textWithoutBlock(blockIndex int) (string, bool) {
	b := l.blocks[blockIndex]
	rest := l.text[b.nextBlockOffset:]
	if blockIndex == 0 {
		return l.text[:b.blockStart] + rest, rest != ""
	}
	if rest != "" {
		return l.text[:b.blockStart] + rest, true
	}
	prev := l.blocks[blockIndex-1]
	if blockIndex == 1 && l.isBlankBlock(0) {
		return "", false
	}
	return l.text[:prev.contentEnd] + l.lineEnding, true
}

// escapeBlockMarkers puts a backslash before each line of s that would begin a new block in a log. Only a line of three
// dashes can begin a block. If the first line of s has three dashes, the function firstLineOpensBlock decides whether
// the line begins a block. A later line of three dashes begins a block if the next line starts with a known
// front-matter key. A line that already has backslashes before the dashes gets another backslash, so that the change
// can be reversed.
func escapeBlockMarkers(s string, firstLineOpensBlock blockStartTest) string {
	return mapEscapedMarkerLines(s, firstLineOpensBlock, func(line string) string { return `\` + line })
}

func unescapeBlockMarkers(s string, firstLineOpensBlock blockStartTest) string {
	return mapEscapedMarkerLines(
		s,
		firstLineOpensBlock,
		func(line string) string { return strings.TrimPrefix(line, `\`) },
	)
}

// mapEscapedMarkerLines replaces certain lines in s, the content of an entry, by the result of the function fn. These
// lines consist of three dashes, which may follow backslashes. A line is replaced only if it would begin a new block in
// a log without its backslashes. The text after the line decides whether a new block would begin. For the first line of
// s, the function firstLineOpensBlock makes this decision.
func mapEscapedMarkerLines(s string, firstLineOpensBlock blockStartTest, fn func(line string) string) string {
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
		opens := blockStartTest(opensBlockAfterFileStart)
		if at == 0 {
			opens = firstLineOpensBlock
		}
		if isBlockMarkerLine(strings.TrimLeft(line, `\`)) && opens(s[to:]) {
			line = fn(line)
		}
		b.WriteString(line)
		at = to
	}
	return b.String()
}
