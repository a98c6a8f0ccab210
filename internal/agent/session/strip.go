// This file removes texts that programs insert into the texts of people.

package session

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// FenceName is the name of the element in which oxbow's hooks insert memory into a model's context.
// [StripFences] removes it.
const FenceName = "oxbow-memory"

// fenceNames lists the elements that clients and memories insert into prompts. Our own elements come
// first, then the elements that clients and other memory programs write.
var fenceNames = []string{
	FenceName,
	"hook_context", "qwen:user-prompt-submit-context", "system-reminder", "system_reminder", "local-command-caveat",
	"deja-recall", "hindsight_memories", "hindsight-memories", "claude-mem-context", "claude-mem", "private-memory",
	"supermemory-context", "memory_context", "relevant-memories", "relevant_memories", "engram-context",
	"mem0-memories", "recalled-memories",
}

// fenceTagPattern matches the tag of a fence at the beginning of a text. It also matches oxbow's own tags in
// escaped form, because a client may put a tag into another element.
var fenceTagPattern = sync.OnceValue(func() *regexp.Regexp {
	const ampersand = `(?:&|\\+u0026)`
	const open, end = `(?:<|` + ampersand + `(?:amp;)*lt;|\\+u003c)`, `(?:>|` + ampersand + `(?:amp;)*gt;|\\+u003e)`
	return regexp.MustCompile(`(?i)^(?:<(/?)(` + strings.Join(fenceNames, "|") + `)(?:\s[^<>]*)?>|` + open +
		`(\\*/?)(` + FenceName + `)` + end + `)`)
})

// fenceInitials contains the first two letters of the fences' names.
var fenceInitials = sync.OnceValue(func() map[[2]byte]bool {
	heads := map[[2]byte]bool{}
	for _, name := range fenceNames {
		heads[[2]byte{name[0], name[1]}] = true
	}
	return heads
})

// isFenceInitial reports whether the name of a fence may begin with two bytes. A letter outside of ASCII may be another
// form of a letter, such as the long s.
func isFenceInitial(first, second byte) bool {
	isASCII := first|second < utf8.RuneSelf
	return !isASCII || fenceInitials()[[2]byte{first | 0x20, second | 0x20}]
}

// mayBeFenceTag reports whether the tag of a fence can begin at an offset of a text. Most of the texts that contain
// "<" have no fence, and the regular expression is slow.
func mayBeFenceTag(s string, offset int) bool {
	rest := s[offset+1:]
	switch s[offset] {
	case '<':
		rest = strings.TrimPrefix(rest, "/")
		if strings.HasPrefix(rest, `\`) {
			return true
		}
		return len(rest) > 1 && isFenceInitial(rest[0], rest[1])
	case '&':
		return len(rest) > 0 && (rest[0]|0x20 == 'a' || rest[0]|0x20 == 'l')
	case '\\':
		rest = strings.TrimLeft(rest, `\`)
		return len(rest) > 0 && rest[0]|0x20 == 'u'
	}
	return false
}

// foundTag is a tag in a text.
type foundTag struct {
	start, end int
	name       string // in lower case
	isClosing  bool
}

// findFenceTag returns the first tag of a fence in a text from an offset on. It returns false if there is none.
func findFenceTag(s string, offset int) (foundTag, bool) {
	for ; offset < len(s); offset++ {
		next := strings.IndexAny(s[offset:], `<&\`)
		if next < 0 {
			break
		}
		offset += next
		if !mayBeFenceTag(s, offset) {
			continue
		}
		m := fenceTagPattern().FindStringSubmatchIndex(s[offset:])
		if m == nil {
			continue
		}
		if m[4] < 0 { // an escaped tag
			copy(m[2:6], m[6:10])
		}
		return foundTag{offset, offset + m[1], strings.ToLower(s[offset+m[4] : offset+m[5]]), m[2] < m[3]}, true
	}
	return foundTag{}, false
}

// StripFences returns a text without fenced blocks, including other programs' blocks, and without
// surrounding white space. A block that is not closed extends to the end of the text. An end tag
// without a start tag is removed.
func StripFences(s string) string {
	tag, found := findFenceTag(s, 0)
	if !found {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	at := 0
	open := ""
	depth := 0 // number of nested blocks
	for ; found; tag, found = findFenceTag(s, tag.end) {
		switch {
		case open == "":
			b.WriteString(s[at:tag.start])
			at = tag.end
			if !tag.isClosing {
				open, depth = tag.name, 1
			}
		case tag.name == open && tag.isClosing:
			depth--
			if depth == 0 {
				open, at = "", tag.end
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
