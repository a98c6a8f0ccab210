// This file declares the contents of a transcript.

// Package fileedits finds file edits in the transcripts of agent programs. For each edit it finds the lines that the
// edit wrote and the visible reasoning before the edit. [MakeRecords] converts the edits to annotations.
//
// Package clientfile converts the transcripts of all clients to events. This package interprets the calls of editing
// tools and their results.
//
//	t, err := fileedits.ReadTranscript(file, path)
//	found, err := fileedits.MakeRecords(store, t, nil)
//	_, err = store.Add(ctx, found.Records...)
package fileedits

import (
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// These limits apply when a transcript is read.
const (
	maxReasoningBytes = 8 << 10 // maximum size of an edit's reason in bytes (longer texts are cut at the beginning)
	maxFileBytes      = annotate.MaxFileBytes
)

var errNotJSONObject = errors.New("the line is no object of JSON")

// ErrUnknownTranscript is returned by [ReadTranscript] if the file is not a transcript of a known client.
var ErrUnknownTranscript = errors.New("not a transcript of an agent that is known here")

// Edit is a range of lines that a tool call wrote, or a position at which it removed lines. A call that changed a file
// at several positions has several edits.
type Edit struct {
	Path string // file name that the agent used
	Dir  string // agent's working directory, to which Path may be relative ("" if not known)

	// CallID is a unique ID of the tool call. NumberInCall is the number of this edit among the call's edits to the
	// file, from 0.
	CallID       string
	NumberInCall int

	// Span is the position of NewLines directly after the edit. It is zero if the transcript does not contain the
	// position. Then [MakeRecords] searches the file for NewLines.
	Span                    annotate.LineSpan
	NewLines                []string // whole lines without newlines
	LinesBefore, LinesAfter []string // lines directly before and after NewLines, if they are known

	// IsRemovalOnly is set if the edit only removed lines from the file. NewLines then contains at most two lines: the
	// line before and the line after the removed lines.
	IsRemovalOnly bool

	Content []byte // the whole file's content after the edit (nil if it is not known)

	Why      string // the agent's text before the edit, or else the person's prompt (never "")
	Time     time.Time
	Session  string
	Model    string
	SubAgent string // sub-agent that made the edit ("" for the main agent)

	mayHaveSpacesForTabs bool // NewLines may contain two spaces for each leading tab.
	// The text that the edit inserted, if it may begin or end within a line. NewLines is then empty.
	partialLineText string
	// number of lines at the beginning and at the end of partialLineText that the file contained before the edit
	unchangedEdgeLineCounts [2]int
	enclosingLines          []string // lines, such as a function's head, that enclose NewLines in the file
	// The lines in the file may have other indentation and commas than the lines in NewLines.
	mayBeReformatted bool
}

// Transcript contains the edits that were found in a transcript.
type Transcript struct {
	Client  string       // "claude-code", "codex", "gemini", "copilot", "qwen" or "opencode"
	Edits   []Edit       // in the order of the calls
	Renames []FileRename // in the order in which the agent renamed the files

	LineCount               int // number of lines that are not empty
	UnreadableLines         int // number of lines that cannot be read
	CallCount               int // number of calls to editing tools
	FailedCalls             int // number of calls that failed or were refused
	PendingCalls            int // number of calls whose result is missing because the transcript ends
	DeletedFiles            int // number of deleted files, which contain no line to annotate
	CallsWithUnknownChanges int // number of successful calls whose changes the transcript does not contain
}

// FileRename is a rename of a file by an agent.
type FileRename struct {
	OldName, NewName string
	WorkingDir       string // agent's working directory, as in [Edit]
	EditCount        int    // number of edits in the transcript before the agent renamed the file
}
