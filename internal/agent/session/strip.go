// Strip: cutting out what programs put into the texts of people.

package session

import (
	"regexp"
	"strings"
	"sync"
)

// Fence is the element in which hooks of oxbow put memory before a model. [Strip]
// cuts it out.
const Fence = "oxbow-memory"

// fences are the elements that clients and memories put into prompts: our own
// first, then those of clients, then those of other memories.
var fences = []string{
	Fence,
	"hook_context", "qwen:user-prompt-submit-context", "system-reminder", "system_reminder", "local-command-caveat",
	"deja-recall", "hindsight_memories", "hindsight-memories", "claude-mem-context", "claude-mem", "private-memory",
	"supermemory-context", "memory_context", "relevant-memories", "relevant_memories", "engram-context",
	"mem0-memories", "recalled-memories",
}

// fenceTag matches the tags of fences. Our own is found in an escaped form, too, in which
// a client may put it into an element of its own.
var fenceTag = sync.OnceValue(func() *regexp.Regexp {
	const ampersand = `(?:&|\\+u0026)`
	const open, end = `(?:<|` + ampersand + `(?:amp;)*lt;|\\+u003c)`, `(?:>|` + ampersand + `(?:amp;)*gt;|\\+u003e)`
	return regexp.MustCompile(`(?i)<(/?)(` + strings.Join(fences, "|") + `)(?:\s[^<>]*)?>|` + open + `(\\*/?)(` +
		Fence + `)` + end)
})

// Strip returns a text without the fences of what hooks put into it, those of
// others among them, and without white space around it. A fence that is not closed
// goes to the end of the text; an end without a beginning is left out alone.
func Strip(s string) string {
	if !strings.ContainsAny(s, `<&\`) {
		return strings.TrimSpace(s)
	}
	var b strings.Builder
	at := 0
	open := ""
	depth := 0 // where the text goes on, the fence that is open, and how many of its kind
	for _, m := range fenceTag().FindAllStringSubmatchIndex(s, -1) {
		if m[4] < 0 { // an escaped one
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
