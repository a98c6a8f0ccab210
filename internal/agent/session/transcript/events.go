// This file converts a transcript's events to events of the archive.

package transcript

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// newEventReader returns a reader for transcripts of f's client, or nil if the client is unknown.
func newEventReader(f *transcriptFile) *eventReader {
	c, ok := clientfile.FindEventClient(f.clientName)
	if !ok {
		return nil
	}
	return &eventReader{
		transcriptFile:     f,
		client:             c,
		reader:             c.NewReader(f.filePath),
		callsWithoutResult: map[string]startedCall{},
		callIDs:            map[string]bool{},
	}
}

// eventReader converts the events that a [clientfile.EventReader] finds, and reports them to a transcriptFile.
type eventReader struct {
	*transcriptFile
	client             clientfile.EventClient
	reader             clientfile.EventReader
	callsWithoutResult map[string]startedCall // calls whose result was not read yet, by ID
	callIDs            map[string]bool        // IDs of all calls that were read
	turnPosition       string                 // number that the client gives to the current turn

	writingClient          string // client that wrote the file, as its first recognized line shows ("" if unknown)
	linesBeforeClientFound int    // number of lines that were read before the client that wrote the file was recognized
}

// startedCall is a call whose result was not read yet.
type startedCall struct {
	event session.Event
	tool  string
	args  json.RawMessage
}

// maxSniffedLines is the number of lines at a transcript's beginning that are examined to recognize the program that
// wrote the transcript.
const maxSniffedLines = 20

// readLine reads the line that begins at offset. It returns false if the line cannot be read. If another client wrote
// the file, it ignores the line and returns true.
func (r *eventReader) readLine(b []byte, offset int64) bool {
	if r.writingClient == "" && r.linesBeforeClientFound < maxSniffedLines {
		r.writingClient = clientfile.RecognizeClient(b, r.client)
		r.linesBeforeClientFound++
	}
	return r.isOfOtherClient() || r.reader.ParseLine(b, offset, r.processEvent)
}

// flushEvents reports the events that the client's reader still holds at the end of the file.
func (r *eventReader) flushEvents() {
	if in, ok := r.reader.(clientfile.EventFlusher); ok && !r.isOfOtherClient() {
		in.FlushEvents(r.processEvent)
	}
}

// isOfOtherClient reports whether another client wrote the file.
func (r *eventReader) isOfOtherClient() bool {
	return r.writingClient != "" && r.writingClient != r.client.Name
}

// processEvent reports an event of the transcript to the archive. It drops the agent's thoughts, because the agent did
// not say them.
func (r *eventReader) processEvent(e *clientfile.Event) {
	if e.Offset < r.startOffset {
		return // The event is in an earlier line, which is read again only for the session ID or the line numbers.
	}
	// Lines that the client copied from another session occur only at the beginning of a file.
	if e.IsCopy && r.startOffset == 0 {
		return
	}
	switch e.Kind {
	case clientfile.EventNonTextParts:
		r.conversationOffset = e.Offset
		r.addLeftOutCount(e.Text, 1)
		return
	case clientfile.EventUnknown:
		r.countUnknownPart(e.Offset, e.Text, e.RecordName)
		return
	case clientfile.EventUnreadablePart:
		r.addUnreadLine(e.Offset, e.RecordName, reasonNotObject)
		return
	}
	r.sessionID, r.hasNoTime = e.Session, e.HasNoTime
	r.workingDir, r.branch = e.WorkingDir, e.Branch
	r.subAgent = cmp.Or(e.AgentType, e.AgentID)
	// Do not replace a known model by a sub-agent's model, because a turn records the model of the main agent.
	if r.subAgent == "" || r.model == "" {
		r.model = e.Model
	}
	switch e.Kind {
	case clientfile.EventPrompt:
		r.reportMainAgentPrompt(e)
	case clientfile.EventAgentThought:
	case clientfile.EventText:
		r.promptID = cmp.Or(e.TurnID, r.promptID)
		r.reportText(r.newEvent(session.KindText, e.ID, e.Time), e.Text)
	case clientfile.EventToolCall:
		r.promptID = cmp.Or(e.TurnID, r.promptID)
		r.callsWithoutResult[e.ID] = startedCall{
			r.newEvent(session.KindToolCall, e.ID, e.Time),
			e.ToolName,
			bytes.Clone(e.Args),
		}
		r.callIDs[e.ID] = true
	case clientfile.EventFileEdit:
		r.reportFileChanges(e)
	case clientfile.EventToolResult:
		r.reportFinishedCall(e)
	case clientfile.EventConversationCompacted:
		r.promptID = cmp.Or(e.TurnID, r.promptID)
		report := r.newEvent(session.KindCompact, r.promptID, e.Time)
		report.Text = ExtractSummaryText(e.Text, r.cleanText)
		r.addEvent(report)
	}
}

// reportMainAgentPrompt reports a prompt. A prompt of a sub-agent and a prompt without text are ignored. If the prompt
// has the same turn ID as the preceding prompt but another position, the preceding prompt was only a copy. The copy and
// all events after the copy are then dropped.
func (r *eventReader) reportMainAgentPrompt(e *clientfile.Event) {
	if r.subAgent != "" || ExtractPromptText(e.Text, r.cleanText) == "" {
		return
	}
	isUnnamed := e.TurnID == "" && e.ID != ""
	if e.IsFromClientPromptList || isUnnamed {
		r.reportPromptWithoutTurn(e)
		return
	}
	isSameTurn := e.TurnID != "" && e.TurnID == r.promptID
	if isSameTurn && e.TurnPosition != r.turnPosition {
		r.promptID, r.possibleCopyEvents = "", nil
	}
	r.flushPossibleCopyEvents()
	r.turnPosition, r.isHoldingPossibleCopies = e.TurnPosition, true
	r.reportPrompt(e.TurnID, e.Text, e.Time, e.Offset)
}

// reportPromptWithoutTurn reports a prompt whose line does not name the prompt's turn. The prompt may come from a
// client's list of prompts, or a later line may name the turn. If a turn contains the same prompt, the archive later
// merges both prompts.
func (r *eventReader) reportPromptWithoutTurn(e *clientfile.Event) {
	r.flushPossibleCopyEvents()
	r.promptID = ""
	r.lastTurnOffset = e.Offset
	r.hasReachedByteLimit = r.maxBytes > 0 && e.Offset-r.startOffset >= r.maxBytes
	prompt := r.newEvent(session.KindPrompt, e.ID, e.Time)
	prompt.Model, prompt.Text = "", ExtractPromptText(e.Text, r.cleanText)
	prompt.IsFromPromptList = e.IsFromClientPromptList
	r.addEvent(prompt)
}

// reportFinishedCall reports a call and its result. For a call that started a sub-agent of Gemini CLI, it also reports
// the sub-agent's messages.
func (r *eventReader) reportFinishedCall(e *clientfile.Event) {
	call, ok := r.callsWithoutResult[e.ID]
	if !ok {
		return
	}
	delete(r.callsWithoutResult, e.ID)
	hasResponse := r.client.IsDisplayDataResponse && len(e.ResultDisplayData) > 0
	if hasResponse && !e.HasFailed {
		r.reportCall(call.event, call.tool, call.args, DecodeOutcome(e.ResultDisplayData))
		return
	}
	output := e.ResultText()
	o := CallOutcome{
		HasFailed:           e.HasFailed,
		ExitStatus:          e.ExitStatus,
		OmitsZeroExitStatus: e.OmitsZeroExitStatus,
		Output:              output,
	}
	r.reportCall(call.event, call.tool, call.args, o)
	if agent, text := ExtractSubagentReply(call.tool, call.args, output); agent != "" {
		said := r.newEvent(session.KindText, e.ID, e.Time)
		said.SubAgent = agent
		r.reportText(said, text)
	}
}

// reportFileChanges adds an event for a tool call for which the transcript contains the changed files, but not the call
// itself. It does nothing if e has no ID, or if the call with this ID was reported before.
func (r *eventReader) reportFileChanges(e *clientfile.Event) {
	if e.ID == "" || r.callIDs[e.ID] {
		return
	}
	r.callIDs[e.ID] = true
	var changes map[string]json.RawMessage
	// Ignore the error, because only changes that can be decoded name files.
	_ = json.Unmarshal(e.ResultDisplayData, &changes)
	report := r.newEvent(session.KindToolCall, e.ID, e.Time)
	report.Call = &session.ToolCall{Tool: "apply_patch", Failed: e.HasFailed}
	if !e.HasFailed {
		report.Call.WrittenFiles = slices.Sorted(maps.Keys(changes))
	}
	r.addEvent(report)
}
