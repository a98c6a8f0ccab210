// Numbers and words as people read them, or paste them into a shell.

package text

import (
	"fmt"
	"strings"
)

// Count says a number with its noun: "1 entry", "3 entries".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Bytes says a number of bytes.
func Bytes(n int64) string {
	for i, unit := range []string{"GB", "MB", "kB"} {
		if size := int64(1) << (30 - 10*i); n >= size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(size), unit)
		}
	}
	return Count(int(n), "byte", "bytes")
}

// ShellName writes a name as the last argument of a command that a person can paste into a
// shell. A name that begins with a dash, which a program would read as an option, comes
// after two dashes.
func ShellName(name string) string {
	if strings.HasPrefix(name, "-") {
		return "-- " + ShellQuote(name)
	}
	return ShellQuote(name)
}

// ShellQuote writes a word so that a person can paste it into a shell.
func ShellQuote(s string) string {
	plain := func(r rune) bool {
		return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') || strings.ContainsRune("-_./:@%+,=", r) || r > 0x7f
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
