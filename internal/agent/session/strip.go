// This file removes texts that programs insert into people's prompts.

package session

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// InsertedTagName is the name of the tags, as in <oxbow-memory>, between which oxbow's hooks insert memory into a
// model's context. [StripInsertedBlocks] removes such tags and the text between them.
const InsertedTagName = "oxbow-memory"

// insertedTagNames lists the elements that clients and memory programs insert into prompts. The elements of oxbow come
// first.
var insertedTagNames = []string{
	InsertedTagName,
	"hook_context", "qwen:user-prompt-submit-context", "system-reminder", "system_reminder", "local-command-caveat",
	"deja-recall", "hindsight_memories", "hindsight-memories", "claude-mem-context", "claude-mem", "private-memory",
	"supermemory-context", "memory_context", "relevant-memories", "relevant_memories", "engram-context",
	"mem0-memories", "recalled-memories",
}

// insertedTagPattern matches a tag at the beginning of a text, if the tag's name is in insertedTagNames. Clients and
// memory programs insert texts between tags with these names. An example is <oxbow-memory>. The pattern also matches
// oxbow's tags in escaped form, such as &lt;oxbow-memory&gt;, because a client may have put them into another element.
var insertedTagPattern = sync.OnceValue(func() *regexp.Regexp {
	const ampersand = `(?:&|\\+u0026)`
	const open, end = `(?:<|` + ampersand + `(?:amp;)*lt;|\\+u003c)`, `(?:>|` + ampersand + `(?:amp;)*gt;|\\+u003e)`
	return regexp.MustCompile(`(?i)^(?:<(/?)(` + strings.Join(insertedTagNames, "|") + `)(?:\s[^<>]*)?>|` + open +
		`(\\*/?)(` + InsertedTagName + `)` + end + `)`)
})

// insertedTagFirstLetters contains the first two letters of each name in insertedTagNames.
var insertedTagFirstLetters = sync.OnceValue(func() map[[2]byte]bool {
	heads := map[[2]byte]bool{}
	for _, name := range insertedTagNames {
		heads[[2]byte{name[0], name[1]}] = true
	}
	return heads
})

// canBeginInsertedTagName reports whether a name in insertedTagNames may begin with these two bytes. It returns true
// for a byte outside ASCII, which may belong to another form of an ASCII letter, such as the long s.
func canBeginInsertedTagName(first, second byte) bool {
	isASCII := first|second < utf8.RuneSelf
	return !isASCII || insertedTagFirstLetters()[[2]byte{first | 0x20, second | 0x20}]
}

// mayBeInsertedTag reports whether a tag with a name in insertedTagNames may begin at the given offset of the text s.
// The character at the offset is "<", or the "&" or "\" with which an encoded "<" begins, as in "&lt;" or "\u003c". The
// result may be true although no such tag begins at the offset. mayBeInsertedTag is a quick check before the regular
// expression insertedTagPattern, which is slow.
func mayBeInsertedTag(s string, offset int) bool {
	rest := s[offset+1:]
	switch s[offset] {
	case '<':
		rest = strings.TrimPrefix(rest, "/")
		if strings.HasPrefix(rest, `\`) {
			return true
		}
		return len(rest) > 1 && canBeginInsertedTagName(rest[0], rest[1])
	case '&':
		return len(rest) > 0 && (rest[0]|0x20 == 'a' || rest[0]|0x20 == 'l')
	case '\\':
		rest = strings.TrimLeft(rest, `\`)
		return len(rest) > 0 && rest[0]|0x20 == 'u'
	}
	return false
}

// insertedTag is a tag, such as <NAME> or </NAME>, that begins or ends a fenced block, and that was found in a text.
// Hooks insert such blocks into prompts.
type insertedTag struct {
	startOffset, endOffset int
	name                   string // name of the tag's element in lower case
	isClosing              bool
}

// findInsertedTag returns the first tag in s that begins or ends a fenced block, such as <NAME> or </NAME>. Programs
// insert fenced blocks into prompts. The search begins at the offset. findInsertedTag returns false if it finds no such
// tag.
func findInsertedTag(s string, offset int) (insertedTag, bool) {
	for ; offset < len(s); offset++ {
		next := strings.IndexAny(s[offset:], `<&\`)
		if next < 0 {
			break
		}
		offset += next
		if !mayBeInsertedTag(s, offset) {
			continue
		}
		m := insertedTagPattern().FindStringSubmatchIndex(s[offset:])
		if m == nil {
			continue
		}
		// If the tag is written with escapes, such as &lt; for <, groups 3 and 4 of the pattern have matched instead of
		// groups 1 and 2. Use their positions as the positions of groups 1 and 2.
		if m[4] < 0 {
			copy(m[2:6], m[6:10])
		}
		return insertedTag{offset, offset + m[1], strings.ToLower(s[offset+m[4] : offset+m[5]]), m[2] < m[3]}, true
	}
	return insertedTag{}, false
}

// StripInsertedBlocks removes blocks that programs insert into prompts, such as text between <NAME> and </NAME>. It
// removes the blocks of oxbow and other programs. It also removes white space at both ends of the result. A block
// without an end tag extends to the end of the text. An end tag without a start tag is removed.
func StripInsertedBlocks(s string) string {
	tag, found := findInsertedTag(s, 0)
	if !found {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	at := 0
	open := ""
	depth := 0 // number of nested blocks with the name in open that have not ended yet
	for ; found; tag, found = findInsertedTag(s, tag.endOffset) {
		switch {
		case open == "":
			b.WriteString(s[at:tag.startOffset])
			at = tag.endOffset
			if !tag.isClosing {
				open, depth = tag.name, 1
			}
		case tag.name == open && tag.isClosing:
			depth--
			if depth == 0 {
				open, at = "", tag.endOffset
			}
		case tag.name == open:
			depth++
		}
	}
	if open == "" {
		b.WriteString(s[at:])
	}
	return strings.TrimSpace(b.String())
}
