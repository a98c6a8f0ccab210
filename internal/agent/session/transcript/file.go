// This file contains the state that the readers of all clients share.

package transcript

import (
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// file is the state of reading a transcript.
type file struct {
	client, path string
	clean        func(string) string
	most         int64 // bytes after which reading stops at the next turn (0 means no limit)

	from int64 // offset at which reading began
	next int64 // offset of the last turn
	end  int64 // end of the lines that were read
	seen int64 // end of the lines whose bad lines were counted by an earlier call
	bad  []UnreadLine
	at   int64          // offset of the conversation that is read
	left map[string]int // numbers of parts of conversations that are left out, by their kind

	unknown map[string]int // numbers of parts that are not understood, by their kind

	whole  bool // the texts that a reader keeps back, and an incomplete last line, are read or reported
	full   bool // the limit is reached
	events []session.Event

	hold bool            // whether events are held until release
	held []session.Event // held events, which may turn out to be copies

	session string
	turn    string // ID of the last prompt
	agent   string // current sub-agent ("" for the main agent)
	dir     string
	branch  string
	model   string
}

// UnreadLine is a line of a transcript that cannot be read.
type UnreadLine struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"` // byte at which the line begins
	Reason string `json:"reason"`
}

// LeftOutParts reports that parts of conversations are not kept, for example the tool results.
type LeftOutParts struct {
	Kind  string // a noun in the plural, such as "tool results"
	Count int

	// IsUnknown is set if the parts are not kept because they are not understood. A newer version of the client may
	// have written them.
	IsUnknown bool
}

// leaveOut counts a part of a conversation that is not kept, unless an earlier call counted it.
func (f *file) leaveOut(kind string, count int) {
	if count == 0 || f.at < f.seen {
		return
	}
	if f.left == nil {
		f.left = map[string]int{}
	}
	f.left[kind] += count
}

// addUnknown counts a part that is not understood, unless an earlier call counted it.
func (f *file) addUnknown(offset int64, kind string) {
	if offset < f.seen {
		return
	}
	if f.unknown == nil {
		f.unknown = map[string]int{}
	}
	f.unknown[kind]++
}

// addBad adds a line that cannot be read, unless an earlier call reported it.
func (f *file) addBad(offset int64, reason string) {
	if offset >= f.seen {
		f.bad = append(f.bad, UnreadLine{Path: f.path, Offset: offset, Reason: reason})
	}
}

// event returns an event with the fields that all events have in common. It does not set
// Transcript, because the file may be moved and is still the same transcript.
func (f *file) event(kind session.Kind, id string, at time.Time) session.Event {
	return session.Event{Client: f.client, Session: f.session, Turn: f.turn, Kind: kind, ID: id, Time: at,
		Dir: f.dir, Branch: f.branch, Agent: f.agent, Model: f.model}
}

// report collects an event, or holds it. Events without a valid session ID are dropped.
func (f *file) report(e session.Event) {
	switch {
	case !session.ValidID(e.Session):
	case f.hold:
		f.held = append(f.held, e)
	default:
		f.events = append(f.events, e)
	}
}

// release collects the held events and ends holding.
func (f *file) release() {
	f.hold = false
	f.events = append(f.events, f.held...)
	f.held = nil
}

// say reports a text of the agent, unless it is empty.
func (f *file) say(e session.Event, text string) {
	e.Text = f.clean(text)
	if e.Text != "" {
		f.report(e)
	}
}

// prompt reports the person's text in the line at offset, and begins a turn.
func (f *file) prompt(turn, text string, when time.Time, offset int64) {
	text = PromptText(text, f.clean)
	if text == "" || f.agent != "" {
		return
	}
	if turn == "" {
		turn = "@" + strconv.FormatInt(offset, 10)
	}
	if turn != f.turn {
		f.next = offset
		f.full = f.most > 0 && offset-f.from >= f.most
	}
	f.turn = turn
	e := f.event(session.Prompt, "", when)
	e.Model, e.Text = "", text
	f.report(e)
}

// call reports a call with its outcome.
func (f *file) call(e session.Event, tool string, args []byte, o Outcome) {
	if e, ok := CompleteCall(e, tool, args, o, f.clean); ok {
		f.report(e)
	}
}
