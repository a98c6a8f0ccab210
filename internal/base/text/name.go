// This file derives names from texts.

package text

import "strings"

// DeriveName makes a name from the first line of a text that contains words. It removes Markdown markers, and cuts the
// name between two words to at most 60 bytes. For a text without words, it returns "note". If the text is UTF-8
// without a NUL byte, the name is valid for an entry.
func DeriveName(content string) string {
	content = strings.TrimPrefix(content, "\ufeff") // Remove the byte order mark.
	for line := range strings.Lines(content) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#>*-+ \t")
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
			return r <= ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0)
		}), " ")
		line = strings.TrimSpace(strings.Trim(line, "*_`"))
		if line == "" {
			continue
		}
		if len(line) <= 60 {
			return line
		}
		cut := TruncateBytes(line, 60)
		if i := strings.LastIndexByte(cut, ' '); i > 20 {
			cut = cut[:i]
		}
		return strings.TrimSpace(cut)
	}
	return "note"
}
