// What is kept of a command that failed: the end of its output, and the signature
// of its error.

package session

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// maxSignature is the bytes of a signature.
const maxSignature = 160

// errorLine finds a line that names an error.
var errorLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(error|fail(ed|ure)?|fatal|panic|exception|traceback|cannot|can't|could not|no such|not found|undefined|unresolved|denied|refused|invalid|unexpected|timed? ?out|segmentation|assert\w*|E\d{3,4})\b|^\s*[\w.]*(Error|Exception)\b|✗|✕|^---? FAIL`)
})

// errorWords are the beginnings of what errorLine finds, by their first letter.
var errorWords = map[byte][]string{
	'a': {"assert"}, 'c': {"cannot", "can't", "could not"}, 'd': {"denied"}, 'f': {"fail", "fatal"}, 'i': {"invalid"}, 'n': {"no such", "not found"},
	'e': {"error", "exception", "e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9"}, 'p': {"panic"}, 'r': {"refused"}, 's': {"segmentation"},
	't': {"traceback", "timeout", "time out", "timed"}, 'u': {"undefined", "unresolved", "unexpected"},
}

// errorEnds are ends of words that errorLine finds.
var errorEnds = []string{"error", "exception"}

// mayNameError reports whether errorLine may match a line, which is sooner known
// than by the expression.
func mayNameError(line string) bool {
	for i := 0; i < len(line); i++ {
		if line[i] >= utf8.RuneSelf {
			return true
		}
		if !isWordByte(line[i]) {
			continue
		}
		begin := i
		for i < len(line) && isWordByte(line[i]) {
			i++
		}
		rest := line[begin:]
		for _, w := range errorWords[rest[0]|0x20] {
			if len(rest) >= len(w) && strings.EqualFold(rest[:len(w)], w) {
				return true
			}
		}
		for _, w := range errorEnds {
			if n := i - len(w); n >= begin && strings.EqualFold(line[n:i], w) {
				return true
			}
		}
		i--
	}
	return false
}

func isWordByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_'
}

// variable matches what differs between two runs that fail alike, and what stands
// in its place.
var variable = sync.OnceValue(func() []variablePart {
	return []variablePart{
		{"\x1b", regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`), ""},
		{digits, regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?|\b\d\d?:\d\d:\d\d([.,]\d+)?`), "T"},
		{":", regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>)]+`), "URL"},
		{`/.\`, regexp.MustCompile(`(?:\b[A-Za-z]:)?(?:[\w.@~+-]*[\\/])+[\w.@~+-]*|\b[\w-]+\.(?:go|py|rs|ts|tsx|js|jsx|mjs|java|kt|c|cc|cpp|h|hpp|rb|php|cs|swift|sh|json|toml|ya?ml)\b`), "PATH"},
		{digits + "-", regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]*\d[0-9a-fA-F]{6,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b`), "HEX"},
		{digits, regexp.MustCompile(`\d+(?:[.,]\d+)*(?:\s?(?:ns|µs|ms|s|m|h|[KMG]i?B|%))?\b`), "N"},
		{":", regexp.MustCompile(`(PATH)(?::N)+`), "PATH"},
		{"\t\n\f\r ", regexp.MustCompile(`\s+`), " "},
	}
})

// variablePart is a row of variable.
type variablePart struct {
	signs string // it matches no text without one of them
	found *regexp.Regexp
	in    string
}

const digits = "0123456789"

// Signature returns what two failures of one cause have in common: the first line
// of an output that names an error, else its first, with paths, numbers, hex and
// times taken out; "" for no output.
func Signature(output string) string {
	first, found := "", ""
	for line := range strings.Lines(output) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if first == "" {
			first = line
		}
		if mayNameError(line) && errorLine().MatchString(line) {
			found = line
			break
		}
	}
	if found == "" {
		found = first
	}
	found = text.Cut(found, 4*maxSignature)
	for _, v := range variable() {
		if strings.ContainsAny(found, v.signs) {
			found = v.found.ReplaceAllString(found, v.in)
		}
	}
	return short(found, maxSignature)
}
