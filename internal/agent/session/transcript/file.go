// This file contains the reading state that the transcript readers of all clients (such as Claude Code) share.

package transcript

import (
	"bytes"
	"io"
	"strconv"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
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
	// end of the lines that an earlier call of the reader has read; parts in these lines that cannot be read or are not
	// understood were already counted by that call
	earlierReadEndOffset int64
	conversationOffset   int64 // offset of the conversation that is being read
	report               ReadReport
	knownInstructions    map[string]bool // custom instructions that are in the report

	// lineNumber is the number of the line that is being read, where the line at startOffset has the number 1. It is 0
	// for a document on several lines.
	lineNumber int

	// isFinalRead is set if the client will not write to the transcript any more. An incomplete last line is then
	// reported, and texts that waited for later lines are processed.
	isFinalRead         bool
	hasReachedByteLimit bool // Reading must stop because maxBytes bytes of the transcript were read.
	events              []session.Event

	// New events are kept in possibleCopyEvents, because a later prompt may show that they are copies of earlier ones.
	isHoldingPossibleCopies bool
	// events that are not reported yet, because a later prompt may show that they are copies
	possibleCopyEvents []session.Event

	sessionID  string
	promptID   string // ID of the prompt that was read last
	subAgent   string // current sub-agent ("" for the main agent)
	workingDir string
	branch     string
	model      string
	hasNoTime  bool // The client stores no time for the current event.
}

// addLeftOutCount adds count to the report's number of parts of this kind that are not stored. If conversationOffset is
// before earlierReadEndOffset, it does nothing, because an earlier call of the reader has already counted these parts.
func (f *transcriptFile) addLeftOutCount(partKind string, count int) {
	if count == 0 || f.conversationOffset < f.earlierReadEndOffset {
		return
	}
	f.report.addLeftOutParts(partKind, count)
}

// countUnknownPart counts a part of an unknown type, unless an earlier call has counted the part. The parameter
// recordName describes where in the line the part is, if the line contains several JSON records. Otherwise it is "".
func (f *transcriptFile) countUnknownPart(offset int64, kind, recordName string) {
	if offset >= f.earlierReadEndOffset {
		f.report.addUnknownParts(
			UnknownPartPlace{Kind: f.cleanText(kind), Count: 1, Place: f.currentRecordPlace(recordName)},
		)
	}
}

// countUnknownConversationPart counts a part of a conversation that is not understood, unless an earlier call has
// counted it. The noun partNoun in the plural, such as "messages", and the type become the part's kind.
func (f *transcriptFile) countUnknownConversationPart(conversationID, partNoun, typeName string) {
	f.countUnknownPart(
		f.conversationOffset,
		clientfile.DescribeUnknownParts(partNoun, typeName),
		"conversation "+conversationID,
	)
}

// addUnreadLine records a line or a record that cannot be read, unless an earlier call has reported it.
func (f *transcriptFile) addUnreadLine(offset int64, record, reason string) {
	if offset >= f.earlierReadEndOffset {
		f.report.addUnreadLine(UnreadLine{Place: f.currentRecordPlace(record), Offset: offset, Reason: reason})
	}
}

// currentRecordPlace returns the place (file, line number and record) of a record in the line that is being read. Until
// makeLineNumbersAbsolute is called, line numbers count from the offset at which reading started, and not from the
// start of the file.
func (f *transcriptFile) currentRecordPlace(record string) Place {
	return Place{Path: f.filePath, Line: f.lineNumber, RecordName: record}
}

// makeLineNumbersAbsolute adds the number of lines before startOffset to the line numbers in the report.
func (f *transcriptFile) makeLineNumbersAbsolute(in io.ReadSeeker, lines *lineCounter) error {
	if f.startOffset == 0 {
		// A report from offset 0 has correct line numbers. Reset lines, because the file may have been rewritten.
		*lines = lineCounter{}
		return nil
	}
	if !f.report.HasProblems() {
		return nil
	}
	before, err := lines.countUntil(in, f.filePath, f.startOffset)
	if err != nil {
		return err
	}
	add := func(p *Place) {
		if p.Line > 0 {
			p.Line += before
		}
	}
	for i := range f.report.FirstBadLines {
		add(&f.report.FirstBadLines[i].Place)
	}
	add(&f.report.lastBadLine.Place)
	for i := range f.report.UnknownPartPlaces {
		add(&f.report.UnknownPartPlaces[i].Place)
	}
	return nil
}

// lineCounter counts the lines before an offset of a transcript. It remembers the last offset, so that the calls for
// the parts of a long transcript do not count the same lines again.
type lineCounter struct {
	filePath string
	offset   int64
	count    int
}

// countUntil returns the number of lines that end before an offset of the transcript.
func (l *lineCounter) countUntil(in io.ReadSeeker, filePath string, offset int64) (int, error) {
	if l.filePath != filePath || offset < l.offset {
		*l = lineCounter{filePath: filePath}
	}
	if _, err := in.Seek(l.offset, io.SeekStart); err != nil {
		return 0, err
	}
	rest := io.LimitReader(in, offset-l.offset)
	buffer := make([]byte, 1<<16)
	for {
		n, err := rest.Read(buffer)
		l.count += bytes.Count(buffer[:n], []byte("\n"))
		l.offset += int64(n)
		if err == io.EOF {
			return l.count, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// newEvent returns an event with the fields that all events have in common. It does not set the field TranscriptPath,
// because the same transcript may be moved to another path.
func (f *transcriptFile) newEvent(kind session.EventKind, id string, eventTime time.Time) session.Event {
	return session.Event{
		Client:    f.clientName,
		Session:   f.sessionID,
		TurnID:    f.promptID,
		Kind:      kind,
		ID:        id,
		Time:      eventTime,
		HasNoTime: f.hasNoTime,
		Dir:       f.workingDir,
		Branch:    f.branch,
		SubAgent:  f.subAgent,
		Model:     f.model,
	}
}

// addEvent adds an event, or holds it if events are being held. An event without a valid session ID is dropped.
func (f *transcriptFile) addEvent(e session.Event) {
	switch {
	case !session.IsValidID(e.Session):
	case f.isHoldingPossibleCopies:
		f.possibleCopyEvents = append(f.possibleCopyEvents, e)
	default:
		f.events = append(f.events, e)
	}
}

// flushPossibleCopyEvents adds the events that were held as possible copies to f.events. Later events are not held.
func (f *transcriptFile) flushPossibleCopyEvents() {
	f.isHoldingPossibleCopies = false
	f.events = append(f.events, f.possibleCopyEvents...)
	f.possibleCopyEvents = nil
}

// reportText reports a text by the agent. It ignores an empty text.
func (f *transcriptFile) reportText(e session.Event, text string) {
	e.Text = f.cleanText(text)
	if e.Text != "" {
		f.addEvent(e)
	}
}

// reportPrompt reports a prompt of the person to the main agent. offset is the offset of the line with the prompt. The
// prompt begins a new turn if turnID differs from the turn ID of the previous prompt. If turnID is "", an ID is made
// from the offset. An empty prompt and a prompt to a sub-agent are ignored.
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
		f.hasReachedByteLimit = f.maxBytes > 0 && offset-f.startOffset >= f.maxBytes
	}
	f.promptID = turnID
	e := f.newEvent(session.KindPrompt, "", promptTime)
	e.Model, e.Text = "", text
	f.addEvent(e)
}

// reportCall reports a call and its outcome.
func (f *transcriptFile) reportCall(e session.Event, tool string, args []byte, o CallOutcome) {
	if e, ok := CompleteCallEvent(e, tool, args, o, f.cleanText); ok {
		f.addEvent(e)
	}
}
