// This file formats numbers and words for people, and words for a shell.

package text

import (
	"fmt"
	"strings"
)

// Count formats a number and its noun, such as "1 entry" or "3 entries".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Bytes formats a number of bytes, such as "1.5 MB".
func Bytes(n int64) string {
	for i, unit := range []string{"GB", "MB", "kB"} {
		if size := int64(1) << (30 - 10*i); n >= size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(size), unit)
		}
	}
	return Count(int(n), "byte", "bytes")
}

// ShellName quotes a name as the last argument of a shell command. It puts "--" before a name that
// begins with a dash, so that the name is not read as an option.
func ShellName(name string) string {
	if strings.HasPrefix(name, "-") {
		return "-- " + ShellQuote(name)
	}
	return ShellQuote(name)
}

// ShellQuote quotes a word for a shell.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') ||
			strings.ContainsRune("-_./:@%+,=", r) || r > 0x7f
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
