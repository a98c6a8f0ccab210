// This file declares the contents of a transcript.

// Package fileedits finds file edits in agent programs' transcripts, with the lines that each
// edit wrote and the visible reasoning before it. [MakeRecords] converts them to annotations.
//
// Package clientfile converts the transcripts of all clients to events. This package interprets the
// calls of editing tools and their results.
//
//	t, err := fileedits.Read(file, path)
//	found, err := fileedits.Join(store, t, nil)
//	_, err = store.Add(ctx, found.Records...)
package fileedits

import (
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// Limits for reading.
const (
	maxReasoning = 8 << 10 // bytes of reasoning kept for an edit (longer texts are cut at the beginning)
	maxFile      = annotate.MaxFile
)

var errNotJSONObject = errors.New("the line is no object of JSON")

// ErrUnknownTranscript is returned by [ReadTranscript] if the file is not a transcript of a supported client.
var ErrUnknownTranscript = errors.New("not a transcript of an agent that is known here")

// Edit is a range of lines that a tool call wrote or removed. A call that changed a file at
// several positions has several edits.
type Edit struct {
	Path string // file name as given by the agent
	Dir  string // working directory of the agent, if known (Path may be relative to it)

	// Call is a unique name of the tool call. N is the number of the edit within that call and
	// file, from 0.
	Call string
	N    int

	// Span is the position of Block directly after the edit. It is zero if the transcript does not
	// contain the position. In that case, [MakeRecords] searches the file for the block.
	Span          annotate.Span
	Block         []string // whole lines, without line ends
	Before, After []string // adjacent lines before and after, if known

	// Gone is set if lines were only removed. Block then contains the remaining lines next to the
	// position, at most one on each side.
	Gone bool

	Content []byte // content of the whole file after the edit (nil if it is not known)

	Why     string // visible reasoning (never empty)
	Time    time.Time
	Session string
	Model   string
	Sub     string // sub-agent that made the edit ("" for the main agent)

	mayHaveExpandedTabs bool     // each leading tab may be shown as two spaces
	partialText         string   // inserted text that may begin or end within a line (Block is then empty)
	unchangedLines      [2]int   // lines at each end of part that existed before
	enclosingLines      []string // lines that enclose Block, if it was found in the file
	mayBeReformatted    bool     // Block may have different indentation and commas in the file
}

// Transcript contains the edits found in a file.
type Transcript struct {
	Client  string       // "claude-code", "codex", "gemini", "copilot", "qwen" or "opencode"
	Edits   []Edit       // in the order of the calls
	Renames []FileRename // in the order of the calls

	LineCount       int // number of lines that are not empty
	UnreadableLines int // number of lines that cannot be read
	CallCount       int // number of editing tools' calls
	FailedCalls     int // number of calls that the tool or the user refused
	PendingCalls    int // number of calls without a result, because the transcript ends
	DeletedFiles    int // number of deleted files, which leave no line to annotate
	UnknownChanges  int // number of successful calls whose change the transcript does not contain
}

// FileRename is a rename of a file by the agent.
type FileRename struct {
	OldName, NewName string
	Dir              string // working directory of the agent, as in [Edit]
	EditCount        int    // number of edits before the rename
}
