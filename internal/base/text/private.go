// This file removes the parts of a prompt that a person marked as private.

package text

import (
	"regexp"
	"strings"
	"sync"
)

// PrivatePartMark replaces a private part of a prompt.
const PrivatePartMark = "[…]"

var privateTagPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(/?)private>`) })

// HidePrivateParts returns a prompt in which each part between <private> and </private> is replaced by
// [PrivatePartMark]. Letter case is ignored, and parts may be nested. A part without an end tag extends to the end
// of the prompt. An end tag without a start tag is left unchanged.
func HidePrivateParts(prompt string) string {
	if !strings.Contains(prompt, "<") {
		return prompt
	}
	var b strings.Builder
	kept := 0 // position in the prompt up to which the text was copied to b, or left out because it is private
	depth := 0
	for _, m := range privateTagPattern().FindAllStringSubmatchIndex(prompt, -1) {
		isEnd := m[2] < m[3]
		switch {
		case !isEnd:
			if depth == 0 {
				b.WriteString(prompt[kept:m[0]])
				b.WriteString(PrivatePartMark)
			}
			depth++
		case depth > 0:
			depth--
			kept = m[1]
		}
	}
	if depth == 0 {
		b.WriteString(prompt[kept:])
	}
	return b.String()
}
