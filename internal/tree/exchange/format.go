// Formats, and how one is distinguished from another.

package exchange

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// Format is a way of writing memories down.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"    // one entry a line
	Markdown Format = "markdown" // see [ReadMarkdown]
	Chat     Format = "chat"     // one session a line
	Dates    Format = "dates"    // when sessions were
	Obsidian Format = "obsidian" // Markdown with #tags in the text
)

// crmemFile is a memory of crabtalk. No text is of this format, so that it cannot
// be named.
const crmemFile Format = "crmem"

var formats = []string{string(JSONL), string(Markdown), string(Chat), string(Dates), string(Obsidian)}

// ParseFormat returns the format of that word. Errors match [oxbow.ErrInvalid].
func ParseFormat(s string) (Format, error) {
	if !slices.Contains(formats, s) {
		return "", &oxbow.InvalidError{Field: "format", Value: s, Reason: "is not one of " + strings.Join(formats, ", ") + hint(s, formats)}
	}
	return Format(s), nil
}

// headSize is how many bytes of a file are looked at to tell its format.
const headSize = 64 << 10

// detect tells a format by a file's name (which may be empty) and its first
// bytes, best 64 KiB of them, packed by gzip or not. The name decides between
// Markdown and JSON where it ends in one of .md, .markdown, .jsonl and .ndjson
// (.gz may follow); which JSON it is, only the bytes tell.
func detect(name string, head []byte) (Format, error) {
	if isGzip(head) {
		if zr, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
			// The end is missing, so an error is what to expect.
			head, _ = io.ReadAll(io.LimitReader(zr, headSize))
		}
	}
	switch {
	case bytes.HasPrefix(head, []byte("CRMEM\x00")):
		return crmemFile, nil
	case byName(name) == Markdown:
		return Markdown, nil
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\uFEFF")))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	first = bytes.TrimSpace(first)
	switch {
	case bytes.HasPrefix(text, []byte("{")) || isArray(first):
		if isDocument(first) {
			return "", fmt.Errorf("detecting the format of %s: %w", name, errDocument)
		}
		f := byKeys(text)
		if f == "" {
			return "", fmt.Errorf("detecting the format of %s: %w", name, errTranscript)
		}
		return f, nil
	case byName(name) == JSONL:
		return JSONL, nil // its reader says what is wrong
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return "", fmt.Errorf("detecting the format of %s: is UTF-16; convert it to UTF-8 first", name)
	case len(text) == 0:
		return "", fmt.Errorf("detecting the format of %s: is empty", name)
	case bytes.IndexByte(head, 0) >= 0 || !textual(head):
		return "", fmt.Errorf("detecting the format of %s: is not a text", name)
	}
	return Markdown, nil
}

// isArray reports whether a line begins a JSON array. Markdown may begin with a
// bracket, too.
func isArray(line []byte) bool {
	return string(line) == "[" || bytes.HasPrefix(line, []byte("[{")) || (bytes.HasPrefix(line, []byte("[")) && json.Valid(line))
}

// byName returns Markdown or JSONL, or "" for a name that tells neither.
func byName(name string) Format {
	switch path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) {
	case ".md", ".markdown":
		return Markdown
	case ".jsonl", ".ndjson":
		return JSONL
	}
	return ""
}

// errTranscript is the error of what Claude Code, Codex and their like keep of a
// session.
var errTranscript = errors.New("is an agent's transcript, which holds no entries: oxbow annotate --from-transcript takes why it edited code; remember what it decided, or give its talk as lines of role and content")

// byKeys tells the sorts of JSON lines apart by the fields of the first one, as
// far as it is there. A transcript is none.
func byKeys(text []byte) Format {
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return JSONL
	}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return JSONL
		}
		switch tok {
		case "turns", "messages", "role":
			return Chat
		case "parentUuid", "leafUuid", "sessionId", "messageId", "payload":
			return ""
		case "haystack":
			return Dates
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return JSONL
		}
	}
	return JSONL
}

// textual reports whether the bytes, which may end within a rune, are UTF-8.
func textual(b []byte) bool {
	i := text.BadUTF8(string(b))
	return (len(b)-i < utf8.UTFMax && !utf8.FullRune(b[i:])) || i == len(b)
}

func isGzip(head []byte) bool { return len(head) > 2 && head[0] == 0x1F && head[1] == 0x8B }

var errExpanded = errors.New("expands to more bytes than are read")
