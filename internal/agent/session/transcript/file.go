// This file contains the state that the readers of all clients share.

package transcript

import (
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// transcriptFile is the state while a transcript is read.
type transcriptFile struct {
	clientName, filePath string
	cleanText            func(string) string
	maxBytes             int64 // number of bytes after which reading stops at the next turn (0 means no limit)

	startOffset    int64 // offset at which reading began
	lastTurnOffset int64 // offset at which the last turn begins
	endOffset      int64 // end of the transcript's lines that were read so far
	// end of the lines whose unread and unknown parts were already counted in an earlier call of the reader
	countedOffset      int64
	unreadLines        []UnreadLine
	conversationOffset int64          // offset of the conversation that is being read
	leftOutCounts      map[string]int // number of parts that are left out, by kind

	unknownCounts map[string]int // number of parts that are not understood, by kind

	// isFinalRead is set if the client will not write to the transcript any more. An incomplete last line is then
	// reported, and texts that waited for later lines are processed.
	isFinalRead     bool
	hasReachedLimit bool // Reading must stop because maxBytes bytes of the transcript were read.
	events          []session.Event

	// New events are kept in heldEvents, because a later prompt may show that they are copies of earlier ones.
	isHoldingEvents bool
	// events that are not reported yet, because a later prompt may show that they are copies
	heldEvents []session.Event

	sessionID  string
	promptID   string // ID of the prompt that was read last
	subAgent   string // current sub-agent ("" for the main agent)
	workingDir string
	branch     string
	model      string
	hasNoTime  bool // The client stores no time for the current event.
}

// UnreadLine is a line of a transcript that cannot be read, and the reason.
type UnreadLine struct {
	Path   string `json:"path"`
	Offset int64  `json:"offset"` // offset at which the line begins
	Reason string `json:"reason"`
}

// LeftOutParts reports how many parts of one kind are not stored, for example tool results.
type LeftOutParts struct {
	Kind  string // plural noun for the parts, such as "tool results"
	Count int

	// IsUnknown is set if parts of the transcript are not stored because oxbow does not understand them. A newer
	// version of the client may have written them.
	IsUnknown bool
}

// countLeftOut adds count to the number of parts with this kind that are not stored. It ignores parts that an earlier
// call has counted.
func (f *transcriptFile) countLeftOut(kind string, count int) {
	if count == 0 || f.conversationOffset < f.countedOffset {
		return
	}
	if f.leftOutCounts == nil {
		f.leftOutCounts = map[string]int{}
	}
	f.leftOutCounts[kind] += count
}

// countUnknown counts a part that is not understood, unless an earlier call has counted it.
func (f *transcriptFile) countUnknown(offset int64, kind string) {
	if offset < f.countedOffset {
		return
	}
	if f.unknownCounts == nil {
		f.unknownCounts = map[string]int{}
	}
	f.unknownCounts[kind]++
}

// addUnreadLine records a line that cannot be read, unless an earlier call has reported it.
func (f *transcriptFile) addUnreadLine(offset int64, reason string) {
	if offset >= f.countedOffset {
		f.unreadLines = append(f.unreadLines, UnreadLine{Path: f.filePath, Offset: offset, Reason: reason})
	}
}

// newEvent returns an event with the fields that all events have in common. It does not set the field Transcript,
// because the same transcript may be moved to another path.
func (f *transcriptFile) newEvent(kind session.EventKind, id string, eventTime time.Time) session.Event {
	return session.Event{
		Client:   f.clientName,
		Session:  f.sessionID,
		Turn:     f.promptID,
		Kind:     kind,
		ID:       id,
		Time:     eventTime,
		NoTime:   f.hasNoTime,
		Dir:      f.workingDir,
		Branch:   f.branch,
		SubAgent: f.subAgent,
		Model:    f.model,
	}
}

// addEvent adds an event, or holds it if events are being held. An event without a valid session ID is dropped.
func (f *transcriptFile) addEvent(e session.Event) {
	switch {
	case !session.ValidID(e.Session):
	case f.isHoldingEvents:
		f.heldEvents = append(f.heldEvents, e)
	default:
		f.events = append(f.events, e)
	}
}

// releaseHeldEvents moves the held events to the events that are returned. Later events are not held.
func (f *transcriptFile) releaseHeldEvents() {
	f.isHoldingEvents = false
	f.events = append(f.events, f.heldEvents...)
	f.heldEvents = nil
}

// reportText reports a text by the agent. It ignores an empty text.
func (f *transcriptFile) reportText(e session.Event, text string) {
	e.Text = f.cleanText(text)
	if e.Text != "" {
		f.addEvent(e)
	}
}

// reportPrompt reports a prompt whose line begins at offset, and begins a new turn.
func (f *transcriptFile) reportPrompt(turnID, text string, promptTime time.Time, offset int64) {
	text = ExtractPromptText(text, f.cleanText)
	if text == "" || f.subAgent != "" {
		return
	}
	if turnID == "" {
		turnID = "@" + strconv.FormatInt(offset, 10)
	}
	if turnID != f.promptID {
		f.lastTurnOffset = offset
		f.hasReachedLimit = f.maxBytes > 0 && offset-f.startOffset >= f.maxBytes
	}
	f.promptID = turnID
	e := f.newEvent(session.KindPrompt, "", promptTime)
	e.Model, e.Text = "", text
	f.addEvent(e)
}

// reportCall reports a call and its outcome.
func (f *transcriptFile) reportCall(e session.Event, tool string, args []byte, o CallOutcome) {
	if e, ok := CompleteCall(e, tool, args, o, f.cleanText); ok {
		f.addEvent(e)
	}
}
