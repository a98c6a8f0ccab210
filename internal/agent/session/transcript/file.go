// This file contains the state that the readers of all clients share.

package transcript

import (
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// transcriptFile is the state of reading a transcript.
type transcriptFile struct {
	client, path string
	clean        func(string) string
	maxBytes     int64 // bytes after which reading stops at the next turn (0 means no limit)

	startOffset        int64 // offset at which reading began
	lastTurnOffset     int64 // offset of the last turn
	endOffset          int64 // end of the lines that were read
	countedOffset      int64 // end of the lines whose bad lines were counted by an earlier call
	unreadLines        []UnreadLine
	conversationOffset int64          // offset of the conversation that is read
	leftOutCounts      map[string]int // numbers of parts of conversations that are left out, by their kind

	unknownCounts map[string]int // numbers of parts that are not understood, by their kind

	isFinalRead     bool // the texts that a reader keeps back, and an incomplete last line, are read or reported
	hasReachedLimit bool // the limit is reached
	events          []session.Event

	isHolding  bool            // whether events are held until releaseHeldEvents
	heldEvents []session.Event // held events, which may turn out to be copies

	session  string
	promptID string // ID of the last prompt
	subAgent string // current sub-agent ("" for the main agent)
	dir      string
	branch   string
	model    string
	noTime   bool // the client stores no time for the current event
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

// countLeftOut counts a part of a conversation that is not kept, unless an earlier call counted it.
func (f *transcriptFile) countLeftOut(kind string, count int) {
	if count == 0 || f.conversationOffset < f.countedOffset {
		return
	}
	if f.leftOutCounts == nil {
		f.leftOutCounts = map[string]int{}
	}
	f.leftOutCounts[kind] += count
}

// countUnknown counts a part that is not understood, unless an earlier call counted it.
func (f *transcriptFile) countUnknown(offset int64, kind string) {
	if offset < f.countedOffset {
		return
	}
	if f.unknownCounts == nil {
		f.unknownCounts = map[string]int{}
	}
	f.unknownCounts[kind]++
}

// addUnreadLine adds a line that cannot be read, unless an earlier call reported it.
func (f *transcriptFile) addUnreadLine(offset int64, reason string) {
	if offset >= f.countedOffset {
		f.unreadLines = append(f.unreadLines, UnreadLine{Path: f.path, Offset: offset, Reason: reason})
	}
}

// newEvent returns an event with the fields that all events have in common. It does not set
// Transcript, because the file may be moved and is still the same transcript.
func (f *transcriptFile) newEvent(kind session.EventKind, id string, eventTime time.Time) session.Event {
	return session.Event{Client: f.client, Session: f.session, Turn: f.promptID, Kind: kind, ID: id, Time: eventTime,
		NoTime: f.noTime, Dir: f.dir, Branch: f.branch, SubAgent: f.subAgent, Model: f.model}
}

// addEvent collects an event, or holds it. Events without a valid session ID are dropped.
func (f *transcriptFile) addEvent(e session.Event) {
	switch {
	case !session.ValidID(e.Session):
	case f.isHolding:
		f.heldEvents = append(f.heldEvents, e)
	default:
		f.events = append(f.events, e)
	}
}

// releaseHeldEvents collects the held events and ends holding.
func (f *transcriptFile) releaseHeldEvents() {
	f.isHolding = false
	f.events = append(f.events, f.heldEvents...)
	f.heldEvents = nil
}

// reportText reports a text of the agent, unless it is empty.
func (f *transcriptFile) reportText(e session.Event, text string) {
	e.Text = f.clean(text)
	if e.Text != "" {
		f.addEvent(e)
	}
}

// reportPrompt reports the person's text in the line at offset, and begins a turn.
func (f *transcriptFile) reportPrompt(turn, text string, promptTime time.Time, offset int64) {
	text = PromptText(text, f.clean)
	if text == "" || f.subAgent != "" {
		return
	}
	if turn == "" {
		turn = "@" + strconv.FormatInt(offset, 10)
	}
	if turn != f.promptID {
		f.lastTurnOffset = offset
		f.hasReachedLimit = f.maxBytes > 0 && offset-f.startOffset >= f.maxBytes
	}
	f.promptID = turn
	e := f.newEvent(session.KindPrompt, "", promptTime)
	e.Model, e.Text = "", text
	f.addEvent(e)
}

// reportCall reports a call with its outcome.
func (f *transcriptFile) reportCall(e session.Event, tool string, args []byte, o CallOutcome) {
	if e, ok := CompleteCall(e, tool, args, o, f.clean); ok {
		f.addEvent(e)
	}
}
