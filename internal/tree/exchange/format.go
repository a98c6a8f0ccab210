// This file distinguishes the formats of files.

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

// Format is a file format for memories.
type Format string

// The formats.
const (
	JSONL    Format = "jsonl"    // an entry on each line
	Markdown Format = "markdown" // see [ReadMarkdown]
	Chat     Format = "chat"     // a session on each line
	Dates    Format = "dates"    // the dates of sessions
	Obsidian Format = "obsidian" // Markdown with #tags in the text
)

// crmemFile is the format of a crabtalk memory. It is recognized by its content, and users cannot
// choose it.
const crmemFile Format = "crmem"

var formats = []string{string(JSONL), string(Markdown), string(Chat), string(Dates), string(Obsidian)}

// ParseFormat returns the format with that name. If the name is unknown, the error
// matches [oxbow.ErrInvalid].
func ParseFormat(s string) (Format, error) {
	if !slices.Contains(formats, s) {
		return "", &oxbow.InvalidError{Field: "format", Value: s, Reason: "is not one of " +
			strings.Join(formats, ", ") + nearestHint(s, formats)}
	}
	return Format(s), nil
}

// headSize is the number of bytes that are read from a file to determine its format.
const headSize = 64 << 10

// detect determines a file's format from its name, which may be empty, and its first bytes. Callers
// should pass 64 KiB, which may be compressed. If the name ends in .md, .markdown, .jsonl or
// .ndjson (optionally followed by .gz), it decides between Markdown and JSON. The bytes decide
// between the JSON formats.
func detect(name string, head []byte) (Format, error) {
	if isGzip(head) {
		if zr, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
			// Ignore the error: the input is cut off, so reading it fails at the end.
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
		return JSONL, nil // the reader will report the error
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}) || bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return "", fmt.Errorf("detecting the format of %s: is UTF-16; convert it to UTF-8 first", name)
	case len(text) == 0:
		return "", fmt.Errorf("detecting the format of %s: is empty", name)
	case bytes.IndexByte(head, 0) >= 0 || !isText(head):
		return "", fmt.Errorf("detecting the format of %s: is not a text", name)
	}
	return Markdown, nil
}

// isArray reports whether the line starts a JSON array. A bracket is not sufficient evidence,
// because Markdown may also start with a bracket.
func isArray(line []byte) bool {
	return string(line) == "[" || bytes.HasPrefix(line, []byte("[{")) ||
		(bytes.HasPrefix(line, []byte("[")) && json.Valid(line))
}

// byName returns the format that the ending of the name indicates, Markdown or JSONL, or "" for
// other endings.
func byName(name string) Format {
	switch path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) {
	case ".md", ".markdown":
		return Markdown
	case ".jsonl", ".ndjson":
		return JSONL
	}
	return ""
}

// errTranscript is returned for session logs of Claude Code, Codex and similar programs.
var errTranscript = errors.New(
	"is an agent's transcript, which holds no entries: oxbow session import CLIENT --file FILE keeps it as a " +
		"session; oxbow annotate --from-transcript FILE takes why it edited code",
)

// byKeys distinguishes the JSON formats by the keys of the first line, which may be cut off. It
// returns "" for the transcript of an agent.
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

// isText reports whether the bytes are UTF-8. The last rune may be cut off.
func isText(b []byte) bool {
	i := text.InvalidUTF8Index(string(b))
	return (len(b)-i < utf8.UTFMax && !utf8.FullRune(b[i:])) || i == len(b)
}

func isGzip(head []byte) bool { return len(head) > 2 && head[0] == 0x1F && head[1] == 0x8B }

var errExpanded = errors.New("expands to more bytes than are read")
