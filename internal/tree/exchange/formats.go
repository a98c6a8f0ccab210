// This file declares the formats.

package exchange

import (
	"path"
	"strings"
)

// Format is a file format for memories.
type Format string

// The formats. All but the first five are named after the program that writes them.
const (
	JSONL    Format = "jsonl"    // entries, one on each line or in an array
	Markdown Format = "markdown" // see [ReadMarkdown]
	Chat     Format = "chat"     // a session on each line
	Dates    Format = "dates"    // the dates of sessions
	Obsidian Format = "obsidian" // Markdown with #tags in the text

	basicMemory  Format = "basic-memory"
	csvTable     Format = "csv"           // entries, one in each row
	ClaudeExport Format = "claude-export" // without the conversations
	claudeMem    Format = "claude-mem"
	cursorRules  Format = "cursor-rules"
	engram       Format = "engram"
	mem0         Format = "mem0"
	okf          Format = "okf" // the Open Knowledge Format
	openClaw     Format = "openclaw"
	serverMemory Format = "server-memory"
)

// crmemFile is the format of a crabtalk memory. Such a file is recognized by content, and users
// cannot choose this format.
const crmemFile Format = "crmem"

// peekSize is the number of bytes that are read from a file to determine its format.
const peekSize = 64 << 10

// formatByExtension returns the format that the ending of the name indicates, Markdown or JSONL, or "" for
// other endings.
func formatByExtension(name string) Format {
	switch path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) {
	case ".md", ".markdown":
		return Markdown
	case ".jsonl", ".ndjson":
		return JSONL
	}
	return ""
}
