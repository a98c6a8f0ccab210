// This file reads transcripts of Gemini CLI: ~/.gemini/tmp/PROJECT/chats/session-*.jsonl. A
// sub-agent's transcript is in a directory with the session's name: chats/SESSION/*.jsonl.
//
// The first line is {"sessionId","startTime","kind"}. A line with an ID is a message,
// {"id","timestamp","type":"user"|"gemini","content","thoughts":[{"subject","description"}],
// "model","toolCalls":[{"id","name","args","status","result","resultDisplay":{"fileDiff",
// "filePath","newContent"}}]}. The ID of a person's message identifies a turn. A message that grows
// is repeated with the same ID. {"$set":{"messages":[…]}} repeats the messages when a session is
// resumed, and replaces them by a summary when the conversation is compacted. {"$rewindTo":ID}
// removes the message with this ID and all later ones.
//
// Versions up to 0.38 store a session as a single JSON document, session-*.json, with the messages in
// its member "messages".

package clientfile

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// geminiLine is a line of a Gemini CLI transcript: the session's header, a message, or a change to the session.
type geminiLine struct {
	SessionID        string          `json:"sessionId"`
	SessionStartTime string          `json:"startTime"`
	SessionKind      string          `json:"kind"`
	ID               string          `json:"id"`
	Time             time.Time       `json:"timestamp"`
	MessageType      string          `json:"type"`
	Content          json.RawMessage `json:"content"`
	// text that the person typed, without the files that the client inserted
	DisplayContent json.RawMessage   `json:"displayContent"`
	Model          string            `json:"model"`
	Thoughts       []geminiThought   `json:"thoughts"`
	ToolCalls      []geminiCall      `json:"toolCalls"`
	Messages       []json.RawMessage `json:"messages"`
	SessionUpdate  json.RawMessage   `json:"$set"`
	RewindTo       string            `json:"$rewindTo"`
}

type geminiThought struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
}

// geminiCall is a tool call in a message of the agent.
type geminiCall struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	Args          json.RawMessage `json:"args"`
	Status        string          `json:"status"`
	Time          time.Time       `json:"timestamp"`
	ResultDisplay json.RawMessage `json:"resultDisplay"`
	Result        []struct {
		Response struct {
			Response toolResponse `json:"response"`
		} `json:"functionResponse"`
	} `json:"result"`
}

// toolResponse is the result of a tool in Gemini CLI or Qwen Code.
type toolResponse struct {
	Output string `json:"output"`
	Error  string `json:"error"`
}

// isGeminiLine reports whether a line is the header of a Gemini session file, or a whole Gemini session in one JSON
// document. It returns false for a line with a single message of a session.
func isGeminiLine(line []byte) bool {
	var l geminiLine
	if !DecodeObject(line, &l) || l.SessionID == "" {
		return false
	}
	isMessage := l.ID != "" || l.MessageType != ""
	return !isMessage && (l.SessionStartTime != "" || l.Messages != nil)
}

// geminiReader reads the lines of one Gemini CLI transcript. It keeps the state between two lines.
type geminiReader struct {
	sessionID, workingDir, agent string
	model                        string

	messagesByID   map[string]*geminiMessage // all messages by ID
	currentMessage *geminiMessage            // message whose parts are being reported
	lastEventID    string                    // ID of the last message from which an event was reported
	lastMessageID  string                    // ID of the last message in the file
	endedCallIDs   map[string]bool           // IDs of the calls whose result was reported

	personCommands personCommandReporter
}

// geminiMessage records which parts of a message were reported. The message may be repeated later with more parts.
type geminiMessage struct {
	previousNodeID string // ID of the last message before this message that contained something to report
	text           string
	thoughtCount   int             // number of the message's thoughts that the reader has already reported
	callIDs        map[string]bool // IDs of the calls that were reported
	// The message has an unknown type, which was already reported and must not be reported again.
	hasUnknownType bool
}

func newGeminiReader(path string) EventReader {
	if IsPromptList(path) {
		return newPromptListReader(path, "chats")
	}
	g := &geminiReader{messagesByID: map[string]*geminiMessage{}, endedCallIDs: map[string]bool{}}
	chats := filepath.Dir(path)
	if parent := filepath.Dir(chats); filepath.Base(parent) == "chats" {
		g.sessionID, g.agent = filepath.Base(chats), "sub-agent"
		chats = parent
	}
	if path != "" {
		g.workingDir = geminiProjectDir(filepath.Dir(chats))
	}
	return g
}

// ParseLine implements [EventReader].
func (g *geminiReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l geminiLine
	if !DecodeObject(line, &l) {
		return false
	}
	switch {
	case l.RewindTo != "":
		// If no message has the ID in rewindTo, Gemini CLI removes the whole conversation.
		g.lastMessageID, g.lastEventID = "", ""
		if m := g.messagesByID[l.RewindTo]; m != nil {
			g.lastMessageID, g.lastEventID = m.previousNodeID, m.previousNodeID
		}
	case l.MessageType != "":
		g.reportMessage(&l, messageOnSeparateLine, offset, yield)
	case l.SessionID != "":
		if g.agent == "" {
			g.sessionID = l.SessionID
		}
		switch l.SessionKind {
		case "", "main":
		default:
			g.agent = "sub-agent"
			if l.SessionKind != "subagent" {
				(&Event{Offset: offset, Session: g.sessionID}).reportUnknownPart("sessions", l.SessionKind, yield)
			}
		}
	case l.SessionUpdate == nil:
		(&Event{Offset: offset, Session: g.sessionID}).reportUnknownPart("lines", "", yield)
	}
	var set struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if l.SessionUpdate != nil {
		DecodeObject(l.SessionUpdate, &set)
	}
	for _, messages := range [][]json.RawMessage{l.Messages, set.Messages} {
		for i, message := range messages {
			yieldRecord := wrapYieldWithRecord(recordName("messages", i), yield)
			var m geminiLine
			if !DecodeObject(message, &m) {
				(&Event{Offset: offset, Session: g.sessionID}).reportUnreadRecord(yieldRecord)
				continue
			}
			g.reportMessage(&m, messageInList, offset, yieldRecord)
		}
	}
	return true
}

// geminiMessageLocation tells where in the transcript a message is: on a separate line, or in a list of messages.
type geminiMessageLocation int

const (
	messageOnSeparateLine geminiMessageLocation = iota
	messageInList
)

// reportMessage reports the parts of a message that were not reported before. A message in a list is ignored if it was
// already read and is not the last message.
func (g *geminiReader) reportMessage(m *geminiLine, place geminiMessageLocation, offset int64, yield func(*Event)) {
	known := g.messagesByID[m.ID]
	switch {
	case known == nil || m.ID == "":
		g.currentMessage = &geminiMessage{previousNodeID: g.lastEventID, callIDs: map[string]bool{}}
		g.messagesByID[m.ID], g.lastMessageID = g.currentMessage, m.ID
	case m.ID != g.lastMessageID && place == messageInList:
		// Ignore a message that was already read. A resumed session lists its messages again, and some of them may
		// then be shorter.
		return
	default: // The client stored the message again with more text or more calls.
		g.currentMessage = known
	}
	e := Event{
		Offset:       offset,
		Time:         m.Time,
		ID:           m.ID,
		NodeID:       m.ID,
		ParentNodeID: g.currentMessage.previousNodeID,
		Session:      g.sessionID,
		WorkingDir:   g.workingDir,
		AgentID:      g.agent,
		Model:        g.model,
	}
	report := func(e *Event) {
		g.lastEventID = m.ID
		yield(e)
	}
	switch m.MessageType {
	case "user":
		g.reportUserText(m, e, report)
	case "gemini", "qwen": // Qwen Code uses the same format. Its agent may have the type qwen.
		g.model = cmp.Or(m.Model, g.model)
		e.Model = g.model
		g.reportAgentMessage(m, e, report)
	case "info", "error", "warning": // The client wrote these texts.
	default:
		if !g.currentMessage.hasUnknownType {
			g.currentMessage.hasUnknownType = true
			e.reportUnknownPart("messages", m.MessageType, yield)
		}
	}
}

// reportUserText reports the text of a message that the client stored for the role user. It reports nothing if the
// message has no text, because the message then contains only results of calls. It also reports nothing if the same
// text of this message was reported before.
func (g *geminiReader) reportUserText(m *geminiLine, e Event, yield func(*Event)) {
	text := cmp.Or(ContentText(m.DisplayContent), ContentText(m.Content), attachmentText(m.Content))
	if text == "" || text == g.currentMessage.text {
		return
	}
	g.currentMessage.text = text
	if g.personCommands.reportShellText(e, text, yield) {
		return
	}
	if cmp.Or(ContentText(m.DisplayContent), ContentText(m.Content)) != "" {
		e.reportNonTextParts(nonTextFilesText, countAttachments(m.Content), yield)
	}
	e.Kind, e.Text = EventPrompt, text
	e.TurnID = m.ID
	if strings.HasPrefix(strings.TrimSpace(text), "<state_snapshot>") {
		e.Kind, e.TurnID = EventConversationCompacted, ""
	}
	yield(&e)
}

// reportAgentMessage reports the reasoning, the text and the calls in a message of the agent.
func (g *geminiReader) reportAgentMessage(m *geminiLine, e Event, yield func(*Event)) {
	e.Kind = EventAgentThought
	for _, t := range m.Thoughts[min(g.currentMessage.thoughtCount, len(m.Thoughts)):] {
		e.Text = strings.TrimSpace(t.Subject + "\n" + t.Description)
		yield(&e)
	}
	g.currentMessage.thoughtCount = len(m.Thoughts)
	if text := ContentText(m.Content); text != "" && text != g.currentMessage.text {
		g.currentMessage.text = text
		e.Kind, e.Text = EventText, text
		yield(&e)
	}
	e.Text = ""
	for i := range m.ToolCalls {
		g.reportCallAndResult(&m.ToolCalls[i], e, yield)
	}
}

// reportCallAndResult reports a tool call. If the call has ended, it also reports the result.
func (g *geminiReader) reportCallAndResult(c *geminiCall, e Event, yield func(*Event)) {
	e.ID = c.ID
	if !c.Time.IsZero() {
		e.Time = c.Time
	}
	if g.endedCallIDs[c.ID] {
		return
	}
	if !g.currentMessage.callIDs[c.ID] {
		e.Kind = EventToolCall
		e.ToolName, e.Args = c.Name, c.Args
		yield(&e)
	}
	if c.ID != "" {
		g.currentMessage.callIDs[c.ID] = true
	}
	switch c.Status {
	case "success", "error", "cancelled", "": // The call has ended, so its result is reported below.
	default:
		return
	}
	g.endedCallIDs[c.ID] = c.ID != ""
	e.Kind = EventToolResult
	e.ToolName, e.Args = "", nil
	e.HasFailed = c.Status == "error" || c.Status == "cancelled"
	for _, r := range c.Result {
		e.decodedResultText += r.Response.Response.Output + r.Response.Response.Error
	}
	e.OmitsZeroExitStatus = IsFinishedGeminiCommand(e.decodedResultText)
	e.ResultDisplayData = c.ResultDisplay
	yield(&e)
}

// IsFinishedGeminiCommand reports whether an answer has the form in which Gemini CLI reports a finished command. In
// this form, the exit status is mentioned only if it is not 0.
func IsFinishedGeminiCommand(answer string) bool {
	return strings.HasPrefix(strings.TrimPrefix(answer, "<untrusted_context>\n"), "Output: ")
}

// makeGeminiResultLine converts a hook's report about a call's result to a line like the lines of the transcript. The
// line does not contain a call ID, because the arguments identify the call.
func makeGeminiResultLine(r *HookReport, _ string) any {
	status, shown := r.callOutcome()
	call := map[string]any{"name": r.ToolName, "args": r.ToolInput, "status": status, "resultDisplay": shown}
	return map[string]any{"type": "gemini", "toolCalls": []any{call}}
}
