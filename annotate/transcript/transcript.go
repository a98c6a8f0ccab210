// This file holds what a transcript tells, and how its lines are read.

// Package transcript finds, in the transcripts that agent programs keep, every
// edit of a file that the agent made, with the lines that came of it and the
// visible reasoning before it. [Join] makes annotations of them.
//
// Claude Code and Codex are read. Another program is one more file: a reader
// that is given the lines, and a row of the table of clients.
//
//	t, err := transcript.Read(file)
//	found, err := transcript.Join(book, t, nil)
//	_, err = book.Add(ctx, found.Records...)
package transcript

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/oxbow-memory/oxbow/annotate"
)

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

	// Gone says that lines were only taken out: Block is what is left beside
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
	scope []string // what Block stands in, when it was found in the file
	loose bool     // Block is to be found with other indents and commas
}

// Transcript is what one file tells.
type Transcript struct {
	Client string // "claude-code" or "codex"
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

// Bounds of what is read.
const (
	maxLine = 64 << 20 // bytes of a line; longer ones count as bad
	maxWhy  = 8 << 10  // bytes of reasoning kept for an edit: the last ones
	maxFile = annotate.MaxFile
)

// client is a program whose transcripts can be read.
type client struct {
	name string
	is   func(line []byte) bool          // whether a line can only be of this program
	open func(t *Transcript) (in reader) // begins to read one file
}

// reader takes the lines of a transcript in turn. An error says that the line
// cannot be read; the next is read all the same.
type reader interface {
	line(b []byte) error
	end() // after the last line
}

var clients = []client{
	{"claude-code", isClaude, newClaude},
	{"codex", isCodex, newCodex},
}

// maxSniff is how many lines are looked at to tell whose a transcript is.
const maxSniff = 200

// Read reads a transcript, one JSON object a line. Lines that cannot be read
// are counted and passed over. Errors match [ErrUnknown], or are those of r.
func Read(r io.Reader) (*Transcript, error) {
	t := &Transcript{}
	var in reader
	var held [][]byte // lines before it is known whose they are
	give := func(b []byte) {
		if err := in.line(b); err != nil {
			t.Bad++
		}
	}
	br := bufio.NewReaderSize(r, 1<<16)
	for {
		b, long, err := readLine(br)
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("reading a transcript: %w", err)
		}
		last := err == io.EOF
		b = bytes.TrimSpace(b)
		switch {
		case long:
			t.Lines++
			t.Bad++
		case len(b) > 0:
			t.Lines++
			if in == nil {
				for _, c := range clients {
					if c.is(b) {
						t.Client, in = c.name, c.open(t)
						break
					}
				}
				if in != nil {
					for _, h := range held {
						give(h)
					}
					held = nil
				}
			}
			if in != nil {
				give(b)
			} else if held = append(held, bytes.Clone(b)); len(held) > maxSniff {
				return nil, ErrUnknown
			}
		}
		if last {
			break
		}
	}
	if in == nil {
		return nil, ErrUnknown
	}
	in.end()
	return t, nil
}

// readLine returns the next line, which holds until the next call, and whether
// it was too long and is left out.
func readLine(br *bufio.Reader) (line []byte, long bool, err error) {
	var all []byte
	for {
		part, err := br.ReadSlice('\n')
		if err == nil && all == nil {
			return part, false, nil
		}
		if !long {
			all = append(all, part...)
			if len(all) > maxLine {
				all, long = nil, true
			}
		}
		if err != bufio.ErrBufferFull {
			return all, long, err
		}
	}
}

// reasoning is what an agent has said up to a place of its conversation. It is
// not changed: each addition makes a new one, since a conversation branches.
type reasoning struct {
	asked string // what it was asked last

	// Passages since the last edit that had some before it: said aloud, and
	// thought as far as the transcript shows it.
	said, thought []string
	used          bool // an edit came after these passages
}

// asks begins anew with what the user wants.
func (r *reasoning) asks(text string) *reasoning { return &reasoning{asked: text} }

func (r *reasoning) says(text string, aloud bool) *reasoning {
	text = strings.TrimSpace(text)
	if text == "" {
		return r
	}
	next := &reasoning{asked: r.asked}
	if !r.used {
		next.said, next.thought = r.said, r.thought
	}
	to := &next.thought
	if aloud {
		to = &next.said
	}
	if n := len(*to); n > 0 && (*to)[n-1] == text {
		return r // some programs keep each passage twice
	}
	*to = append((*to)[:len(*to):len(*to)], text)
	return next
}

func (r *reasoning) edits() *reasoning {
	if r.used {
		return r
	}
	next := *r
	next.used = true
	return &next
}

// why returns the reasoning before an edit: what was said aloud; when nothing
// was, what was thought; when nothing of that is shown, what was asked for.
func (r *reasoning) why() string {
	for _, ps := range [][]string{r.said, r.thought} {
		if len(ps) > 0 {
			return tail(strings.Join(ps, "\n\n"))
		}
	}
	if a := strings.TrimSpace(r.asked); a != "" {
		return tail("No reasoning is shown. It was asked: " + a)
	}
	return "No reasoning is shown."
}

// tail cuts a text to its end, which is nearest to the edit, at a rune.
func tail(s string) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	if len(s) <= maxWhy {
		return s
	}
	s = s[len(s)-maxWhy:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return "… " + s
}

// stretch is a run of lines of a file as it is after an edit.
type stretch struct {
	first, n int  // from 1; n is 0 where lines were only taken out before line first
	gone     bool // lines were only taken out
}

// from makes edits of stretches of a content that is known as a whole.
func (e Edit) from(content string, stretches []stretch) []Edit {
	lines := annotate.Lines([]byte(content))
	var out []Edit
	for _, s := range stretches {
		at := e
		at.N, at.Gone, at.Content = len(out), s.gone, []byte(content)
		first, last := s.first, s.first+s.n-1
		if s.gone {
			first, last = s.first-1, s.first
		}
		first, last = max(first, 1), min(last, len(lines))
		if last < first {
			continue // the file is empty now
		}
		at.Span = annotate.Span{First: first, Last: last}
		at.Block = lines[first-1 : last]
		at.Before = lines[max(0, first-1-annotate.Context) : first-1]
		at.After = lines[last:min(len(lines), last+annotate.Context)]
		out = append(out, at)
	}
	return out
}

// between returns the one stretch outside of which two contents are the same;
// none when they are equal.
func between(old, now string) []stretch {
	a, b := annotate.Lines([]byte(old)), annotate.Lines([]byte(now))
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	j := 0
	for j < len(a)-i && j < len(b)-i && a[len(a)-1-j] == b[len(b)-1-j] {
		j++
	}
	switch n := len(b) - i - j; {
	case n > 0:
		return []stretch{{first: i + 1, n: n}}
	case len(a)-i-j > 0:
		return []stretch{{first: i + 1, gone: true}}
	}
	return nil
}

// texts returns the texts of a content that is a string, or blocks of which
// some hold text under a key.
func texts(raw json.RawMessage, keys ...string) []string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return []string{s}
	}
	var blocks []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(raw, &blocks) != nil {
		return nil
	}
	var out []string
	for _, b := range blocks {
		for _, k := range keys {
			if b.Type == k && b.Text != "" {
				out = append(out, b.Text)
			}
		}
	}
	return out
}
