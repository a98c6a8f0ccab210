// Names of texts.

package text

import "strings"

// NameOf makes a name from the first line of a text that has words: without
// Markdown marks, at most 60 bytes, cut between words. The name of a text
// without words is "note". Of UTF-8 without a NUL, it is one that an entry may
// have.
func NameOf(content string) string {
	content = strings.TrimPrefix(content, "\ufeff") // byte order mark
	for line := range strings.Lines(content) {
		line = strings.TrimLeft(strings.TrimSpace(line), "#>*-+ \t")
		line = strings.Join(strings.FieldsFunc(line, func(r rune) bool { return r <= ' ' || r == 0x7f || (r >= 0x80 && r < 0xa0) }), " ")
		line = strings.TrimSpace(strings.Trim(line, "*_`"))
		if line == "" {
			continue
		}
		if len(line) <= 60 {
			return line
		}
		cut := strings.TrimSuffix(Clip(line, 60), "…")
		if i := strings.LastIndexByte(cut, ' '); i > 20 {
			cut = cut[:i]
		}
		return strings.TrimSpace(cut)
	}
	return "note"
}
