// What is kept of a command that failed: the end of its output, and the signature
// of its error.

package session

import (
	"regexp"
	"strings"
	"sync"

	"github.com/oxbow-memory/oxbow/internal/text"
)

// maxSignature is the bytes of a signature.
const maxSignature = 160

// errorLine finds a line that names an error.
var errorLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(error|fail(ed|ure)?|fatal|panic|exception|traceback|cannot|can't|could not|no such|not found|undefined|unresolved|denied|refused|invalid|unexpected|timed? ?out|segmentation|assert\w*|E\d{3,4})\b|^\s*[\w.]*(Error|Exception)\b|✗|✕|^---? FAIL`)
})

// variable matches what differs between two runs that fail alike, and what stands
// in its place.
var variable = sync.OnceValue(func() []variablePart {
	return []variablePart{
		{regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`), ""},
		{regexp.MustCompile(`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?|\b\d\d?:\d\d:\d\d([.,]\d+)?`), "T"},
		{regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>)]+`), "URL"},
		{regexp.MustCompile(`(?:\b[A-Za-z]:)?(?:[\w.@~+-]*[\\/])+[\w.@~+-]*|\b[\w-]+\.(?:go|py|rs|ts|tsx|js|jsx|mjs|java|kt|c|cc|cpp|h|hpp|rb|php|cs|swift|sh|json|toml|ya?ml)\b`), "PATH"},
		{regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]*\d[0-9a-fA-F]{6,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b`), "HEX"},
		{regexp.MustCompile(`\d+(?:[.,]\d+)*(?:\s?(?:ns|µs|ms|s|m|h|[KMG]i?B|%))?\b`), "N"},
		{regexp.MustCompile(`(PATH)(?::N)+`), "PATH"},
		{regexp.MustCompile(`\s+`), " "},
	}
})

// variablePart is a row of variable.
type variablePart struct {
	found *regexp.Regexp
	in    string
}

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
		if errorLine().MatchString(line) {
			found = line
			break
		}
	}
	if found == "" {
		found = first
	}
	found = text.Cut(found, 4*maxSignature)
	for _, v := range variable() {
		found = v.found.ReplaceAllString(found, v.in)
	}
	return short(found, maxSignature)
}
