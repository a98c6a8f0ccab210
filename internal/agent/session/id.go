// This file defines which session identifiers are accepted.

package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// IsValidID reports whether a client's session ID is accepted. An ID may come from a report or a transcript that others
// wrote, and it becomes an argument of commands. A valid ID is non-empty UTF-8 text of printable characters, without
// white space at its ends. The first character is not a dash, because a client would parse such an ID as an option.
func IsValidID(id string) bool {
	if id == "" || !utf8.ValidString(id) {
		return false
	}
	if strings.HasPrefix(id, "-") || strings.TrimSpace(id) != id {
		return false
	}
	return strings.IndexFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }) < 0
}
