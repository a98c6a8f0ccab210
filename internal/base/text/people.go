// This file formats numbers and words for people, and quotes words for a shell.

package text

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
)

// FormatCount formats a number with its noun, such as "1 entry" or "3 entries". The parameter one is the noun in the
// singular, and the parameter many is the noun in the plural.
func FormatCount(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// FormatBytes formats a number of bytes, such as "1.5 MB".
func FormatBytes(n int64) string {
	for i, unit := range []string{"GB", "MB", "kB"} {
		if size := int64(1) << (30 - 10*i); n >= size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(size), unit)
		}
	}
	return FormatCount(int(n), "byte", "bytes")
}

// QuoteAll puts each word in quotation marks, and joins the words with commas.
func QuoteAll(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = strconv.Quote(w)
	}
	return strings.Join(quoted, ", ")
}

// QuoteShellOperand quotes a name as the last argument of a shell command. If the name begins with a dash, it adds
// "--" before the name, so that the name is not read as an option.
func QuoteShellOperand(name string) string {
	if strings.HasPrefix(name, "-") {
		return "-- " + ShellQuote(name)
	}
	return ShellQuote(name)
}

// ShellQuote quotes a word for the shell that people use on this platform.
func ShellQuote(s string) string {
	if runtime.GOOS == "windows" {
		return quoteForWindows(s)
	}
	return PosixQuote(s)
}

// isPlainShellRune reports whether a character means only itself in every shell.
func isPlainShellRune(r rune) bool {
	return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9') ||
		strings.ContainsRune("-_./:@%+,=", r) || r > 0x7f
}

// PosixQuote quotes a word for a POSIX shell.
func PosixQuote(s string) string {
	isSpecial := func(r rune) bool { return !isPlainShellRune(r) }
	if s != "" && !strings.ContainsFunc(s, isSpecial) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// quoteForWindows quotes a word for cmd. PowerShell reads the result in the same way, but needs "& " before a quoted
// program.
func quoteForWindows(s string) string {
	isSpecial := func(r rune) bool { return r != '\\' && !isPlainShellRune(r) }
	if s != "" && !strings.ContainsFunc(s, isSpecial) {
		return s
	}
	return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
}
