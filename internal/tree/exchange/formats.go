// This file declares the file formats from which memories can be imported.

package exchange

import (
	"path"
	"strings"
)

// Format is the format of a file with memories.
type Format string

// These are the formats. JSONL, Markdown, Chat, ChatDates and csvTable are general formats. All other formats are named
// after a program, a service or a standard.
const (
	JSONL     Format = "jsonl"    // entries as JSON, one on each line or in an array
	Markdown  Format = "markdown" // see [ReadMarkdown]
	Chat      Format = "chat"     // chat sessions, one on each line
	ChatDates Format = "dates"    // dates of chat sessions
	Obsidian  Format = "obsidian" // Markdown in which #tags in the text are tags

	basicMemory         Format = "basic-memory"
	csvTable            Format = "csv"           // a table with an entry in each row
	ClaudeExport        Format = "claude-export" // export of claude.ai, without the conversations
	claudeMem           Format = "claude-mem"
	cursorRules         Format = "cursor-rules"
	engram              Format = "engram"
	mem0                Format = "mem0"
	openKnowledgeFormat Format = "okf" // bundle in the Open Knowledge Format
	openClaw            Format = "openclaw"
	serverMemory        Format = "server-memory"
)

// crabtalkMemory is the format of a crabtalk memory. It is recognized by the content of the file, and users cannot name
// this format.
const crabtalkMemory Format = "crmem"

// peekSize is the number of bytes that are read from a file to determine its format.
const peekSize = 64 << 10

// formatByExtension returns the format that the extension of a file name indicates: Markdown, JSONL, or "" for any
// other extension.
func formatByExtension(name string) Format {
	switch path.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz")) {
	case ".md", ".markdown":
		return Markdown
	case ".jsonl", ".ndjson":
		return JSONL
	}
	return ""
}
