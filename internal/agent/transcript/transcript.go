// What a transcript tells.

// Package transcript finds, in the transcripts that agent programs keep, every
// edit of a file that the agent made, with the lines that came of it and the
// visible reasoning before it. [Join] makes annotations of them.
//
// Claude Code, Codex, Gemini CLI, Copilot CLI and Qwen Code are read, and what the
// plug-in for opencode reports. Another program is one more file: a reader
// that is given the lines, and a row of the table of clients.
//
//	t, err := transcript.Read(file)
//	found, err := transcript.Join(book, t, nil)
//	_, err = book.Add(ctx, found.Records...)
package transcript

import (
	"errors"
	"time"

	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// Bounds of what is read.
const (
	maxWhy  = 8 << 10 // bytes of reasoning kept for an edit: the last ones
	maxFile = annotate.MaxFile
)

var errLine = errors.New("the line is no object of JSON")

// ErrUnknown is returned by [Read] for a file that is of no client it knows.
var ErrUnknown = errors.New("not a transcript of an agent that is known here")

// Edit is one stretch of lines that an agent wrote, or took out, in one call
// of a tool. A call that changed a file in several places makes several.
type Edit struct {
	Path string // of the file, as the agent named it
	Dir  string // where the agent worked, when it is known; Path may be below it

	// Call names the tool call among all that ever were, and N counts the
	// stretches of that call in that file, from 0.
	Call string
	N    int

	// Span is where Block stood right after the edit. It is zero when the
	// transcript does not say; [Join] then looks for the block in the file.
	Span          annotate.Span
	Block         []string // whole lines, without line ends
	Before, After []string // lines around them, as far as they are known

	// Gone says that lines were only taken out: Block is what is left next to
	// the place, at most one line on each side.
	Gone bool

	Content []byte // of the whole file after the edit; nil when it is not known

	Why     string // the visible reasoning; never empty
	Time    time.Time
	Session string
	Model   string
	Sub     string // the sub-agent that made the edit; "" for the main one

	tabs  bool     // leading tabs may be shown as two spaces each
	part  string   // text that was put in and may begin or end within a line; Block is empty then
	same  [2]int   // lines that the part begins and ends with and were there before
	scope []string // what Block stands in, when it was found in the file
	loose bool     // Block is to be found with other indents and commas
}

// Transcript is what one file tells.
type Transcript struct {
	Client string // "claude-code", "codex", "gemini", "copilot", "qwen" or "opencode"
	Edits  []Edit // in the order in which the calls were made
	Moves  []Move // likewise

	Lines   int // lines of the file that are not empty
	Bad     int // of these, those that cannot be read
	Calls   int // calls of tools that edit
	Failed  int // of these, those that the tool or the user refused
	Pending int // of these, those without a result: the transcript ends before
	Removed int // files that were deleted: no line is left to annotate
	Unread  int // calls that succeeded and whose change the transcript does not show
}

// Move is a file that the agent gave another name.
type Move struct {
	From, To string
	Dir      string // where the agent worked, as in [Edit]
	At       int    // how many edits came before
}

// reader takes the lines of a transcript in turn. An error says that the line
// cannot be read; the next is read all the same.
type reader interface {
	line(b []byte) error
	end() // after the last line
}
