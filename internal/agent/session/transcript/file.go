// The state of a reading, which the readers of all clients share.

package transcript

import (
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// reader takes the lines of one file in turn.
type reader interface {
	// line reads the line that begins at an offset. It returns false where the
	// line is no JSON.
	line(b []byte, at int64) bool
}

// file is a reading of one file.
type file struct {
	client, path string
	clean        func(string) string
	most         int64 // bytes after which the next turn ends the reading; 0 for no bound

	from   int64 // where the reading began
	next   int64 // where the last turn begins
	end    int64 // of the lines that were read
	seen   int64 // end of the lines of which the bad ones were counted before
	bad    int   // lines that are none
	full   bool  // as much was read as was asked for
	events []session.Event

	hold bool            // events are held until release
	held []session.Event // they may have to be forgotten

	session string
	turn    string // the identifier of the last prompt
	agent   string // the sub-agent that is speaking
	dir     string
	branch  string
	model   string
}

// event returns an event with what is known of all. It does not say where the
// transcript is, which may be moved and is still the same.
func (f *file) event(kind session.Kind, id string, at time.Time) session.Event {
	return session.Event{Client: f.client, Session: f.session, Turn: f.turn, Kind: kind, ID: id, Time: at,
		Dir: f.dir, Branch: f.branch, Agent: f.agent, Model: f.model}
}

// report takes an event down.
func (f *file) report(e session.Event) {
	switch {
	case !session.ValidID(e.Session):
	case f.hold:
		f.held = append(f.held, e)
	default:
		f.events = append(f.events, e)
	}
}

// release takes down what was held.
func (f *file) release() {
	f.hold = false
	f.events = append(f.events, f.held...)
	f.held = nil
}

// say reports what the agent said.
func (f *file) say(e session.Event, text string) {
	e.Text = f.clean(text)
	if e.Text != "" {
		f.report(e)
	}
}

// prompt reports what a person said, in a line at an offset, and begins a turn.
func (f *file) prompt(turn, text string, when time.Time, at int64) {
	text = PromptText(text, f.clean)
	if text == "" || f.agent != "" {
		return
	}
	if turn == "" {
		turn = "@" + strconv.FormatInt(at, 10)
	}
	if turn != f.turn {
		f.next = at
		f.full = f.most > 0 && at-f.from >= f.most
	}
	f.turn = turn
	e := f.event(session.Prompt, "", when)
	e.Model, e.Text = "", text
	f.report(e)
}

// call reports a call that has answered.
func (f *file) call(e session.Event, tool string, args []byte, o Outcome) {
	if e, ok := Called(e, tool, args, o, f.clean); ok {
		f.report(e)
	}
}
