// This file splits texts into lines, compares and hashes lines, and finds the lines that enclose a given line.

package annotate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
	"github.com/oxbow-memory/oxbow/internal/code/git"
)

// SplitLines splits a text into the lines that records contain. It removes line ends and replaces invalid UTF-8. A
// line of more than 1,024 bytes is replaced by its beginning and a hash. If the text ends with a line end, no empty
// line follows.
func SplitLines(text []byte) []string {
	s := string(text)
	if s == "" {
		return nil
	}
	lines := make([]string, 0, strings.Count(s, "\n")+1)
	for len(s) > 0 {
		line, rest, _ := strings.Cut(s, "\n")
		lines = append(lines, normalizeLine(strings.TrimSuffix(line, "\r")))
		s = rest
	}
	return lines
}

// maxLineBytes is the maximum length of a line in bytes. SplitLines shortens longer lines.
const maxLineBytes = 1024

func normalizeLine(line string) string {
	if len(line) > maxLineBytes {
		sum := sha256.Sum256([]byte(line))
		line = text.TruncateBytes(line, maxLineBytes-40) + "… " + hex.EncodeToString(sum[:16])
	}
	if !utf8.ValidString(line) {
		line = strings.ToValidUTF8(line, "\ufffd")
	}
	return line
}

func normalizeContextLines(lines []string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = normalizeLine(strings.TrimRight(l, "\r\n"))
	}
	return out
}

// hashLines returns a hash of lines: in hex, the first 16 bytes of the SHA-256 digest over the lines, each followed by
// a line feed.
func hashLines(lines []string) string {
	h := sha256.New()
	for _, l := range lines {
		h.Write([]byte(l))
		h.Write([]byte{'\n'})
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// isBinary reports whether a file is binary by git's rule: one of the first 8,000 bytes is NUL.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// isAnnotatable reports whether a file with this content can be annotated: it is neither too long nor binary.
func isAnnotatable(data []byte) bool { return len(data) <= MaxFileBytes && !isBinary(data) }

// binaryFileError returns the error for a file that cannot be annotated because it is binary.
func binaryFileError(file string) error {
	return &oxbow.InvalidError{Field: "file", Value: file, Reason: "is binary: it has no lines to annotate"}
}

// blobName returns the name that git gives to a blob with this content.
func blobName(data []byte, usesSHA256 bool) string { return git.BlobName(data, usesSHA256) }

// countLetters returns the number of letters and digits in the lines. Callers use it to find out how distinctive lines
// are, because lines with few letters occur in many places.
func countLetters(lines ...string) int {
	n := 0
	for _, l := range lines {
		for i := 0; i < len(l); i++ {
			if c := l[i]; c < utf8.RuneSelf {
				n += int(asciiLetterTable[c])
				continue
			}
			for _, r := range l[i:] {
				if isLetter(r) {
					n++
				}
			}
			break
		}
	}
	return n
}

// asciiLetterTable is 1 for each ASCII letter or digit and 0 for other bytes, so that letters can be counted by adding.
var asciiLetterTable = func() (t [utf8.RuneSelf]uint8) {
	for r := range rune(utf8.RuneSelf) {
		if isLetter(r) {
			t[r] = 1
		}
	}
	return t
}()

// isLetter reports whether r is a letter or a digit. Digits count as letters when the letters of a line are counted.
func isLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z') || (r >= '0' && r <= '9')
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// eachLineToken returns an iterator over the words of a line. A word consists of letters, digits (for which isLetter
// also returns true) and underscores.
func eachLineToken(line string) func(func(string) bool) {
	return func(yield func(string) bool) {
		start := -1
		for i, r := range line {
			if isLetter(r) || r == '_' {
				if start < 0 {
					start = i
				}
				continue
			}
			if start >= 0 && !yield(line[start:i]) {
				return
			}
			start = -1
		}
		if start >= 0 {
			yield(line[start:])
		}
	}
}

func removeAllSpace(line string) string { return strings.Join(strings.Fields(line), "") }

// These constants limit the search in [FindEnclosingLines].
const (
	maxReturnedEnclosingLines = 3 // maximum number of enclosing lines that are returned
	// maximum number of lines above the given line that are searched for enclosing lines
	maxEnclosingLineDistance = 2000
)

// FindEnclosingLines returns the lines that enclose the line with the given index, the innermost first. It returns at
// most three. The enclosing line is the nearest line above that is less indented and contains a letter or digit, such
// as an if statement or the head of a function. A blank line has the same enclosing lines as the next line.
func FindEnclosingLines(lines []string, index int) []string {
	depth := -1
	for i := index; i < len(lines) && depth < 0; i++ {
		depth = indentWidth(lines[i])
	}
	var out []string
	for i := index - 1; i >= max(0, index-maxEnclosingLineDistance) && depth > 0 &&
		len(out) < maxReturnedEnclosingLines; i-- {
		d := indentWidth(lines[i])
		isLessIndented := d >= 0 && d < depth
		if isLessIndented && countLetters(lines[i]) > 0 {
			out = append(out, lines[i])
			depth = d
		}
	}
	return out
}

// indentWidth returns the indentation of a line in columns. A tab counts as eight spaces. The result is -1 for a line
// that contains only white space.
func indentWidth(line string) int {
	n := 0
	for i := range len(line) {
		switch line[i] {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return -1
}
