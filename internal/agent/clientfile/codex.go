// This file reads transcripts of Codex: $CODEX_HOME/sessions/Y/M/D/rollout-*.jsonl.
//
// A line is {"timestamp","type","payload"}. The first line, session_meta, identifies the session. A
// sub-agent has a separate file, which names its parent's session. Lines of type turn_context have the
// directory and the model. Lines of type event_msg contain the person's text, commands' results and
// the changes of files. Lines of type response_item contain messages, reasoning, calls and their
// outputs, as the model sees them. Most texts are in both types, in either order.
//
// Since version 0.148, there are no events with the person's text. If a message has several parts, content_item_kinds
// may report which parts the person wrote.
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

// codexLine is a line of Codex.
type codexLine struct {
	Type    string          `json:"type"`
	Time    time.Time       `json:"timestamp"`
	Payload json.RawMessage `json:"payload"`

	Session json.RawMessage   `json:"session"` // only in a document
	Items   []json.RawMessage `json:"items"`
}

// codexItem is the payload of a line, or the item in the payload.
type codexItem struct {
	Type        string          `json:"type"`
	ID          string          `json:"id"`
	Session     string          `json:"session_id"`
	Forked      string          `json:"forked_from_id"`
	Turn        string          `json:"turn_id"`
	Role        string          `json:"role"`
	Dir         string          `json:"cwd"`
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
	Exit        *int            `json:"exit_code"`
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

// isCodex recognizes the envelope, or in old files the first line.
func isCodex(line []byte) bool {
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
	if !Decode(line, &l) {
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

// codexCall is a call without an output.
type codexCall struct {
	isPatch bool // the call applies a patch, directly or in a shell
	exit    *int
	success *bool // nil if no event reported how the call ended
}

// codex is the state of reading a transcript.
type codex struct {
	session, dir, branch, model   string
	agentID, agentName, agentType string

	isStarted bool
	born      time.Time // time of the first line
	isBare    bool      // lines are payloads without a type
	isCopied  bool      // lines are copied from the fork's parent
	last      time.Time // time of the previous line

	turn   string // turn of the last prompt
	task   string // turn of the last task_started that no prompt has used yet
	taskAt int64  // offset of its line

	calls map[string]codexCall

	shell      personShell
	hasItems   bool            // the file contains messages as items
	hasPrompts bool            // the turn contains events with prompts
	asked      string          // prompt in an event, which an item may repeat ("" if an item did)
	held       []heldText      // texts in the person's name, which an event may repeat
	said       map[string]int  // items minus messages in this turn, by the agent's text
	thoughts   map[string]bool // reasoning in this turn
}

// heldText is a text in the person's name with the names of the files beside it, such as "[image]".
type heldText struct {
	Event
	files []string
}

// copyGap is the time between two lines from which on the second line does not belong to the
// copy at a fork's beginning. The person's first prompt always comes later.
const copyGap = 100 * time.Millisecond

func newCodex(path string) EventReader {
	if isPromptList(path) {
		return newPromptList(path, "sessions", "archived_sessions")
	}
	return &codex{calls: map[string]codexCall{}}
}

// ReadLine implements [EventReader].
func (c *codex) ReadLine(line []byte, offset int64, yield func(*Event)) bool {
	var l codexLine
	var p codexItem
	if !Decode(line, &l) {
		return false
	}
	if l.Items != nil && l.Payload == nil {
		return c.document(&l, offset, yield)
	}
	c.completeLine(&l, line)
	if !Decode(l.Payload, &p) {
		return false
	}
	c.endCopy(l.Time)
	switch l.Type {
	case "session_meta":
		c.meta(&p)
	case "turn_context":
		c.dir = cmp.Or(p.Dir, c.dir)
		c.model = cmp.Or(p.Model, c.model)
		c.begin(p.Turn, offset, yield)
	}
	e := Event{Offset: offset, Time: l.Time, Session: c.session, Dir: c.dir, Branch: c.branch, Model: c.model,
		AgentID: c.agentID, AgentName: c.agentName, AgentType: c.agentType, IsCopy: c.isCopied}
	switch l.Type {
	case "compacted":
		e.Kind, e.Text = EventCompacted, p.Message
		e.Turn = c.task
		yield(&e)
	case "event_msg":
		return c.message(&p, e, yield)
	case "response_item":
		c.item(&p, e, yield)
	case "session_meta", "turn_context":
	default:
		if !codexNotes[l.Type] {
			e.reportUnknown("lines", l.Type, yield)
		}
	}
	return true
}

// completeLine sets the payload and the time of a line in which they are missing.
func (c *codex) completeLine(l *codexLine, line []byte) {
	if l.Payload == nil { // an old file, in which the line is the payload
		c.isBare = true
		l.Payload, l.Type = line, "response_item"
		if !c.isStarted {
			l.Type = "session_meta"
		}
	}
	if !c.isStarted {
		c.born = l.Time
	} else if l.Time.IsZero() {
		l.Time = c.born
	}
}

// codexNotes contains the types of lines that are not part of the conversation.
var codexNotes = wordSet(`
	ghost_snapshot inter_agent_communication inter_agent_communication_metadata security_risk_score
	token_usage_record world_state`)

// codexStates contains the types of events that report the client's state, or repeat what other lines contain.
var codexStates = wordSet(`
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

// codexSilent contains the types of items that have no text of the person or the agent, or whose text another line
// contains as well.
var codexSilent = wordSet(`
	additional_tools agent_message compaction compaction_summary compaction_trigger context_compaction ghost_snapshot
	other tool_search_output
	CollabAgentToolCall ContextCompaction DynamicToolCall EnteredReviewMode ExitedReviewMode HookPrompt
	ImageGeneration ImageView McpToolCall Sleep SubAgentActivity WebSearch`)

// document reads a session that is a JSON document. It returns false if an item cannot be read.
func (c *codex) document(l *codexLine, offset int64, yield func(*Event)) bool {
	isRead := c.ReadLine(l.Session, offset, yield)
	for i, item := range l.Items {
		isRead = c.ReadLine(item, offset+int64(i), yield) && isRead
	}
	c.End(yield)
	return isRead
}

// meta reads the session that the file belongs to.
func (c *codex) meta(p *codexItem) {
	if c.isStarted {
		return // a fork repeats the line of its parent
	}
	c.isStarted = true
	c.session = p.ID
	c.dir = p.Dir
	c.model = p.Model
	c.branch = p.Git.Branch
	c.isCopied = p.Forked != ""
	var source struct {
		Agent struct {
			Spawn struct {
				Parent string `json:"parent_thread_id"`
			} `json:"thread_spawn"`
		} `json:"subagent"`
	}
	_ = Decode(p.Source, &source) // other sources are texts
	if strings.Contains(string(p.Source), `"subagent"`) {
		c.agentName = cmp.Or(p.AgentName, "sub-agent")
	}
	if parent := cmp.Or(p.Session, source.Agent.Spawn.Parent); parent != "" && parent != p.ID {
		c.session = parent
		c.agentID, c.agentType = p.ID, p.AgentRole
	}
}

// endCopy notices the end of the lines that were copied from a fork's parent.
func (c *codex) endCopy(when time.Time) {
	isApart := !c.last.IsZero() && when.Sub(c.last) >= copyGap
	isLater := isApart && !when.Before(c.born)
	if c.isCopied && isLater {
		c.isCopied = false
		c.turn, c.task = "", ""
		c.said = nil
		c.held = nil
	}
	c.last = when
}

// begin records the ID of a turn that has begun. Each turn tells anew whether events contain its prompts, because
// a newer version of Codex may continue the session.
func (c *codex) begin(turn string, offset int64, yield func(*Event)) {
	if turn == "" || c.agentID != "" {
		return
	}
	if turn == c.turn || turn == c.task {
		return
	}
	c.release(yield)
	c.hasPrompts = false
	c.task, c.taskAt = turn, offset
}

// message reads a line of type event_msg. It returns false if the line contains an item that is not an
// object.
func (c *codex) message(p *codexItem, e Event, yield func(*Event)) bool {
	switch p.Type {
	case "task_started":
		c.begin(p.Turn, e.Offset, yield)
	case "user_message":
		c.event(p.Turn, p.Message, slices.Repeat([]string{"[image]"}, len(p.Images)+len(p.LocalImages)), e, yield)
	case "agent_message":
		if !c.hasItems {
			c.say(&e, p.Message, 0, yield)
		}
	case "agent_reasoning":
		c.think(&e, p.Text, yield)
	case "exec_command_end":
		c.end(p.CallID, p.Exit, p.Success == nil || *p.Success)
	case "patch_apply_end":
		c.reportChanges(p, p.CallID, p.Success == nil || *p.Success, e, yield)
	case "item_completed":
		return c.reportItem(p, e, yield)
	default:
		if !codexStates[p.Type] {
			e.reportUnknown("events", p.Type, yield)
		}
	}
	return true
}

// reportItem reads the item in an event.
func (c *codex) reportItem(p *codexItem, e Event, yield func(*Event)) bool {
	var item codexItem
	if !Decode(p.Item, &item) {
		return false
	}
	e.ID = item.ID
	switch item.Type {
	case "UserMessage":
		e.ID = ""
		c.event(p.Turn, Text(item.Content, "text"), attachments(item.Content), e, yield)
	case "AgentMessage":
		c.say(&e, Text(item.Content, "text", "Text"), 1, yield)
	case "Reasoning":
		for _, t := range item.SummaryText {
			c.think(&e, t, yield)
		}
	case "CommandExecution":
		c.end(item.ID, item.Exit, item.Status == "completed")
	case "FileChange":
		c.reportChanges(&item, item.ID, item.Status == "completed", e, yield)
	case "Plan":
		c.reportPlan(&e, item.Text, yield)
	default:
		if !codexSilent[item.Type] {
			e.reportUnknown("items", item.Type, yield)
		}
	}
	return true
}

// reportPlan reports a plan that the agent proposes, unless a message of the turn contains it.
func (c *codex) reportPlan(e *Event, plan string, yield func(*Event)) {
	plan = strings.TrimSpace(plan)
	for said := range c.said {
		if strings.Contains(said, plan) {
			return
		}
	}
	c.say(e, plan, 1, yield)
}

// item reads a line of type response_item.
func (c *codex) item(p *codexItem, e Event, yield func(*Event)) {
	e.ID = p.ID
	switch p.Type {
	case "message":
		c.hasItems = true
		switch p.Role {
		case "assistant":
			c.say(&e, Text(p.Content, "output_text"), -1, yield)
		case "user":
			e.ID = ""
			c.user(p, e, yield)
		}
	case "reasoning":
		for _, t := range contentTexts(p.Summary, "summary_text") {
			c.think(&e, t, yield)
		}
	case "function_call", "custom_tool_call", "local_shell_call":
		c.call(p, e, yield)
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		e.ID = p.CallID
		c.answer(p.Output, e, yield)
	default:
		isState := c.isBare && p.Type == "" // for example {"record_type":"state"}
		switch {
		case isState, codexSilent[p.Type]:
		case strings.HasSuffix(p.Type, "_call"):
			c.ownCall(p, e, yield)
		default:
			e.reportUnknown("items", p.Type, yield)
		}
	}
}

// ownCall reports a call that the model's server ran, such as web_search_call. The item contains its outcome.
func (c *codex) ownCall(p *codexItem, e Event, yield func(*Event)) {
	c.release(yield)
	e.Kind, e.ID = EventCall, cmp.Or(p.ID, p.CallID, p.Type+"@"+strconv.FormatInt(e.Offset, 10))
	e.Tool, e.Args = p.Type, p.Action
	yield(&e)
	e.Kind = EventResult
	e.Tool, e.Args = "", nil
	e.Failed = p.Status == "failed"
	yield(&e)
}

// workingDirectory matches the working directory in the message about the environment with which
// Codex begins a session.
var workingDirectory = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*<environment_context>[\s\S]*?<cwd>([^<]{1,1000})</cwd>`)
})

// imageTag matches the texts that Codex inserts before and after an image.
var imageTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^</?image\b[^>\n]*>\n?`) })

// insertedText matches the beginnings of texts that Codex wrote in the person's name. Their tags' names contain an
// underscore, or are one of a few words.
var insertedText = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:<(?:[a-z]+_[a-z_]+|skills?|permissions|INSTRUCTIONS)\b|# AGENTS\.md)`)
})

// isByPerson reports whether the person wrote a text.
func (p *codexItem) isByPerson(text string) bool {
	if kinds := p.Metadata.Kinds; len(kinds) > 0 {
		return slices.ContainsFunc(kinds, func(k string) bool { return strings.HasPrefix(k, "user.") })
	}
	return !insertedText().MatchString(strings.TrimSpace(text))
}

// user reads a text in the person's name. If an event follows that repeats the text, the event
// contains the prompt.
func (c *codex) user(p *codexItem, e Event, yield func(*Event)) {
	e.Text = Text(p.Content, "input_text", "text")
	if c.dir == "" || c.isBare {
		if dir := workingDirectory().FindStringSubmatch(e.Text); dir != nil {
			c.dir = dir[1]
			e.Dir = c.dir
		}
	}
	if isShellText(e.Text) {
		c.release(yield)
	}
	if c.shell.report(e, e.Text, yield) {
		return
	}
	text := heldText{e, attachments(p.Content)}
	text.Text = strings.TrimSpace(imageTag().ReplaceAllString(e.Text, ""))
	text.Turn = p.Turn
	if text.Text == "" {
		text.Text, text.files = strings.Join(text.files, " "), nil
	}
	switch {
	case text.Text == "" || !p.isByPerson(text.Text):
	case c.isBare:
		c.prompt(text, yield)
	default:
		c.held = append(c.held, text)
	}
}

// event reports the prompt in an event, which has files beside the text.
func (c *codex) event(turn, text string, files []string, e Event, yield func(*Event)) {
	if text == "" {
		text, files = strings.Join(files, " "), nil
	}
	c.asked = text
	c.hasPrompts = true
	for _, h := range c.held {
		if strings.TrimSpace(h.Text) == strings.TrimSpace(text) {
			e.Time = h.Time // an import that ended between the two lines has reported this time
		}
	}
	c.release(yield) // without a report, because one of the held texts is the same prompt
	e.Turn, e.Text = turn, text
	c.prompt(heldText{e, files}, yield)
}

// release reports the held texts. If no event in the turn contains a prompt, the texts are prompts.
func (c *codex) release(yield func(*Event)) {
	held := c.held
	c.held = nil
	for _, e := range held {
		isRepeat := strings.TrimSpace(e.Text) == strings.TrimSpace(c.asked)
		if isRepeat {
			c.asked = ""
		}
		if !isRepeat && !c.hasPrompts {
			c.prompt(e, yield)
		}
	}
}

// End implements [Ender].
func (c *codex) End(yield func(*Event)) { c.release(yield) }

// prompt reports a prompt. A prompt without a turn belongs to the last task that began. A turn
// begins at the first line with the turn's ID.
func (c *codex) prompt(text heldText, yield func(*Event)) {
	e := text.Event
	e.reportLeftOut(leftFiles, len(text.files), yield)
	e.Kind = EventPrompt
	e.Turn = cmp.Or(e.Turn, c.task)
	if e.Turn != "" && e.Turn == c.task {
		e.Offset = c.taskAt
		c.task = ""
	}
	if e.Turn == "" || e.Turn != c.turn {
		c.said = nil
	}
	c.turn = e.Turn
	c.thoughts = nil
	yield(&e)
}

// say reports a text of the agent. Newer versions write each text both as an item (form 1) and
// as a message (form -1), in either order. The second of the pair is skipped.
func (c *codex) say(e *Event, text string, form int, yield func(*Event)) {
	c.release(yield)
	if c.said == nil {
		c.said = map[string]int{}
	}
	isSecond := c.said[text]*form < 0
	c.said[text] += form
	if !isSecond && text != "" {
		e.Kind, e.Text = EventText, text
		yield(e)
	}
}

// think reports reasoning, unless it was reported in this turn.
func (c *codex) think(e *Event, text string, yield func(*Event)) {
	text = strings.TrimSpace(text)
	if text == "" || c.thoughts[text] {
		return
	}
	if c.thoughts == nil {
		c.thoughts = map[string]bool{}
	}
	c.thoughts[text] = true
	e.Kind, e.Text = EventThought, text
	yield(e)
}

// codexShells are the names of tools that run a command.
var codexShells = map[string]bool{"shell": true, "exec_command": true, "local_shell": true, "shell_command": true,
	"container.exec": true}

// call reports a call. A call that runs a command has the name that hooks report.
func (c *codex) call(p *codexItem, e Event, yield func(*Event)) {
	c.release(yield)
	e.Kind, e.ID = EventCall, p.CallID
	e.Tool = p.Name
	switch {
	case p.Type == "local_shell_call":
		e.Tool, e.Args = "Bash", p.Action
	case p.Type == "function_call" && strings.HasPrefix(strings.TrimSpace(p.Arguments), "{"):
		e.Args = json.RawMessage(p.Arguments)
	default:
		e.Args, _ = json.Marshal(map[string]string{"input": p.Input + p.Arguments}) // texts can be encoded
	}
	if codexShells[p.Name] {
		e.Tool = "Bash"
	} else if p.Namespace != "" && p.Type == "function_call" {
		e.Tool = p.Namespace + "__" + p.Name
	}
	isPatch := e.Tool == "apply_patch" || (e.Tool == "Bash" && strings.Contains(string(e.Args), "*** Begin Patch"))
	c.calls[p.CallID] = codexCall{isPatch: isPatch}
	yield(&e)
}

// end records how a call ended. Its output follows later.
func (c *codex) end(id string, exit *int, hasSucceeded bool) {
	if call, ok := c.calls[id]; ok {
		call.exit, call.success = exit, &hasSucceeded
		c.calls[id] = call
	}
}

// reportChanges reports the changes of files by a call. The transcript need not contain the call, because the
// model can write a program that applies patches.
func (c *codex) reportChanges(p *codexItem, id string, hasSucceeded bool, e Event, yield func(*Event)) {
	c.end(id, nil, hasSucceeded)
	e.Kind, e.ID = EventEdit, id
	e.Failed = !hasSucceeded
	e.Shown = p.Changes
	yield(&e)
}

// answer reports the result of a call.
func (c *codex) answer(output json.RawMessage, e Event, yield func(*Event)) {
	call := c.calls[e.ID]
	delete(c.calls, e.ID)
	e.Kind = EventResult
	e.Exit = call.exit
	e.output = outputText(output)
	e.Failed = strings.HasPrefix(e.output, "unsupported call")
	switch {
	case call.success != nil:
		e.Failed = e.Failed || (call.isPatch && !*call.success)
	case call.isPatch:
		e.Failed = !isPatched(output)
	}
	yield(&e)
}

// outputText returns the text of an output, which is a text, blocks of text, or an object that contains either.
func outputText(output json.RawMessage) string {
	var o struct {
		Content json.RawMessage `json:"content"`
		Items   json.RawMessage `json:"content_items"`
	}
	if Decode(output, &o) {
		return cmp.Or(Text(o.Content), Text(o.Items))
	}
	return Text(output)
}

// isPatched reports whether the output of apply_patch indicates success. The output is a text, JSON
// with an exit status in a text, or blocks of text.
func isPatched(output json.RawMessage) bool {
	var o struct {
		Success *bool `json:"success"`
	}
	_ = Decode(output, &o) // only an object reports success
	if o.Success != nil {
		return *o.Success
	}
	text, exit := OldOutput(outputText(output))
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

// codexAnswer returns the line for the result of a call.
func codexAnswer(r *Report, id string) any {
	return map[string]any{
		"type":    "response_item",
		"payload": map[string]any{"type": "custom_tool_call_output", "call_id": id, "output": r.Response},
	}
}
