// This file reads the sessions of Kimi CLI and of its successor, Kimi Code. The formats come from these public sources:
//
//   - Kimi CLI: src/kimi_cli/wire/types.py (commit 026ae98e) and src/kimi_cli/subagents/store.py (commit 22653f61) in
//     MoonshotAI/kimi-cli
//   - Kimi Code: in MoonshotAI/kimi-code, packages/agent-core/src/agent/records/types.ts (commit 05db53eb) and
//     context/types.ts (commit 12f5c228), and packages/agent-core-v2/src/agent/contextMemory/contextEvents.ts (commit
//     61e9f676) and prompt/promptService.ts (commits 0157b058 and c3cf05de)
//   - both: internal/parser/kimi.go in kenn-io/agentsview

package clientfile

import (
	"cmp"
	"encoding/json"
	"html"
	"path/filepath"
	"slices"
	"strings"
)

// kimiReader reads Kimi CLI's sessions/PROJECT/SESSION/wire.jsonl and SESSION/subagents/AGENT/wire.jsonl, and Kimi
// Code's sessions/PROJECT/SESSION/agents/AGENT/wire.jsonl.
//
// A line of Kimi CLI is {"timestamp","message":{"type","payload"}} with the types TurnBegin, ContentPart, ToolCall and
// ToolResult. A line of Kimi Code is {"type":"turn.prompt","input","origin"}, {"type":"context.append_message",
// "message":{"role","content","toolCalls","origin"}}, or {"type":"context.append_loop_event","event":{"type":
// "content.part"|"tool.call"|"tool.result",…}}. Most versions of Kimi Code store a prompt twice: as turn.prompt or
// turn.steer, and as context.append_message. Some versions store only context.append_message.
type kimiReader struct {
	sessionID, agent, model string
	messageCount            int
	shell                   personCommandReporter

	turnID              string            // ID of the last turn of the main conversation
	sideQuestionTurnIDs map[string]string // ID of the turn for each side question, by the question's ID

	// Most versions of Kimi Code store each prompt twice: in a line with the type turn.prompt or turn.steer, and in a
	// line with a message. For each prompt from a line of the first kind, expectedPromptCounts contains the number of
	// messages with this prompt that must still follow. Such a message is not reported again.
	expectedPromptCounts map[string]int
	// lastMessagePrompt is the last prompt that was found in a message line of the session file, but not in a line with
	// the type turn.prompt or turn.steer. If a line with one of these two types and the same prompt follows before the
	// agent's next event, this line is a repetition and is ignored.
	lastMessagePrompt string
}

func newKimiReader(path string) EventReader {
	dir := filepath.Dir(path)
	k := &kimiReader{
		sessionID:            filepath.Base(dir),
		sideQuestionTurnIDs:  map[string]string{},
		expectedPromptCounts: map[string]int{},
	}
	agents := filepath.Dir(dir)
	if name := filepath.Base(agents); name == "agents" || name == "subagents" {
		if k.sessionID != "main" {
			k.agent = k.sessionID
		}
		k.sessionID = filepath.Base(filepath.Dir(agents))
	}
	return k
}

// kimiLine is a line of a session file. It contains the fields of both programs that write such files, Kimi CLI and
// Kimi Code.
type kimiLine struct {
	Type         string          `json:"type"`
	Time         json.RawMessage `json:"timestamp"`
	KimiCodeTime json.RawMessage `json:"time"`
	Model        string          `json:"modelAlias"`
	Input        json.RawMessage `json:"input"`
	Origin       kimiOrigin      `json:"origin"`
	Message      kimiMessage     `json:"message"`
	Event        kimiLoopEvent   `json:"event"`

	Summary        json.RawMessage `json:"summary"` // text or message that replaces a compacted conversation
	ContextSummary string          `json:"contextSummary"`
}

// kimiMessage is a message of Kimi Code, or an event of Kimi CLI.
type kimiMessage struct {
	Type    string      `json:"type"`
	Payload kimiPayload `json:"payload"`

	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ToolCalls []kimiToolCall  `json:"toolCalls"`
	CallID    string          `json:"toolCallId"`
	Failed    bool            `json:"isError"`
	Origin    kimiOrigin      `json:"origin"`
}

// kimiToolCall is a call of a tool. Up to version 1.0 of Kimi Code's format, the name and the arguments are in
// Function.
type kimiToolCall struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Args     json.RawMessage `json:"arguments"`
	Function struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// kimiPayload contains the fields of all events of Kimi CLI.
type kimiPayload struct {
	Input json.RawMessage `json:"user_input"`
	contentBlock
	Function struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"arguments"`
	} `json:"function"`
	CallID string `json:"tool_call_id"`
	Return struct {
		Failed bool            `json:"is_error"`
		Output json.RawMessage `json:"output"`
	} `json:"return_value"`
	Question string `json:"question"` // question that the person asked beside the main conversation
	Response string `json:"response"` // answer to a side question
	Feedback string `json:"feedback"` // the person's text when refusing a call

	// sub-agent's ID, if its events are also in its own file (otherwise "")
	AgentID    string          `json:"agent_id"`
	TaskCallID string          `json:"task_tool_call_id"`
	Event      json.RawMessage `json:"event"` // event of a sub-agent
}

// kimiLoopEvent is an event of the agent in Kimi Code.
type kimiLoopEvent struct {
	Type   string          `json:"type"`
	Part   contentBlock    `json:"part"`
	CallID string          `json:"toolCallId"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result struct {
		Failed bool            `json:"isError"`
		Output json.RawMessage `json:"output"`
	} `json:"result"`
}

// kimiOrigin tells who wrote a text in the person's name, and why.
type kimiOrigin struct {
	Kind        string `json:"kind"`
	Trigger     string `json:"trigger"`
	Skill       string `json:"skillName"`
	SkillArgs   string `json:"skillArgs"`
	Command     string `json:"commandName"`
	CommandArgs string `json:"commandArgs"`
}

// kimiProgramOrigins contains the origins of texts that a program wrote in the person's name.
var kimiProgramOrigins = lazyWordSet(`
	background_task compaction_summary cron_job cron_missed hook_result injection retry system_trigger task`)

// isKimiLine reports whether a line was written by Kimi CLI or Kimi Code.
func isKimiLine(line []byte) bool {
	var l struct {
		Type    string `json:"type"`
		Message struct {
			Type    string          `json:"type"`
			Payload json.RawMessage `json:"payload"`
		} `json:"message"`
	}
	ownTypes := []string{"turn.prompt", "context.append_loop_event", "context.append_message"}
	return DecodeObject(line, &l) && (slices.Contains(ownTypes, l.Type) ||
		(l.Message.Type != "" && l.Message.Payload != nil))
}

// ParseLine implements [EventReader].
func (k *kimiReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l kimiLine
	if !parseObject(line, &l) {
		return false
	}
	if l.Model != "" {
		k.model = l.Model
	}
	k.messageCount++
	m := messageReporter{
		yieldEvent: yield,
		Event:      Event{Offset: offset, Session: k.sessionID, AgentID: k.agent, Model: k.model, TurnID: k.turnID},
	}
	at := parseTime(l.Time)
	if at.IsZero() {
		at = parseTime(l.KimiCodeTime)
	}
	m.beginNumberedMessage(k.messageCount, at)
	if l.Message.Type != "" {
		k.reportWireEvent(&m, &l.Message)
		return true
	}
	k.reportRecord(&m, &l)
	return true
}

// reportWireEvent reports an event of Kimi CLI.
func (k *kimiReader) reportWireEvent(m *messageReporter, event *kimiMessage) {
	p := &event.Payload
	switch event.Type {
	case "TurnBegin", "SteerInput":
		k.reportPrompt(m, kimiPromptText(p.Input), p.Input)
	case "ContentPart":
		m.reportKimiPart(&p.contentBlock)
	case "ToolCall":
		m.reportCall(p.ID, p.Function.Name, p.Function.Args)
	case "ToolResult":
		m.reportResult(callResult{id: p.CallID, output: resultText(p.Return.Output), hasFailed: p.Return.Failed})
	case "PlanDisplay":
		m.reportText(EventText, ContentText(p.Content))
	case "ApprovalResponse", "ApprovalRequestResolved":
		k.reportPrompt(m, p.Feedback, nil)
	// A side question to Kimi and its answer become a separate turn. The turn of the main conversation continues.
	case "BtwBegin":
		k.sideQuestionTurnIDs[p.ID] = m.ID
		m.reportText(EventPrompt, p.Question)
	case "BtwEnd":
		m.TurnID = k.sideQuestionTurnIDs[p.ID]
		m.reportText(EventText, p.Response)
	case "SubagentEvent":
		k.reportSubagentEvent(m, p)
	default:
		if !kimiStates()[event.Type] {
			m.Event.reportUnknownPart("lines", event.Type, m.yieldEvent)
		}
	}
}

// reportSubagentEvent reports an event of a sub-agent. It ignores the event if the sub-agent has an ID, because such a
// sub-agent has a file of its own, which contains the same event.
func (k *kimiReader) reportSubagentEvent(m *messageReporter, p *kimiPayload) {
	var event kimiMessage
	if p.AgentID != "" || !parseObject(p.Event, &event) {
		return
	}
	m.AgentID = p.TaskCallID
	if m.AgentID == "" {
		m.AgentID = UnnamedAgent
	}
	m.TurnID = ""
	k.reportWireEvent(m, &event)
}

// reportRecord reports a record of Kimi Code.
func (k *kimiReader) reportRecord(m *messageReporter, l *kimiLine) {
	e := &l.Event
	switch l.Type {
	case "turn.prompt", "turn.steer":
		text := l.Origin.personText(m, l.Input)
		isRepeated := text != "" && text == k.lastMessagePrompt
		k.lastMessagePrompt = ""
		if !isRepeated {
			k.expectedPromptCounts[text]++
			k.reportPrompt(m, text, l.Input)
		}
	case "context.append_message":
		k.reportMessage(m, &l.Message)
	case "context.append_loop_event":
		k.lastMessagePrompt = ""
		switch e.Type {
		case "content.part":
			m.reportKimiPart(&e.Part)
		case "tool.call":
			m.reportCall(e.CallID, e.Name, e.Args)
		case "tool.result":
			m.reportResult(callResult{id: e.CallID, output: resultText(e.Result.Output), hasFailed: e.Result.Failed})
		case "step.begin", "step.end":
		default:
			m.Event.reportUnknownPart("events", e.Type, m.yieldEvent)
		}
	case "context.apply_compaction":
		var message kimiMessage
		summary := ContentText(l.Summary)
		if parseObject(l.Summary, &message) {
			summary = ContentText(message.Content, "text")
		}
		m.reportText(EventConversationCompacted, cmp.Or(summary, l.ContextSummary))
	default:
		if !isIgnoredKimiType(l.Type) {
			m.Event.reportUnknownPart("lines", l.Type, m.yieldEvent)
		}
	}
}

// reportMessage reports a message in the conversation that Kimi Code stored. Kimi Code stores what its own agent writes
// as events. Therefore a message has the role assistant only if Kimi Code imported the message from elsewhere.
func (k *kimiReader) reportMessage(m *messageReporter, message *kimiMessage) {
	switch message.Role {
	case "user":
		k.reportUserMessage(m, message)
	case "assistant":
		for _, b := range decodeBlocks(message.Content) {
			m.reportKimiPart(&b)
		}
		for _, c := range message.ToolCalls {
			m.reportCall(c.ID, c.Name+c.Function.Name, append(c.Args, c.Function.Args...))
		}
	case "tool":
		m.reportResult(
			callResult{id: message.CallID, output: ContentText(message.Content), hasFailed: message.Failed},
		)
	case "system":
	default:
		m.Event.reportUnknownPart("messages", message.Role, m.yieldEvent)
	}
}

// reportUserMessage reports a message with the role "user". Such a message contains a prompt, a shell command that the
// person ran, the summary of a compacted conversation, or a text by a program. A prompt is not reported again if an
// earlier line of the type turn.prompt or turn.steer contained it. A text by a program is not reported.
func (k *kimiReader) reportUserMessage(m *messageReporter, message *kimiMessage) {
	switch message.Origin.Kind {
	case "shell_command":
		text := html.UnescapeString(ContentText(message.Content)) // Kimi Code escapes the command and its output.
		if !k.shell.reportShellText(m.Event, text, m.yieldEvent) {
			m.Event.reportUnknownPart("commands", "", m.yieldEvent)
		}
		return
	case "compaction_summary":
		m.reportText(EventConversationCompacted, ContentText(message.Content))
		return
	}
	text := message.Origin.personText(m, message.Content)
	if text != "" && k.expectedPromptCounts[text] > 0 {
		k.expectedPromptCounts[text]--
		return
	}
	k.lastMessagePrompt = text
	k.reportPrompt(m, text, message.Content)
}

// personText returns the text that the person typed, or "" if a program wrote the content. An origin that is not known
// is reported as an unknown part, and its text is "".
func (o *kimiOrigin) personText(m *messageReporter, content json.RawMessage) string {
	switch o.Kind {
	case "", "user":
		return kimiPromptText(content)
	case "skill_activation", "plugin_command":
		if o.Trigger == "user-slash" {
			return strings.TrimSpace("/" + o.Skill + o.Command + " " + o.SkillArgs + o.CommandArgs)
		}
		return ""
	}
	if !kimiProgramOrigins()[o.Kind] {
		m.Event.reportUnknownPart("messages", o.Kind, m.yieldEvent)
	}
	return ""
}

// kimiPromptText returns the text of a prompt. A prompt without a text is replaced by the names of its files.
func kimiPromptText(content json.RawMessage) string {
	return cmp.Or(strings.TrimSpace(ContentText(content, "text")), attachmentText(content))
}

// reportPrompt reports a text of the person, which begins a turn, and the parts of the message's content that are not
// stored. An empty text is not reported.
func (k *kimiReader) reportPrompt(m *messageReporter, text string, content json.RawMessage) {
	m.Event.reportUnknownBlocks(content, m.yieldEvent, "text", "think")
	if text == "" {
		return
	}
	if text != attachmentText(content) {
		m.Event.reportNonTextParts(nonTextFilesText, countAttachments(content), m.yieldEvent)
	}
	if k.agent == "" && m.AgentID == "" {
		k.turnID = m.ID
	}
	m.reportText(EventPrompt, text)
}

// kimiStates contains the types of lines that store Kimi CLI's or Kimi Code's state, or that repeat texts from other
// lines. An element without a dot, such as goal, also stands for all types that consist of this element, a dot and
// further text.
var kimiStates = lazyWordSet(`
	ApprovalRequest CompactionBegin CompactionEnd HookRequest HookResolved HookTriggered MCPLoadingBegin MCPLoadingEnd
	Notification QuestionRequest StatusUpdate StepBegin StepInterrupted StepRetry ToolCallPart ToolCallRequest TurnEnd
	config context.clear context.undo context.update_token_count cron file_history forked full_compaction goal
	interaction interruptionReminder llm mcp metadata micro_compaction permission plan plan_mode plugin profile prompt
	runtime staleGuard swarm_mode task token_counting tools tower_mode turn.cancel turn.ended turn.launch
	turn.step.interrupted turn.step.retrying usage`)

// isIgnoredKimiType reports whether a line of the type typeName can be ignored. Such a line stores the state of Kimi
// CLI or Kimi Code, or repeats a text of another line.
func isIgnoredKimiType(typeName string) bool {
	group, _, _ := strings.Cut(typeName, ".")
	return kimiStates()[typeName] || kimiStates()[group]
}

// reportKimiPart reports a part of the agent's message.
func (m *messageReporter) reportKimiPart(b *contentBlock) {
	switch {
	case b.Type == "think":
		m.reportText(EventAgentThought, b.KimiThinking)
	case attachmentTypes()[b.Type]:
		m.Event.reportNonTextParts(nonTextFilesText, 1, m.yieldEvent)
	case b.Type == "text":
		m.reportText(EventText, b.Text)
	default:
		m.Event.reportUnknownPart("blocks", b.Type, m.yieldEvent)
	}
}
