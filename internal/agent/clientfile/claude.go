// This file reads transcripts of Claude Code: a session's transcript is ~/.claude/projects/*/*.jsonl, and a sub-agent's
// transcript is SESSION/subagents/agent-ID.jsonl.
//
// A line is a block of a message: {"type":"assistant"|"user","uuid","parentUuid","sessionId","cwd",
// "gitBranch","timestamp","isSidechain","agentId","message":{"role","model","content"}}. An assistant's content
// consists of blocks with the types text, thinking and tool_use. A user's content is a text, or blocks of the types
// text and tool_result. User lines have a promptId, which hooks report as well. A line with the result of a tool also
// contains the result in toolUseResult, in the form that hooks report. A compaction is a user line with
// isCompactSummary. A prompt that the person typed while the agent worked is a line of type attachment.
//
// The parents make the lines a tree, because a conversation can be rewound. Older versions wrote the conversations of
// sub-agents into the same file.
//
// A forked conversation continues in a new file, which begins with a copy of the old file. The copied lines differ only
// in the session, and all have the promptId of the first new prompt. Newer versions name the line's origin in
// forkedFrom. In other files, a line is recognized as a copy if it is older than the first line of the file. After the
// first line that is not older, no line is recognized as a copy by its time. A later line may be older only because the
// clock was set back. Copies by other versions are recognized by turnPosition, because a later prompt with the same
// promptId has a different position.

package clientfile

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// claudeLine is a line of a Claude Code transcript.
type claudeLine struct {
	Type              string `json:"type"`
	UUID              string `json:"uuid"`
	ParentUUID        string `json:"parentUuid"`
	LogicalParentUUID string `json:"logicalParentUuid"` // UUID of the previous line, even across a compaction
	SessionID         string `json:"sessionId"`
	WorkingDir        string `json:"cwd"`
	Branch            string `json:"gitBranch"`
	PromptID          string `json:"promptId"`
	PromptSource      string `json:"promptSource"`
	Origin            struct {
		Kind string `json:"kind"` // "human", or the name of the program that wrote the text in the person's name
	} `json:"origin"`
	// names the original line if this line was copied from another session
	ForkedFrom       json.RawMessage `json:"forkedFrom"`
	AgentID          string          `json:"agentId"`
	AgentType        string          `json:"attributionAgent"`
	Time             time.Time       `json:"timestamp"`
	IsSidechain      bool            `json:"isSidechain"`
	IsMeta           bool            `json:"isMeta"`
	IsCompactSummary bool            `json:"isCompactSummary"`
	Message          struct {
		Model   string          `json:"model"`
		Content json.RawMessage `json:"content"`
	} `json:"message"`
	ToolUseResult json.RawMessage `json:"toolUseResult"`
	TurnPosition  json.RawMessage `json:"turnPosition"`
	Attachment    struct {
		Type   string          `json:"type"`
		Prompt json.RawMessage `json:"prompt"`
		Mode   string          `json:"commandMode"`
	} `json:"attachment"`
}

// claudeBlock is a part of a message's content, such as a text, a call or a call's result.
type claudeBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	Thinking  string          `json:"thinking"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	ToolUseID string          `json:"tool_use_id"`
	Content   json.RawMessage `json:"content"`
	IsError   bool            `json:"is_error"`
}

// isClaudeLine recognizes lines that only Claude Code writes. Such a line is a message with content, or the end of a
// summary. In similar clients, messages have parts instead of content.
func isClaudeLine(line []byte) bool {
	var l struct {
		Type    string          `json:"type"`
		Session string          `json:"sessionId"`
		Parent  json.RawMessage `json:"parentUuid"`
		Leaf    string          `json:"leafUuid"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	return DecodeObject(line, &l) && l.Type != "" &&
		(l.Leaf != "" || ((l.Session != "" || l.Parent != nil) && l.Message.Content != nil))
}

// claudeReader reads the lines of one Claude Code transcript. It keeps the state between two lines.
type claudeReader struct {
	agentType     string // type of the sub-agent that wrote the file ("" for the main agent)
	model         string
	firstLineTime time.Time // time of the first line that contains a time
	// The file of a forked session begins with lines copied from its parent session. The reader is past these lines.
	isPastCopiedLines bool

	mainTurnID     string // ID of the main agent's current turn
	promptPosition string // position of the main agent's current prompt
	agentTurnID    string // ID of the sub-agents' current turn

	// For each line, the UUID of the nearest line that contained something to report, such as a prompt or a call. The
	// search for the nearest line begins at the line itself and then goes from parent to parent. The keys are the UUIDs
	// of the lines.
	lastEventUUIDs map[string]string

	commandReporter personCommandReporter
}

// copiedLineTolerance is a tolerance for recognizing copied lines. A forked session begins with lines copied from
// another session, which are older than the file's first line. A line counts as a copy only if it is older than the
// first line by more than this time, because the client does not write all lines in the order of their times.
const copiedLineTolerance = time.Second

func newClaudeReader(path string) EventReader {
	if IsPromptList(path) {
		return newPromptListReader(path, "projects")
	}
	return &claudeReader{agentType: claudeAgentType(path), lastEventUUIDs: map[string]string{}}
}

// claudeAgentType returns the type of the sub-agent that wrote a transcript. Claude Code stores the type in a file
// next to the transcript. The result is "" for other transcripts.
func claudeAgentType(path string) string {
	name, ok := strings.CutSuffix(path, ".jsonl")
	if !ok || !strings.HasPrefix(filepath.Base(name), "agent-") {
		return ""
	}
	in, err := vfs.OpenRegular(name + ".meta.json")
	if err != nil {
		return ""
	}
	defer in.Close()
	var meta struct {
		Type string `json:"agentType"`
	}
	// Ignore the error: without a readable file, the type stays empty.
	_ = json.NewDecoder(io.LimitReader(in, 1<<16)).Decode(&meta)
	return meta.Type
}

// ParseLine implements [EventReader].
func (c *claudeReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l claudeLine
	if !DecodeObject(line, &l) {
		return false
	}
	if c.firstLineTime.IsZero() {
		c.firstLineTime = l.Time
	}
	parent := c.findAncestorEventUUID(&l)
	switch {
	case !l.isMessage():
		if !claudeIgnoredTypes()[l.Type] {
			(&Event{Offset: offset, Time: l.Time, Session: l.SessionID}).reportUnknownPart("lines", l.Type, yield)
		}
		return true
	case l.isCopiedFromOtherSession():
		return true
	}
	if !c.isPastCopiedLines && !l.Time.Before(c.firstLineTime.Add(-copiedLineTolerance)) {
		c.isPastCopiedLines = true
		c.model = "" // The lines that the fork copied from another session may name another model.
	}
	e := Event{Offset: offset, Time: l.Time, ID: l.UUID, NodeID: l.UUID, ParentNodeID: parent, Session: l.SessionID,
		WorkingDir: l.WorkingDir, Branch: l.Branch, Model: c.model, IsCopy: !c.isPastCopiedLines}
	if l.IsSidechain || c.agentType != "" {
		e.AgentID = cmp.Or(l.AgentID, "sub-agent")
		e.AgentType = cmp.Or(c.agentType, l.AgentType)
	}
	report := func(e *Event) {
		if l.UUID != "" {
			c.lastEventUUIDs[l.UUID] = l.UUID
		}
		yield(e)
	}
	switch l.Type {
	case "attachment":
		c.reportQueuedPrompt(&l, e, report)
	case "assistant":
		c.reportAgentLine(&l, e, report)
	default:
		c.reportUserLine(&l, e, report)
	}
	return true
}

// isMessage reports whether the line is a message, or a prompt that the person typed while the agent worked.
func (l *claudeLine) isMessage() bool {
	isQueued := l.Type == "attachment" && l.Attachment.Type == "queued_command"
	return l.Type == "assistant" || l.Type == "user" || isQueued
}

// claudeIgnoredTypes contains the line types that are not part of the conversation. Such lines contain the client's
// state, texts that the client inserted, or copies of texts in other lines.
var claudeIgnoredTypes = lazyWordSet(`
	agent-color agent-name agent-setting ai-title artifact-autoreact-ledger artifact-comment-monitor atis-latch
	attachment attribution-snapshot bridge-session content-replacement continued-in cost-state custom-title
	ended-by-model file-history-delta file-history-snapshot fork-context-ref frame-link history-suppression
	isolation-latch last-prompt marble-origami-commit marble-origami-reset marble-origami-snapshot mode observer-ref
	permission-mode pr-link progress queue-operation relocated result session-title speculation-accept started summary
	system tag task-summary worktree-state`)

// findAncestorEventUUID returns the UUID of the nearest line above the line l that contained something to report, such
// as a prompt or a call. The lines above l are its parent, the parent of its parent, and so on. The result is "" if
// there is no such line.
//
// The parent of l was read before l. Therefore the result is the UUID that lastEventUUIDs contains for the parent
// (l.ParentUUID or, if that line is unknown, l.LogicalParentUUID). findAncestorEventUUID also stores the result in
// lastEventUUIDs for l itself, so that the lines below l can find it.
func (c *claudeReader) findAncestorEventUUID(l *claudeLine) string {
	parent, isKnown := c.lastEventUUIDs[l.ParentUUID]
	if !isKnown {
		parent = c.lastEventUUIDs[l.LogicalParentUUID]
	}
	if l.UUID != "" {
		c.lastEventUUIDs[l.UUID] = parent
	}
	return parent
}

// reportAgentLine reports the text, the reasoning and the calls in a line of the agent.
func (c *claudeReader) reportAgentLine(l *claudeLine, e Event, yield func(*Event)) {
	if l.Message.Model == "<synthetic>" { // The client wrote the text, for example an error.
		return
	}
	c.model = l.Message.Model
	e.Model = c.model
	if e.AgentID != "" {
		e.TurnID = c.agentTurnID
	}
	var blocks []claudeBlock
	if !decodeArray(l.Message.Content, &blocks) {
		e.Kind, e.Text = EventText, ContentText(l.Message.Content)
		if e.Text != "" {
			yield(&e)
		}
		return
	}
	for i, b := range blocks {
		e.ID = l.UUID
		if i > 0 && e.ID != "" {
			e.ID += "." + strconv.Itoa(i)
		}
		switch {
		case b.Type == "thinking":
			e.Kind, e.Text = EventAgentThought, b.Thinking
			yield(&e)
		case isCallType(b.Type):
			call := e
			call.Kind, call.ID = EventToolCall, b.ID
			call.Text = ""
			call.ToolName, call.Args = b.Name, b.Input
			yield(&call)
		// The API's server ran the tool, not the client, so the agent's message contains the result.
		case isResultType(b.Type):
			b.reportCallResult(e, yield)
		case b.Text != "": // This part of the message is a text, or has an unknown type and contains a text.
			e.Kind, e.Text = EventText, b.Text
			yield(&e)
		case !claudeTextlessBlockTypes()[b.Type]:
			e.reportUnknownPart("blocks", b.Type, yield)
		}
	}
}

// claudeTextlessBlockTypes contains the types of blocks that are ignored if their field Text is empty, because they
// contain no other text by the person or the agent.
var claudeTextlessBlockTypes = lazyWordSet("text redacted_thinking fallback connector_text container_upload")

// isCallType reports whether a block of this type is a call: tool_use, server_tool_use or mcp_tool_use.
func isCallType(blockType string) bool { return strings.HasSuffix(blockType, "tool_use") }

// isResultType reports whether a block of this type contains a call's result, as tool_result and web_search_tool_result
// do.
func isResultType(blockType string) bool { return strings.HasSuffix(blockType, "tool_result") }

// maxSearchedResultBytes is how many bytes at the start of a result are searched for the note about a background
// command.
const maxSearchedResultBytes = 300

// tellsOfBackgroundRun reports whether a result says that the command continues in the background. Such a result is
// not the command's outcome.
func (b *claudeBlock) tellsOfBackgroundRun() bool {
	const sign = "Command running in background"
	return bytes.Contains(b.Content[:min(len(b.Content), maxSearchedResultBytes)], []byte(sign)) &&
		strings.HasPrefix(ContentText(b.Content, "text"), sign)
}

// reportCallResult reports a call's result as an event.
func (b *claudeBlock) reportCallResult(e Event, yield func(*Event)) {
	e.Kind, e.ID = EventToolResult, b.ToolUseID
	e.Text = ""
	e.HasFailed = b.IsError
	e.resultContent = b.Content
	e.OmitsZeroExitStatus = !b.tellsOfBackgroundRun()
	yield(&e)
}

// reportUserLine reports the events in a user line: results of calls, a compaction, or a text.
func (c *claudeReader) reportUserLine(l *claudeLine, e Event, yield func(*Event)) {
	turn := l.PromptID
	if e.AgentID != "" {
		c.agentTurnID = cmp.Or(turn, c.agentTurnID)
		e.TurnID = c.agentTurnID
	}
	if l.IsCompactSummary {
		e.Kind, e.TurnID = EventConversationCompacted, cmp.Or(turn, e.TurnID)
		e.Text = ContentText(l.Message.Content)
		yield(&e)
		return
	}
	var blocks []claudeBlock
	decodeArray(l.Message.Content, &blocks)
	hasResults := l.reportCallResults(blocks, e, yield)
	if hasResults && e.AgentID != "" {
		// Only programs write to a sub-agent while it works, so a text beside the sub-agent's tool results is not a
		// prompt.
		return
	}
	if l.isWrittenByProgram() {
		return
	}
	e.Text = ContentText(l.Message.Content, "text")
	if c.commandReporter.reportShellText(e, e.Text, yield) {
		return
	}
	reportAttachedFiles(blocks, e, yield)
	e.Kind = EventPrompt
	if hasResults {
		c.reportTextWithToolResults(&e, l, blocks, yield)
		return
	}
	e.Text = cmp.Or(e.Text, attachmentText(l.Message.Content))
	if e.Text == "" {
		return
	}
	e.TurnID = cmp.Or(turn, l.UUID)
	e.TurnPosition = string(l.TurnPosition)
	if e.AgentID == "" && ExtractPromptText(e.Text) != "" {
		c.mainTurnID, c.promptPosition = e.TurnID, e.TurnPosition
	}
	yield(&e)
}

// reportAttachedFiles reports the images and files beside a person's text, and the blocks whose types are unknown. If
// e.Text is empty, it does not report the images and files, because the caller then uses their names as the text of the
// prompt.
func reportAttachedFiles(blocks []claudeBlock, e Event, yield func(*Event)) {
	for _, b := range blocks {
		switch {
		case b.Type == "image", b.Type == "document":
			if e.Text != "" {
				e.reportNonTextParts(nonTextFilesText, 1, yield)
			}
		case b.Text != "", isResultType(b.Type), claudeTextlessBlockTypes()[b.Type]:
		default:
			e.reportUnknownPart("blocks", b.Type, yield)
		}
	}
}

// refusalPrefix precedes the person's reason in the result of a refused call.
const refusalPrefix = "To tell you how to proceed, the user said:"

// reportTextWithToolResults reports the person's text in a line that contains results of tool calls. This is a text
// after the results, or the person's reason for refusing a call. It belongs to the current turn and does not begin a
// new one.
func (c *claudeReader) reportTextWithToolResults(e *Event, l *claudeLine, blocks []claudeBlock, yield func(*Event)) {
	var texts []string
	if e.Text != "" {
		texts = append(texts, e.Text)
	}
	for _, b := range blocks {
		if _, reason, ok := strings.Cut(ContentText(b.Content, "text"), refusalPrefix); ok && b.IsError {
			texts = append(texts, strings.TrimSpace(reason))
		}
	}
	e.TurnID = cmp.Or(c.mainTurnID, l.PromptID, l.UUID)
	e.TurnPosition = c.promptPosition
	for _, e.Text = range texts {
		if ExtractPromptText(e.Text) != "" {
			yield(e)
		}
	}
}

// isCopiedFromOtherSession reports whether the line was copied from another session. It returns false for all lines of
// older Claude versions, because these versions do not mark copied lines.
func (l *claudeLine) isCopiedFromOtherSession() bool {
	return len(l.ForkedFrom) > 0 && string(l.ForkedFrom) != "null"
}

// isWrittenByProgram reports whether a program wrote the line's text in the person's name.
func (l *claudeLine) isWrittenByProgram() bool {
	isByPerson := l.Origin.Kind == "" || l.Origin.Kind == "human"
	return l.IsMeta || l.PromptSource == "system" || !isByPerson
}

// reportQueuedPrompt reports a prompt that the person typed while the agent worked. If the line names no turn, the
// prompt belongs to the current turn.
func (c *claudeReader) reportQueuedPrompt(l *claudeLine, e Event, yield func(*Event)) {
	isPrompt := l.Attachment.Mode == "" || l.Attachment.Mode == "prompt"
	if !isPrompt || l.isWrittenByProgram() {
		return
	}
	var blocks []claudeBlock
	decodeArray(l.Attachment.Prompt, &blocks)
	e.Text = ContentText(l.Attachment.Prompt, "text")
	reportAttachedFiles(blocks, e, yield)
	e.Kind, e.Text = EventPrompt, cmp.Or(e.Text, attachmentText(l.Attachment.Prompt))
	e.TurnID = cmp.Or(l.PromptID, c.mainTurnID, l.UUID)
	e.TurnPosition = c.promptPosition
	if e.Text != "" {
		yield(&e)
	}
}

// reportCallResults reports the call results in a line. It returns false if the line contains no results.
func (l *claudeLine) reportCallResults(blocks []claudeBlock, e Event, yield func(*Event)) bool {
	count := 0
	for i := range blocks {
		if isResultType(blocks[i].Type) {
			count++
		}
	}
	for i := range blocks {
		if !isResultType(blocks[i].Type) {
			continue
		}
		result := e
		if count == 1 && bytes.HasPrefix(l.ToolUseResult, []byte("{")) {
			result.ResultDisplayData = l.ToolUseResult
		}
		blocks[i].reportCallResult(result, yield)
	}
	return count > 0
}

// makeClaudeResultLine converts a hook's report about a call's result to the line that Claude Code will write into the
// transcript. The callID identifies the call in the transcript.
func makeClaudeResultLine(r *HookReport, callID string) any {
	result := map[string]any{"type": "tool_result", "tool_use_id": callID, "content": ""}
	return map[string]any{
		"type":          "user",
		"sessionId":     r.SessionID,
		"isSidechain":   r.AgentID != "",
		"agentId":       r.AgentID,
		"toolUseResult": r.ToolResponse,
		"message":       map[string]any{"content": []any{result}},
	}
}
