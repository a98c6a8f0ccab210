// This file defines which session identifiers are accepted.

package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidID reports whether a client's session identifier is accepted. Identifiers come from reports
// and transcripts, which others may have written, and become arguments of commands. A valid
// identifier is not empty, is UTF-8, does not begin with a dash, which a client would parse as an
// option, has no surrounding white space, and contains only printable characters.
func ValidID(id string) bool {
	if id == "" || !utf8.ValidString(id) || strings.HasPrefix(id, "-") || strings.TrimSpace(id) != id {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
