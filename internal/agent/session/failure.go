// This file extracts the line that names the error from a failed command's output, and makes the error's signature.

package session

import (
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// maxFailureSignatureBytes is the maximum size in bytes of a failure signature, that is, an error message without its
// variable parts. A longer signature is cut.
const maxFailureSignatureBytes = 160

// errorLinePattern matches a line that names an error.
var errorLinePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?i)\b(error|fail(ed|ure)?|fatal|panic|exception|traceback|cannot|can't|could not|no such|not found|undefined|unresolved|denied|refused|invalid|unexpected|timed? ?out|segmentation|assert\w*|E\d{3,4})\b|^\s*[\w.]*(Error|Exception)\b|✗|✕|^---? FAIL`,
	)
})

// locatedErrorPattern matches a line in the form FILE:LINE:COLUMN: text, as compilers and linters print it. The name of
// the tool may precede the file.
var locatedErrorPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\w+: )?(?:[A-Za-z]:)?[\w@~+-]*[./\\][\w./\\@~+-]*:\d+(?::\d+)?:? +\S`)
})

// doesNameError reports whether a line of an output names an error. The line must not have white space around it. A
// line that begins with "#" does not name an error, because Go prints package names in this form.
func doesNameError(line string) bool {
	if strings.HasPrefix(line, "#") {
		return false
	}
	return (mayBeErrorLine(line) && errorLinePattern().MatchString(line)) ||
		(strings.Contains(line, ":") && locatedErrorPattern().MatchString(line))
}

// errorWordsByInitial lists the beginnings of the words that errorLinePattern matches, by their first letter.
var errorWordsByInitial = map[byte][]string{
	'a': {"assert"}, 'c': {"cannot", "can't", "could not"}, 'd': {"denied"}, 'f': {"fail", "fatal"}, 'i': {"invalid"},
	'n': {"no such", "not found"},
	'e': {"error", "exception", "e0", "e1", "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9"}, 'p': {"panic"},
	'r': {"refused"}, 's': {"segmentation"},
	't': {"traceback", "timeout", "time out", "timed"}, 'u': {"undefined", "unresolved", "unexpected"},
}

// errorWordEndings lists the endings of the words that errorLinePattern matches.
var errorWordEndings = []string{"error", "exception"}

// mayBeErrorLine reports whether errorLinePattern may match a line. It is faster than the pattern.
func mayBeErrorLine(line string) bool {
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
		for _, w := range errorWordsByInitial[rest[0]|0x20] {
			if len(rest) >= len(w) && strings.EqualFold(rest[:len(w)], w) {
				return true
			}
		}
		for _, w := range errorWordEndings {
			if n := i - len(w); n >= begin && strings.EqualFold(line[n:i], w) {
				return true
			}
		}
		i--
	}
	return false
}

func isWordByte(c byte) bool {
	return (c|0x20 >= 'a' && c|0x20 <= 'z') || (c >= '0' && c <= '9') || c == '_'
}

// variableOutputPartPatterns lists patterns for parts of an output that differ between two runs with the same failure,
// with their replacements.
var variableOutputPartPatterns = sync.OnceValue(func() []variableOutputPart {
	return []variableOutputPart{
		{"\x1b", regexp.MustCompile(`\x1b\[[0-9;]*[A-Za-z]`), ""},
		{
			digitChars,
			regexp.MustCompile(
				`\b\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?([.,]\d+)?(Z|[+-]\d\d:?\d\d)?)?|\b\d\d?:\d\d:\d\d([.,]\d+)?`,
			),
			"T",
		},
		{":", regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"'<>)]+`), "URL"},
		{
			`/.\`,
			regexp.MustCompile(
				`(?:\b[A-Za-z]:)?(?:[\w.@~+-]*[\\/])+[\w.@~+-]*|\b[\w-]+\.(?:go|py|rs|ts|tsx|js|jsx|mjs|java|kt|c|cc|cpp|h|hpp|rb|php|cs|swift|sh|json|toml|ya?ml)\b`,
			),
			"PATH",
		},
		{
			digitChars + "-",
			regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\b[0-9a-fA-F]*\d[0-9a-fA-F]{6,}\b|\b[0-9a-f]{8}-[0-9a-f-]{27}\b`),
			"HEX",
		},
		{digitChars, regexp.MustCompile(`\d+(?:[.,]\d+)*(?:\s?(?:ns|µs|ms|s|m|h|[KMG]i?B|%))?\b`), "N"},
		{":", regexp.MustCompile(`(PATH)(?::N)+`), "PATH"},
		{"\t\n\f\r ", regexp.MustCompile(`\s+`), " "},
	}
})

// variableOutputPart describes a part of a failure message that differs from run to run, such as a number or a path.
type variableOutputPart struct {
	requiredChars string // A text can match the pattern only if it contains at least one of these characters.
	pattern       *regexp.Regexp
	replacement   string
}

const digitChars = "0123456789"

// ErrorLine returns the first line that names an error. If no line in the output names an error, it returns the first
// line that does not begin with "#". If all lines begin with "#", it returns the last line. White space around lines,
// and blank lines, are ignored. If all lines are blank, ErrorLine returns "".
func ErrorLine(output string) string {
	first := ""
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if first == "" || strings.HasPrefix(first, "#") {
			first = line
		}
		if doesNameError(line) {
			return line
		}
	}
	return first
}

// FailureSignature returns a text that is equal for failures with the same cause. It is the error line (see
// [ErrorLine]) with placeholders for paths, URLs, numbers, hexadecimal IDs and times. It is "" if the output is blank.
func FailureSignature(output string) string {
	found := text.TruncateBytes(ErrorLine(output), 4*maxFailureSignatureBytes)
	for _, v := range variableOutputPartPatterns() {
		if strings.ContainsAny(found, v.requiredChars) {
			found = v.pattern.ReplaceAllString(found, v.replacement)
		}
	}
	return toShortLine(found, maxFailureSignatureBytes)
}
