// This file removes texts that programs insert into the texts of people.

package session

import (
	"regexp"
	"strings"
	"sync"
)

// Fence is the name of the element in which oxbow's hooks insert memory into a model's context.
// [Strip] removes it.
const Fence = "oxbow-memory"

// fences lists the elements that clients and memories insert into prompts. Our own elements come
// first, then the elements that clients and other memory programs write.
var fences = []string{
	Fence,
	"hook_context", "qwen:user-prompt-submit-context", "system-reminder", "system_reminder", "local-command-caveat",
	"deja-recall", "hindsight_memories", "hindsight-memories", "claude-mem-context", "claude-mem", "private-memory",
	"supermemory-context", "memory_context", "relevant-memories", "relevant_memories", "engram-context",
	"mem0-memories", "recalled-memories",
}

// fenceTag matches the tags of fences. It also matches oxbow's own tags in escaped form, because a
// client may put a tag into another element.
var fenceTag = sync.OnceValue(func() *regexp.Regexp {
	const ampersand = `(?:&|\\+u0026)`
	const open, end = `(?:<|` + ampersand + `(?:amp;)*lt;|\\+u003c)`, `(?:>|` + ampersand + `(?:amp;)*gt;|\\+u003e)`
	return regexp.MustCompile(`(?i)<(/?)(` + strings.Join(fences, "|") + `)(?:\s[^<>]*)?>|` + open + `(\\*/?)(` +
		Fence + `)` + end)
})

// Strip returns a text without fenced blocks, including other programs' blocks, and without
// surrounding white space. A block that is not closed extends to the end of the text. An end tag
// without a start tag is removed.
func Strip(s string) string {
	if !strings.ContainsAny(s, `<&\`) {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	at := 0
	open := ""
	depth := 0 // number of nested blocks
	for _, m := range fenceTag().FindAllStringSubmatchIndex(s, -1) {
		if m[4] < 0 { // an escaped tag
			copy(m[2:6], m[6:10])
		}
		name, closing := strings.ToLower(s[m[4]:m[5]]), m[2] < m[3]
		switch {
		case open == "":
			b.WriteString(s[at:m[0]])
			at = m[1]
			if !closing {
				open, depth = name, 1
			}
		case name == open && closing:
			depth--
			if depth == 0 {
				open, at = "", m[1]
			}
		case name == open:
			depth++
		}
	}
	if open == "" {
		b.WriteString(s[at:])
	}
	return strings.TrimSpace(b.String())
}
