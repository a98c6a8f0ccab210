// This file determines the format of a file.

package exchange

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// detectFormat determines the format of a file from its name and its content. The name may be "". The argument head
// contains the first bytes of the file, which may be compressed with gzip. Callers should pass the first 64 KiB.
//
// Some formats can be recognized by the name (such as the extensions .md and .csv) or by special bytes at the beginning
// of the file. Otherwise the text in head determines the format. The text also determines which JSON format a file has,
// for example if the name ends in .jsonl. The name may have the additional extension .gz.
func detectFormat(name string, head []byte) (Format, error) {
	if isGzip(head) {
		if zr, err := gzip.NewReader(bytes.NewReader(head)); err == nil {
			// Ignore the error, because the compressed input is cut off, so that reading always fails at its end.
			head, _ = io.ReadAll(io.LimitReader(zr, peekSize))
		}
	}
	format := formatByName(name, head)
	if format != "" {
		return format, nil
	}
	format, err := detectTextFormat(name, head)
	if err != nil {
		return "", fmt.Errorf("detecting the format of %s: %w", name, err)
	}
	return format, nil
}

// formatByName returns the format that follows from the name of a file or from its first bytes. It returns "" if the
// text must be examined.
func formatByName(name string, head []byte) Format {
	switch {
	case bytes.HasPrefix(head, []byte("CRMEM\x00")):
		return crabtalkMemory
	case strings.HasSuffix(strings.ToLower(name), ".mdc"), path.Base(name) == ".cursorrules":
		return cursorRules
	case isTableFile(name):
		return csvTable
	case formatByExtension(name) == Markdown && isBasicMemoryNote(head):
		return basicMemory
	case formatByExtension(name) == Markdown:
		return Markdown
	}
	return ""
}

// detectTextFormat determines the format of a file from the beginning of its text, and from the extension of its name.
// It returns an error if the file is empty or not a text, or if it has a known format that cannot be imported in this
// way, such as a database of SQLite.
func detectTextFormat(name string, firstBytes []byte) (Format, error) {
	text := bytes.TrimSpace(bytes.TrimPrefix(firstBytes, []byte("\uFEFF")))
	first, _, _ := bytes.Cut(text, []byte("\n"))
	first = bytes.TrimSpace(first)
	switch {
	case bytes.HasPrefix(text, []byte("{")) || isJSONArrayLine(first):
		return detectJSONFormat(text, first)
	case formatByExtension(name) == JSONL:
		// The first line has an error, but the extension says JSONL. Return JSONL, because the function that reads
		// JSON lines reports the error.
		return JSONL, nil
	case isUTF16(firstBytes):
		return "", errUTF16
	case len(text) == 0:
		return "", errors.New("is empty")
	case bytes.HasPrefix(firstBytes, []byte("SQLite format 3\x00")):
		return "", errDatabase
	case bytes.IndexByte(firstBytes, 0) >= 0 || !isUTF8Text(firstBytes):
		return "", errors.New("is not a text")
	}
	return Markdown, nil
}

// detectJSONFormat returns the format of a JSON document or JSON lines. text is the file's text, and the argument
// firstLine is its first line of text. Errors are errChatServiceExport for exports of chat services, errTranscript for
// other text without a known format, and an unknownDocumentError for a JSON document over several lines.
func detectJSONFormat(text, firstLine []byte) (Format, error) {
	h, isKnown := readJSONHead(text)
	if f := detectDocumentFormat(h); isKnown && f != "" {
		return f, nil
	}
	if isKnown && containsAny(h.keys, "mapping", "chat_messages") {
		return "", errChatServiceExport
	}
	if isKnown && isMultilineDocument(firstLine) {
		return "", unknownDocumentError(h)
	}
	f := detectFormatByKeys(text)
	if f == "" {
		return "", errTranscript
	}
	return f, nil
}

// isJSONArrayLine reports whether a line begins a JSON array. A bracket alone is not enough, because a line of
// Markdown may also begin with one.
func isJSONArrayLine(line []byte) bool {
	return string(line) == "[" || bytes.HasPrefix(line, []byte("[{")) ||
		(bytes.HasPrefix(line, []byte("[")) && json.Valid(line))
}

// errDatabase is returned for a database of SQLite.
var errDatabase = errors.New("is a database of SQLite, which oxbow does not read: sqlite3 -json FILE " +
	"'SELECT * FROM observations' > observations.json writes a table of claude-mem or engram that it reads; " +
	"engram export and mem0's get_all write files that it reads, too")

// errChatServiceExport is returned for a file with conversations of ChatGPT or Claude, because such a file is imported
// only if the user names the format.
var errChatServiceExport = errors.New(
	"holds conversations of a chat service, which are read only from a file: oxbow import " +
		"--from chatgpt FILE, or --from claude-export FILE",
)

// errTranscript is returned for session logs of Claude Code, Codex and similar programs.
var errTranscript = errors.New(
	"is an agent's transcript, which holds no entries: oxbow session import CLIENT --file FILE keeps it as a " +
		"session; oxbow annotate --from-transcript FILE takes why it edited code",
)

// detectFormatByKeys distinguishes the JSON formats by the keys in the first line, whose end may be missing. It returns
// "" for a transcript of an agent.
func detectFormatByKeys(text []byte) Format {
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
			return ChatDates
		}
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return JSONL
		}
	}
	return JSONL
}

// isUTF8Text reports whether the bytes are valid UTF-8. The end of the last character may be missing.
func isUTF8Text(b []byte) bool {
	i := text.FirstInvalidUTF8(string(b))
	return (len(b)-i < utf8.UTFMax && !utf8.FullRune(b[i:])) || i == len(b)
}

func isGzip(head []byte) bool { return len(head) > 2 && head[0] == 0x1F && head[1] == 0x8B }

var errExpandedInputTooLarge = errors.New("expands to more bytes than are read")
