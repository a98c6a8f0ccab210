// This file reads transcripts of Codex: $CODEX_HOME/sessions/Y/M/D/rollout-*.jsonl.
//
// A line is {"timestamp","type","payload"}. The first line, session_meta, identifies the session. A sub-agent has a
// separate file, which names its parent's session. Lines of type turn_context have the directory and the model. Lines
// of type event_msg contain the person's text, commands' results and file changes. Lines of type response_item contain
// messages, reasoning, calls and outputs, as the model sees them. Most texts are in both types, in either order.
//
// Since version 0.148, events do not contain the person's text. If a message has several parts, content_item_kinds may
// report which parts the person wrote.
//
// Before September 2025, a line was only the payload, without a time, and the first line had id,
// timestamp and instructions. Turn IDs did not exist. Until May 2025, a session was a JSON document,
// {"session":{"id","timestamp"},"items":[…]}, with such payloads as its items.
//
// A fork (forked_from_id) begins with a copy of the parent session's lines. These lines either all have the time of
// the fork, or the times in the parent session.

package clientfile

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// codexLine is a line of a Codex transcript.
type codexLine struct {
	Type    string          `json:"type"`
	Time    time.Time       `json:"timestamp"`
	Payload json.RawMessage `json:"payload"`

	Session json.RawMessage   `json:"session"` // set only if the whole session is one JSON document
	Items   []json.RawMessage `json:"items"`
}

// codexItem is the payload of a transcript line. A payload may contain another object in its field "item", which is
// also read as a codexItem.
type codexItem struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	SessionID   string          `json:"session_id"`
	ForkedFrom  string          `json:"forked_from_id"`
	TurnID      string          `json:"turn_id"`
	Role        string          `json:"role"`
	WorkingDir  string          `json:"cwd"`
	Model       string          `json:"model"`
	AgentRole   string          `json:"agent_role"`
	AgentName   string          `json:"agent_nickname"`
	Source      json.RawMessage `json:"source"`
	Message     string          `json:"message"`
	Text        string          `json:"text"`
	Content     json.RawMessage `json:"content"`
	Summary     json.RawMessage `json:"summary"`
	SummaryText []string        `json:"summary_text"`
	CallID      string          `json:"call_id"`
	Name        string          `json:"name"`
	Namespace   string          `json:"namespace"`
	Arguments   string          `json:"arguments"`
	Input       string          `json:"input"`
	Action      json.RawMessage `json:"action"`
	Output      json.RawMessage `json:"output"`
	ExitCode    *int            `json:"exit_code"`
	Success     *bool           `json:"success"`
	Status      string          `json:"status"`
	Item        json.RawMessage `json:"item"`
	Changes     json.RawMessage `json:"changes"`
	Images      []string        `json:"images"`
	LocalImages []string        `json:"local_images"`
	Metadata    struct {
		Kinds []string `json:"content_item_kinds"`
	} `json:"internal_chat_message_metadata_passthrough"`
	Git struct {
		Branch string `json:"branch"`
	} `json:"git"`
}

// isCodexLine reports whether a line may come from a transcript of Codex. It accepts a line with Codex's envelope, that
// is, a JSON object with a type and a payload. It also accepts three forms from older versions without envelopes: a
// whole session in one JSON document, the first line of a transcript, and a line that stores a state.
func isCodexLine(line []byte) bool {
	var l struct {
		Type         string          `json:"type"`
		Payload      json.RawMessage `json:"payload"`
		Record       string          `json:"record_type"`
		ID           string          `json:"id"`
		Instructions json.RawMessage `json:"instructions"`
		Session      struct {
			ID string `json:"id"`
		} `json:"session"`
		Items json.RawMessage `json:"items"`
	}
	if !DecodeObject(line, &l) {
		return false
	}
	if l.Session.ID != "" && l.Items != nil {
		return true
	}
	switch l.Type {
	case "session_meta", "response_item", "turn_context", "event_msg":
		return l.Payload != nil
	case "":
		return l.Record == "state" || (l.ID != "" && l.Instructions != nil)
	}
	return false
}

// codexCall is a call whose output was not read yet.
type codexCall struct {
	isPatch      bool // The call applies a patch, directly or in a shell.
	exitStatus   *int
	hasSucceeded *bool // is nil until an event reports whether the call succeeded
}

// codexReader reads the lines of one Codex transcript. It keeps the state between two lines.
type codexReader struct {
	sessionID, workingDir, branch, model string
	agentID, agentName, agentType        string

	isStarted bool
	startTime time.Time // time of the file's first line
	// An old version of Codex wrote the transcript. In such a transcript, each message or call is a line of its own,
	// without the outer object that now contains the type and the time.
	hasUnwrappedLines bool
	isInCopiedLines   bool      // The lines are still copies from the parent session.
	lastLineTime      time.Time // time of the previous line

	promptTurnID string // ID of the last prompt's turn
	// turn ID in the last task_started line ("" if a prompt of that turn was already reported)
	turnIDForNextPrompt string
	lastTaskStartOffset int64 // offset of the last task_started line in the transcript

	unansweredCalls map[string]codexCall

	commandReporter personCommandReporter
	// The agent's texts are stored as messages, so the agent_message events that repeat them must be ignored.
	hasItemMessages bool
	// Events of the current turn contain its prompts, so messages with the same prompts are ignored.
	hasPromptEvents bool
	// last prompt that an event contained, or "" after a message has repeated it
	eventPromptWithoutMessage string
	// prompts that are not reported yet, because an event that repeats the prompt may follow
	unreportedPrompts []unreportedPrompt
	// Codex stores each text of the agent twice, in an item_completed event and in a message. The map contains a number
	// for each text in this turn: the number of events with the text, minus the number of messages with the text.
	surplusEventsByText map[string]int
	reportedThoughts    map[string]bool // reasoning that was already reported in this turn
}

// unreportedPrompt is a text that a transcript line attributes to the person, and the attachments beside the text, such
// as "[image]". It is not reported yet, because a later event may repeat the prompt.
type unreportedPrompt struct {
	Event
	files []string
}

// minGapAfterCopiedLines is the minimum time between two lines of a transcript that shows that the second line is not a
// copy. A forked session begins with copies of the parent session's lines, and the copies have almost the same time.
// The person's first prompt in a forked session always follows after at least this time.
const minGapAfterCopiedLines = 100 * time.Millisecond

func newCodexReader(path string) EventReader {
	if IsPromptList(path) {
		return newPromptListReader(path, "sessions", "archived_sessions")
	}
	return &codexReader{unansweredCalls: map[string]codexCall{}}
}

// ParseLine implements [EventReader].
func (c *codexReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l codexLine
	var p codexItem
	if !DecodeObject(line, &l) {
		return false
	}
	if l.Items != nil && l.Payload == nil {
		return c.readSessionDocument(&l, offset, yield)
	}
	c.fillMissingFields(&l, line)
	if !DecodeObject(l.Payload, &p) {
		return false
	}
	c.detectCopiedLinesEnd(l.Time)
	switch l.Type {
	case "session_meta":
		c.readSessionMeta(&p)
	case "turn_context":
		c.workingDir = cmp.Or(p.WorkingDir, c.workingDir)
		c.model = cmp.Or(p.Model, c.model)
		c.beginTurn(p.TurnID, offset, yield)
	}
	e := Event{
		Offset:     offset,
		Time:       l.Time,
		Session:    c.sessionID,
		WorkingDir: c.workingDir,
		Branch:     c.branch,
		Model:      c.model,
		AgentID:    c.agentID,
		AgentName:  c.agentName,
		AgentType:  c.agentType,
		IsCopy:     c.isInCopiedLines,
	}
	switch l.Type {
	case "compacted":
		e.Kind, e.Text = EventConversationCompacted, p.Message
		e.TurnID = c.turnIDForNextPrompt
		yield(&e)
	case "event_msg":
		return c.readEventMessage(&p, e, yield)
	case "response_item":
		c.readResponseItem(&p, e, yield)
	case "session_meta", "turn_context":
	default:
		if !codexIgnoredTypes()[l.Type] {
			e.reportUnknownPart("lines", l.Type, yield)
		}
	}
	return true
}

// fillMissingFields sets fields of l, which was decoded from the JSON text line. If l has no payload, the whole line
// becomes the payload, and fillMissingFields also sets l.Type. If l has no time, l gets the session's start time.
// Before the session has started, fillMissingFields instead stores the time of l as the session's start time.
func (c *codexReader) fillMissingFields(l *codexLine, line []byte) {
	// Old versions of Codex wrote only the message or call itself, so the whole line is the payload.
	if l.Payload == nil {
		c.hasUnwrappedLines = true
		l.Payload, l.Type = line, "response_item"
		if !c.isStarted {
			l.Type = "session_meta"
		}
	}
	if !c.isStarted {
		c.startTime = l.Time
	} else if l.Time.IsZero() {
		l.Time = c.startTime
	}
}

// codexIgnoredTypes contains the line types that do not belong to the conversation.
var codexIgnoredTypes = lazyWordSet(`
	ghost_snapshot inter_agent_communication inter_agent_communication_metadata security_risk_score
	token_usage_record world_state`)

// codexBlocks lists the types of the blocks in a message, apart from attachments.
var codexBlocks = []string{"input_text", "output_text", "text", "Text", "refusal", "skill", "mention"}

// codexStateEventTypes contains the event types that report only the client's state, or repeat texts of other lines.
var codexStateEventTypes = lazyWordSet(`
	agent_message_content_delta agent_message_delta agent_reasoning_delta agent_reasoning_raw_content
	agent_reasoning_raw_content_delta agent_reasoning_section_break apply_patch_approval_request background_event
	collab_agent_interaction_begin collab_agent_interaction_end collab_agent_spawn_begin collab_agent_spawn_end
	collab_close_begin collab_close_end collab_resume_begin collab_resume_end collab_waiting_begin
	collab_waiting_end context_compacted deprecation_notice dynamic_tool_call_request dynamic_tool_call_response
	elicitation_request entered_review_mode error exec_approval_request exec_command_begin
	exec_command_output_delta exited_review_mode get_history_entry_response guardian_assessment guardian_warning
	hook_completed hook_started image_generation_begin image_generation_end item_started
	list_custom_prompts_response list_skills_response mcp_list_tools_response mcp_startup_complete
	mcp_startup_update mcp_tool_call_begin mcp_tool_call_end model_reroute model_verification patch_apply_begin
	patch_apply_updated plan_delta plan_update raw_response_item realtime_conversation_closed
	realtime_conversation_list_voices_response realtime_conversation_realtime realtime_conversation_sdp
	realtime_conversation_started reasoning_content_delta reasoning_raw_content_delta request_permissions
	request_user_input safety_buffering session_configured shutdown_complete skills_update_available stream_error
	sub_agent_activity task_complete terminal_interaction thread_goal_updated thread_name_updated
	thread_rolled_back thread_settings_applied token_count turn_aborted turn_complete turn_diff
	turn_moderation_metadata turn_started undo_completed undo_started view_image_tool_call warning
	web_search_begin web_search_end`)

// codexTextlessItemTypes contains the types of items that are not reported. Such an item lacks text by the person or
// the agent, or the text is also in another line.
var codexTextlessItemTypes = lazyWordSet(`
	additional_tools agent_message compaction compaction_summary compaction_trigger context_compaction ghost_snapshot
	other tool_search_output
	CollabAgentToolCall ContextCompaction DynamicToolCall EnteredReviewMode ExitedReviewMode HookPrompt
	ImageGeneration ImageView McpToolCall Sleep SubAgentActivity WebSearch`)

// readSessionDocument reports the events of a session that is one JSON document. It returns false if the description of
// the session cannot be read.
func (c *codexReader) readSessionDocument(l *codexLine, offset int64, yield func(*Event)) bool {
	isRead := c.ParseLine(l.Session, offset, yield)
	for i, item := range l.Items {
		yieldRecord := wrapYieldWithRecord(recordName("items", i), yield)
		if !c.ParseLine(item, offset+int64(i), yieldRecord) {
			(&Event{Offset: offset, Session: c.sessionID}).reportUnreadRecord(yieldRecord)
		}
	}
	c.FlushEvents(yield)
	return isRead
}

// readSessionMeta reads the session ID, the directory and the sub-agent from the file's first line.
func (c *codexReader) readSessionMeta(p *codexItem) {
	if c.isStarted {
		// The session is known already. This second description of a session belongs to the parent from which the
		// session was forked.
		return
	}
	c.isStarted = true
	c.sessionID = p.ID
	c.workingDir = p.WorkingDir
	c.model = p.Model
	c.branch = p.Git.Branch
	c.isInCopiedLines = p.ForkedFrom != ""
	var source struct {
		Agent struct {
			Spawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	_ = DecodeObject(p.Source, &source) // Ignore the error: a source that is not an object names no sub-agent.
	if strings.Contains(string(p.Source), `"subagent"`) {
		c.agentName = cmp.Or(p.AgentName, "sub-agent")
	}
	if parent := cmp.Or(p.SessionID, source.Agent.Spawn.Parent); parent != "" && parent != p.ID {
		c.sessionID = parent
		c.agentID, c.agentType = p.ID, p.AgentRole
	}
}

// detectCopiedLinesEnd detects the end of the lines that a forked session copied from its parent session. A line that
// was written noticeably later than the line before it, and after the fork began, is not a copy. detectCopiedLinesEnd
// then clears isInCopiedLines and forgets the copied turns.
func (c *codexReader) detectCopiedLinesEnd(lineTime time.Time) {
	isApart := !c.lastLineTime.IsZero() && lineTime.Sub(c.lastLineTime) >= minGapAfterCopiedLines
	isLater := isApart && !lineTime.Before(c.startTime)
	if c.isInCopiedLines && isLater {
		c.isInCopiedLines = false
		c.promptTurnID, c.turnIDForNextPrompt = "", ""
		c.surplusEventsByText = nil
		c.unreportedPrompts = nil
	}
	c.lastLineTime = lineTime
}

// beginTurn begins a new turn with the ID turnID. offset is the place in the transcript at which the turn starts.
// beginTurn does nothing if turnID is "", if this turn has already begun, or if the transcript belongs to a sub-agent.
//
// The prompts that are not reported yet belong to the turn before, so beginTurn first reports or drops them (see
// [codexReader.flushUnreportedPrompts]). It also resets hasPromptEvents, because another version of Codex, which stores
// prompts in another way, may have written the new turn.
func (c *codexReader) beginTurn(turnID string, offset int64, yield func(*Event)) {
	if turnID == "" || c.agentID != "" {
		return
	}
	if turnID == c.promptTurnID || turnID == c.turnIDForNextPrompt {
		return
	}
	c.flushUnreportedPrompts(yield)
	c.hasPromptEvents = false
	c.turnIDForNextPrompt, c.lastTaskStartOffset = turnID, offset
}

// readEventMessage reads a line of type event_msg. It returns false if the line contains an item that is not an
// object.
func (c *codexReader) readEventMessage(p *codexItem, e Event, yield func(*Event)) bool {
	switch p.Type {
	case "task_started":
		c.beginTurn(p.TurnID, e.Offset, yield)
	case "user_message":
		c.reportPromptFromEvent(
			p.TurnID,
			p.Message,
			slices.Repeat([]string{"[image]"}, len(p.Images)+len(p.LocalImages)),
			e,
			yield,
		)
	case "agent_message":
		if !c.hasItemMessages {
			c.reportAgentText(&e, p.Message, 0, yield)
		}
	case "agent_reasoning":
		c.reportThought(&e, p.Text, yield)
	case "exec_command_end":
		c.recordCallEnd(p.CallID, p.ExitCode, p.Success == nil || *p.Success)
	case "patch_apply_end":
		c.reportFileChanges(p, p.CallID, p.Success == nil || *p.Success, e, yield)
	case "item_completed":
		return c.readEventItem(p, e, yield)
	default:
		if !codexStateEventTypes()[p.Type] {
			e.reportUnknownPart("events", p.Type, yield)
		}
	}
	return true
}

// readEventItem reads the item in an event. It returns false if the item is not a JSON object.
func (c *codexReader) readEventItem(p *codexItem, e Event, yield func(*Event)) bool {
	var item codexItem
	if !DecodeObject(p.Item, &item) {
		return false
	}
	e.ID = item.ID
	switch item.Type {
	case "UserMessage":
		e.ID = ""
		c.reportPromptFromEvent(p.TurnID, ContentText(item.Content, "text"), attachmentNames(item.Content), e, yield)
		e.reportUnknownBlocks(item.Content, yield, codexBlocks...)
	case "AgentMessage":
		e.reportUnknownBlocks(item.Content, yield, codexBlocks...)
		c.reportAgentText(&e, ContentText(item.Content, "text", "Text"), 1, yield)
	case "Reasoning":
		for _, t := range item.SummaryText {
			c.reportThought(&e, t, yield)
		}
	case "CommandExecution":
		c.recordCallEnd(item.ID, item.ExitCode, item.Status == "completed")
	case "FileChange":
		c.reportFileChanges(&item, item.ID, item.Status == "completed", e, yield)
	case "Plan":
		c.reportPlan(&e, item.Text, yield)
	default:
		if !codexTextlessItemTypes()[item.Type] {
			e.reportUnknownPart("items", item.Type, yield)
		}
	}
	return true
}

// reportPlan reports the agent's plan as a text, unless a message in the turn already contained the plan.
func (c *codexReader) reportPlan(e *Event, plan string, yield func(*Event)) {
	plan = strings.TrimSpace(plan)
	for said := range c.surplusEventsByText {
		if strings.Contains(said, plan) {
			return
		}
	}
	c.reportAgentText(e, plan, 1, yield)
}

// readResponseItem reads a line of type response_item.
func (c *codexReader) readResponseItem(p *codexItem, e Event, yield func(*Event)) {
	e.ID = p.ID
	switch p.Type {
	case "message":
		c.hasItemMessages = true
		switch p.Role {
		case "assistant":
			e.reportUnknownBlocks(p.Content, yield, codexBlocks...)
			c.reportAgentText(&e, ContentText(p.Content, "output_text"), -1, yield)
		case "user":
			e.ID = ""
			c.readUserText(p, e, yield)
		}
	case "reasoning":
		for _, t := range contentTexts(p.Summary, "summary_text") {
			c.reportThought(&e, t, yield)
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		c.reportCall(p, e, yield)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		e.ID = p.CallID
		c.reportCallResult(p.Output, e, yield)
	default:
		// This is Codex's own state without a type, such as {"record_type":"state"}.
		isState := c.hasUnwrappedLines && p.Type == ""
		switch {
		case isState, codexTextlessItemTypes()[p.Type]:
		case strings.HasSuffix(p.Type, "_call"):
			c.reportServerSideCall(p, e, yield)
		default:
			e.reportUnknownPart("items", p.Type, yield)
		}
	}
}

// reportServerSideCall reports a call that the model's server ran, such as web_search_call, and its outcome, which the
// same item contains.
func (c *codexReader) reportServerSideCall(p *codexItem, e Event, yield func(*Event)) {
	c.flushUnreportedPrompts(yield)
	e.Kind, e.ID = EventToolCall, cmp.Or(p.ID, p.CallID, p.Type+"@"+strconv.FormatInt(e.Offset, 10))
	e.ToolName, e.Args = p.Type, p.Action
	yield(&e)
	e.Kind = EventToolResult
	e.ToolName, e.Args = "", nil
	e.HasFailed = p.Status == "failed"
	yield(&e)
}

// codexWorkingDirPattern matches the working directory in the message with which Codex describes the environment at
// the start of a session.
var codexWorkingDirPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*<environment_context>[\s\S]*?<cwd>([^<]{1,1000})</cwd>`)
})

// imageTagPattern matches the tags that Codex inserts before and after an image.
var imageTagPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^</?image\b[^>\n]*>\n?`) })

// codexInsertedTextPattern matches the beginning of a text that Codex itself wrote, although the transcript attributes
// the text to the person. Such a text begins with "# AGENTS.md", or with a tag whose name contains an underscore or is
// skill, skills, permissions or INSTRUCTIONS.
var codexInsertedTextPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:<(?:[a-z]+_[a-z_]+|skills?|permissions|INSTRUCTIONS)\b|# AGENTS\.md)`)
})

// isWrittenByPerson reports whether the person wrote a text.
func (p *codexItem) isWrittenByPerson(text string) bool {
	if kinds := p.Metadata.Kinds; len(kinds) > 0 {
		return slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(k, "user.") })
	}
	return !codexInsertedTextPattern().MatchString(strings.TrimSpace(text))
}

// readUserText reads a message with the role "user", which the person or a program has written. A shell command that
// the person ran, and the command's output, are reported at once. Other texts by programs are ignored.
//
// A prompt is only added to unreportedPrompts, because an event with the same prompt may follow, which is reported
// instead. In an old transcript (hasUnwrappedLines), there are no such events, and the prompt is reported at once.
func (c *codexReader) readUserText(p *codexItem, e Event, yield func(*Event)) {
	e.reportUnknownBlocks(p.Content, yield, codexBlocks...)
	e.Text = ContentText(p.Content, "input_text", "text")
	if c.workingDir == "" || c.hasUnwrappedLines {
		if dir := codexWorkingDirPattern().FindStringSubmatch(e.Text); dir != nil {
			c.workingDir = dir[1]
			e.WorkingDir = c.workingDir
		}
	}
	if isShellText(e.Text) {
		c.flushUnreportedPrompts(yield)
	}
	if c.commandReporter.reportShellText(e, e.Text, yield) {
		return
	}
	text := unreportedPrompt{e, attachmentNames(p.Content)}
	text.Text = strings.TrimSpace(imageTagPattern().ReplaceAllString(e.Text, ""))
	text.TurnID = p.TurnID
	if text.Text == "" {
		text.Text, text.files = strings.Join(text.files, " "), nil
	}
	switch {
	case text.Text == "" || !p.isWrittenByPerson(text.Text):
	case c.hasUnwrappedLines:
		c.reportPrompt(text, yield)
	default:
		c.unreportedPrompts = append(c.unreportedPrompts, text)
	}
}

// reportPromptFromEvent reports a prompt that an event contains. The files are the attachments beside the text.
func (c *codexReader) reportPromptFromEvent(turnID, text string, files []string, e Event, yield func(*Event)) {
	if text == "" {
		text, files = strings.Join(files, " "), nil
	}
	c.eventPromptWithoutMessage = text
	c.hasPromptEvents = true
	for _, h := range c.unreportedPrompts {
		if strings.TrimSpace(h.Text) == strings.TrimSpace(text) {
			// Two lines contain this prompt. Use the first line's time, because an earlier import may have seen only
			// the first line and reported the prompt with its time.
			e.Time = h.Time
		}
	}
	// This event contains the prompt. Drop the texts that were kept back, because they may repeat the prompt.
	c.flushUnreportedPrompts(yield)
	e.TurnID, e.Text = turnID, text
	c.reportPrompt(unreportedPrompt{e, files}, yield)
}

// flushUnreportedPrompts reports or drops the prompts in unreportedPrompts, and empties this list. The list contains
// prompts from messages. They were not reported at once, because Codex may store the same prompt as an event as well.
// If hasPromptEvents is true, the events contain all prompts of the turn, and the listed prompts are dropped. Otherwise
// each listed prompt is reported, unless it repeats the prompt of the last event (eventPromptWithoutMessage).
func (c *codexReader) flushUnreportedPrompts(yield func(*Event)) {
	held := c.unreportedPrompts
	c.unreportedPrompts = nil
	for _, e := range held {
		isRepeat := strings.TrimSpace(e.Text) == strings.TrimSpace(c.eventPromptWithoutMessage)
		if isRepeat {
			c.eventPromptWithoutMessage = ""
		}
		if !isRepeat && !c.hasPromptEvents {
			c.reportPrompt(e, yield)
		}
	}
}

// FlushEvents implements [EventFlusher].
func (c *codexReader) FlushEvents(yield func(*Event)) { c.flushUnreportedPrompts(yield) }

// reportPrompt passes a prompt to yield as an event. A prompt without a turn ID gets the turn ID of the last task that
// began. If the prompt is the first one of this task, the event's offset is the offset of the line with which the task
// began.
func (c *codexReader) reportPrompt(text unreportedPrompt, yield func(*Event)) {
	e := text.Event
	e.reportNonTextParts(nonTextFilesText, len(text.files), yield)
	e.Kind = EventPrompt
	e.TurnID = cmp.Or(e.TurnID, c.turnIDForNextPrompt)
	if e.TurnID != "" && e.TurnID == c.turnIDForNextPrompt {
		e.Offset = c.lastTaskStartOffset
		c.turnIDForNextPrompt = ""
	}
	if e.TurnID == "" || e.TurnID != c.promptTurnID {
		c.surplusEventsByText = nil
	}
	c.promptTurnID = e.TurnID
	c.reportedThoughts = nil
	yield(&e)
}

// reportAgentText reports a text by the agent. Newer versions of Codex write each text twice, as an event and as a
// message, in either order. The second report of a text is skipped. For this purpose, surplusDelta must be 1 for an
// event, -1 for a message, and 0 for a text that is written only once.
func (c *codexReader) reportAgentText(e *Event, text string, surplusDelta int, yield func(*Event)) {
	c.flushUnreportedPrompts(yield)
	if c.surplusEventsByText == nil {
		c.surplusEventsByText = map[string]int{}
	}
	isSecond := c.surplusEventsByText[text]*surplusDelta < 0
	c.surplusEventsByText[text] += surplusDelta
	if !isSecond && text != "" {
		e.Kind, e.Text = EventText, text
		yield(e)
	}
}

// reportThought reports the agent's reasoning, unless the same reasoning was already reported in this turn.
func (c *codexReader) reportThought(e *Event, text string, yield func(*Event)) {
	text = strings.TrimSpace(text)
	if text == "" || c.reportedThoughts[text] {
		return
	}
	if c.reportedThoughts == nil {
		c.reportedThoughts = map[string]bool{}
	}
	c.reportedThoughts[text] = true
	e.Kind, e.Text = EventAgentThought, text
	yield(e)
}

// codexShellTools contains the names of the tools that run a command.
var codexShellTools = map[string]bool{"shell": true, "exec_command": true, "local_shell": true, "shell_command": true,
	"container.exec": true}

// reportCall passes an EventToolCall for the tool call p to the function yield. If the call runs a shell command, the
// event's ToolName is "Bash", because the client's hooks report such calls under this name.
func (c *codexReader) reportCall(p *codexItem, e Event, yield func(*Event)) {
	c.flushUnreportedPrompts(yield)
	e.Kind, e.ID = EventToolCall, p.CallID
	e.ToolName = p.Name
	switch {
	case p.Type == "local_shell_call":
		e.ToolName, e.Args = "Bash", p.Action
	case p.Type == "function_call" && strings.HasPrefix(strings.TrimSpace(p.Arguments), "{"):
		e.Args = json.RawMessage(p.Arguments)
	default:
		// Ignore the error: encoding a map of strings as JSON never fails.
		e.Args, _ = json.Marshal(map[string]string{"input": p.Input + p.Arguments})
	}
	if codexShellTools[p.Name] {
		e.ToolName = "Bash"
	} else if p.Namespace != "" && p.Type == "function_call" {
		e.ToolName = p.Namespace + "__" + p.Name
	}
	isPatch := e.ToolName == "apply_patch" ||
		(e.ToolName == "Bash" && strings.Contains(string(e.Args), "*** Begin Patch"))
	c.unansweredCalls[p.CallID] = codexCall{isPatch: isPatch}
	yield(&e)
}

// recordCallEnd records whether a call succeeded and with which exit status. The call's output follows in a later
// line.
func (c *codexReader) recordCallEnd(callID string, exitStatus *int, hasSucceeded bool) {
	if call, ok := c.unansweredCalls[callID]; ok {
		call.exitStatus, call.hasSucceeded = exitStatus, &hasSucceeded
		c.unansweredCalls[callID] = call
	}
}

// reportFileChanges reports that the call with the ID callID changed the files in p.Changes, or tried to change them.
// It does not need the event of the call itself, because the transcript may lack this event. The event is missing if
// the model wrote a program that applied the changes.
func (c *codexReader) reportFileChanges(p *codexItem, callID string, hasSucceeded bool, e Event, yield func(*Event)) {
	c.recordCallEnd(callID, nil, hasSucceeded)
	e.Kind, e.ID = EventFileEdit, callID
	e.HasFailed = !hasSucceeded
	e.ResultDisplayData = p.Changes
	yield(&e)
}

// reportCallResult reports a call's output, together with the exit status that recordCallEnd recorded. HasFailed is set
// only for a call that is not supported, and for a patch that failed. Whether a patch failed is known from
// recordCallEnd, or else is read from the output.
func (c *codexReader) reportCallResult(output json.RawMessage, e Event, yield func(*Event)) {
	call := c.unansweredCalls[e.ID]
	delete(c.unansweredCalls, e.ID)
	e.Kind = EventToolResult
	e.ExitStatus = call.exitStatus
	e.decodedResultText = outputText(output)
	e.HasFailed = strings.HasPrefix(e.decodedResultText, "unsupported call")
	switch {
	case call.hasSucceeded != nil:
		e.HasFailed = e.HasFailed || (call.isPatch && !*call.hasSucceeded)
	case call.isPatch:
		e.HasFailed = !isPatchSuccess(output)
	}
	yield(&e)
}

// outputText returns the text of a call's output. The output is a string, an array of text blocks, or an object that
// contains a string or such an array.
func outputText(output json.RawMessage) string {
	var o struct {
		Content json.RawMessage `json:"content"`
		Items   json.RawMessage `json:"content_items"`
	}
	if DecodeObject(output, &o) {
		return cmp.Or(ContentText(o.Content), ContentText(o.Items))
	}
	return ContentText(output)
}

// isPatchSuccess reports whether the output of the tool apply_patch says that the patch was applied. The output has one
// of these forms: an object with the field "success", a text, a text that contains JSON with an exit status, or an
// array of text blocks. If a text contains no exit status, isPatchSuccess searches the text for words such as "failed",
// and returns true if it finds no such word.
func isPatchSuccess(output json.RawMessage) bool {
	var o struct {
		Success *bool `json:"success"`
	}
	_ = DecodeObject(output, &o) // Ignore the error, because only a JSON object has a field "success".
	if o.Success != nil {
		return *o.Success
	}
	text, exit := ParseOldCodexOutput(outputText(output))
	if exit == nil {
		exit = ExitStatus(text)
	}
	if exit != nil {
		return *exit == 0
	}
	if strings.Contains(text, "Success. Updated") {
		return true
	}
	text = strings.ToLower(text)
	for _, sign := range []string{"failed", "error", "rejected", "aborted", "denied", "invalid"} {
		if strings.Contains(text, sign) {
			return false
		}
	}
	return true
}

// makeCodexResultLine converts a hook's report about a call's result to the line that Codex will write into the
// transcript. The callID identifies the call in the transcript.
func makeCodexResultLine(r *HookReport, callID string) any {
	return map[string]any{
		"type":    "response_item",
		"payload": map[string]any{"type": "custom_tool_call_output", "call_id": callID, "output": r.ToolResponse},
	}
}
