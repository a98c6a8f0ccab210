// This file defines which session identifiers are accepted.

package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ValidID reports whether a client's session identifier is accepted. Identifiers come from reports
// and transcripts, which others may have written, and become arguments of commands. A valid
// identifier is non-empty UTF-8 text of printable characters without surrounding white space. An
// identifier that begins with a dash is not valid, because a client would parse it as an option.
func ValidID(id string) bool {
	if id == "" || !utf8.ValidString(id) {
		return false
	}
	if strings.HasPrefix(id, "-") || strings.TrimSpace(id) != id {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
