// This file defines the label that names the source of an entry.

package lineage

import (
	"strconv"
	"strings"
)

// SourceLabel is the key of the labels that name an entry's sources. The value is NAME@SEQ for an entry's version, or
// the name of a session's turn. Only oxbow sets these labels. Callers of verbs cannot add or remove them.
const SourceLabel = "from"

// FormatSource returns the value of a source label for an entry's version.
func FormatSource(name string, version uint64) string {
	return name + "@" + strconv.FormatUint(version, 10)
}

// ParseSource parses a value that FormatSource returned. ok is false for any other text, such as the name of a turn.
func ParseSource(s string) (name string, version uint64, ok bool) {
	i := strings.LastIndexByte(s, '@')
	if i <= 0 {
		return "", 0, false
	}
	version, err := strconv.ParseUint(s[i+1:], 10, 64)
	if err != nil || version == 0 {
		return "", 0, false
	}
	if FormatSource(s[:i], version) != s {
		return "", 0, false // The version number is written in another way, such as 007.
	}
	return s[:i], version, true
}
