// This file converts the reports of client hooks to session events, and encodes the answers to the reports.

// Package hook parses the reports that clients write to the standard input of their hooks, and converts them to
// session events. It also encodes answers in the form that each client expects.
//
// A report is a JSON object. All clients, and the plug-in for opencode ([OpencodePluginSource]), use nearly the same
// field names. The reports of Gemini CLI and Copilot CLI identify neither the prompt nor the tool call.
// [session.BuildTurns] infers them from the order of the reports.
package hook

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// ParseEnv contains what ParseReport needs to know besides the report itself.
type ParseEnv struct {
	Now       time.Time
	CleanText func(string) string // removes secrets from a text, and removes the context that hooks added to a prompt

	// CopilotHome is the directory in which Copilot CLI stores its sessions, or "" if unknown.
	CopilotHome string
}

// CallReport is the parsed report of one hook call.
type CallReport struct {
	Client string
	Events []session.Event

	// SessionStartReason is the reason why the session started. It is set only in the report of a session's start.
	// Prompt is the text that a person wrote. It is set only in the report of a prompt. If both fields are "", the
	// answer to the report contains no context for the model.
	SessionStartReason string
	Prompt             string

	// ParseErrorText explains why the input is not a valid report. It is "" for a valid report and for
	// empty input.
	ParseErrorText string

	// EndsTurn is true if the report says that a turn or a session has ended.
	EndsTurn bool

	// ToolName, ToolInput and ToolOutput are the name, the arguments and the result of a tool call. ToolOutput is nil
	// if the client does not report the result.
	ToolName              string
	ToolInput, ToolOutput json.RawMessage

	eventName string // name of the event as the client spells it
}

// Clients returns the names of the supported clients.
func Clients() []string {
	var names []string
	for _, c := range clientfile.EventClients {
		if c.HasHooks() {
			names = append(names, c.Name)
		}
	}
	return names
}

// ParseReport parses the report that a client wrote to the standard input of its hook. If the client or the event is
// unknown, or the input is invalid, the report contains no events.
func ParseReport(client string, stdin []byte, env ParseEnv) CallReport {
	r, client, ok := clientfile.ParseClientReport(client, stdin)
	report := CallReport{Client: client}
	c, _ := clientfile.FindEventClient(client)
	if !c.HasHooks() {
		report.ParseErrorText = "there is no such client; oxbow setup writes hooks of those that are known"
		return report
	}
	if !ok {
		if len(bytes.TrimSpace(stdin)) > 0 {
			report.ParseErrorText = "it is no report, which is JSON with a session_id"
		}
		return report
	}
	addEvents := sessionEventAdders[c.Hook.EventNames[r.EventName]]
	if addEvents == nil {
		return report
	}
	e := session.Event{
		Client: client, Session: cmp.Or(r.ParentAgentID,
			r.SessionID), TurnID: r.TurnID + r.PromptID, Time: r.Time, Dir: r.WorkingDir,
		SubAgent: subagentName(r, client), Model: r.Model, TranscriptPath: r.TranscriptPath,
	}
	if !session.IsValidID(e.Session) {
		report.ParseErrorText = fmt.Sprintf("its session_id %.80q is no identifier of a session", e.Session)
		return report
	}
	if e.Time.IsZero() {
		e.Time = env.Now
	}
	if client == "copilot" && e.TranscriptPath == "" {
		e.TranscriptPath = copilotTranscriptPath(env.CopilotHome, e.Session)
	}
	if e.SubAgent != "" && client == "codex" {
		e.TurnID = "" // The turn ID in the report is the sub-agent's own, and is not the ID of a person's turn.
	}
	report.eventName = r.EventName
	addEvents(&report, &r, e, env.CleanText)
	return report
}

// copilotTranscriptPath returns the path of a Copilot session's transcript. It returns "" if Copilot's directory is
// unknown, or if the session's ID would lead to a path outside that directory.
func copilotTranscriptPath(copilotHome, sessionID string) string {
	if copilotHome == "" || !filepath.IsLocal(sessionID) {
		return ""
	}
	return filepath.Join(copilotHome, "session-state", sessionID, "events.jsonl")
}

// subagentName returns the name of the sub-agent that sent a report, spelled as in the client's transcripts. It
// returns "" if the main agent sent the report.
func subagentName(r clientfile.HookReport, client string) string {
	switch {
	case client == "opencode":
		return r.AgentType
	case r.AgentID == "": // A report with a type but without an agent ID comes from the main agent.
		return ""
	case client == "qwen" || r.AgentType == "":
		return r.AgentID
	}
	return r.AgentType
}

// sessionEventAdders maps the name of a hook event, as Claude Code spells it, to a function. The function adds the
// session events that follow from the report r to the CallReport in the parameter out.
var sessionEventAdders = map[string]func(out *CallReport, r *clientfile.HookReport, e session.Event,
	clean func(string) string){
	"SessionStart":       addSessionStart,
	"UserPromptSubmit":   addPromptEvent,
	"PostToolUse":        addToolEvents,
	"PostToolUseFailure": addToolEvents,
	"AgentText":          addTextEvent,
	"PostCompact":        addCompactionEvent,
	"Stop":               addTurnEnd,
	"SubagentStop":       addSubagentStop,
	"SessionEnd":         addSessionEnd,
}

func (out *CallReport) addEvent(e session.Event, kind session.EventKind, text string) {
	e.Kind, e.Text = kind, text
	out.Events = append(out.Events, e)
}

// sessionStartReasons translates a client's word for why a session started into the word that all clients share. Words
// that are not listed stay unchanged.
var sessionStartReasons = map[string]string{"new": "startup", "": "startup"}

func addSessionStart(out *CallReport, r *clientfile.HookReport, e session.Event, _ func(string) string) {
	if e.SubAgent != "" {
		return
	}
	out.SessionStartReason = r.StartSource
	if s, ok := sessionStartReasons[r.StartSource]; ok {
		out.SessionStartReason = s
	}
	e.TurnID = ""
	out.addEvent(e, session.KindSessionStart, out.SessionStartReason)
}

// addPromptEvent adds a prompt. It ignores text that no person wrote: the task of a sub-agent, messages that the
// client sends on the person's behalf, and empty prompts, which Qwen Code reports repeatedly.
func addPromptEvent(out *CallReport, r *clientfile.HookReport, e session.Event, clean func(string) string) {
	if r.AgentID != "" || e.SubAgent != "" {
		return
	}
	if slices.Contains([]string{"system", "loop_wakeup", "task_notification"}, r.StartSource) {
		return
	}
	out.Prompt = transcript.ExtractPromptText(clientfile.RemoveArgumentQuotes(out.Client, r.Prompt), clean)
	if out.Prompt != "" {
		out.addEvent(e, session.KindPrompt, out.Prompt)
	}
}

func addToolEvents(out *CallReport, r *clientfile.HookReport, e session.Event, clean func(string) string) {
	o := transcript.DecodeOutcome(r.ToolResponse)
	if len(r.ToolResult) > 0 {
		o = transcript.DecodeOutcome(r.ToolResult)
	}
	if r.EventName == "PostToolUseFailure" {
		o = transcript.CallOutcome{HasFailed: true, Output: r.Error}
	}
	if r.ExitStatus != nil {
		o.ExitStatus = r.ExitStatus
	}
	e.ID = r.ToolUseID
	if r.CallID != "" {
		e.ID = r.CallID
	}
	isSubAgentReport := out.Client == "gemini" && r.ToolName == geminiReportTool
	if r.ToolName == "" || isSubAgentReport {
		return
	}
	c, _ := clientfile.FindEventClient(out.Client)
	e.HasHookID = c.Hook.HasUnstableCallIDs && e.ID != ""
	r.ToolName = cmp.Or(c.Hook.ToolNames[r.ToolName], r.ToolName)
	if e, ok := transcript.CompleteCallEvent(e, r.ToolName, r.ToolInput, o, clean); ok {
		out.Events = append(out.Events, e)
		out.ToolName = r.ToolName
		out.ToolInput = r.ToolInput
		out.ToolOutput = toolOutput(r)
	}
	if out.Client != "gemini" {
		return
	}
	if agent, text := transcript.ExtractSubagentReply(r.ToolName, r.ToolInput, o.Output); clean(text) != "" {
		e.ID, e.SubAgent = "", agent
		out.addEvent(e, session.KindText, clean(text))
	}
}

// geminiReportTool is the tool with which a sub-agent of Gemini CLI reports its result. addToolEvents ignores this
// call, because the call that started the sub-agent returns the same result.
const geminiReportTool = "complete_task"

// toolOutput returns the result of a tool call, or nil if the client does not report it.
func toolOutput(r *clientfile.HookReport) json.RawMessage {
	for _, raw := range []json.RawMessage{r.ToolResult, r.ToolResponse} {
		if len(raw) > 0 && string(raw) != "null" {
			return raw
		}
	}
	if r.EventName == "PostToolUseFailure" && r.Error != "" {
		b, _ := json.Marshal(r.Error) // Encoding a string cannot fail.
		return b
	}
	return nil
}

func addTextEvent(out *CallReport, r *clientfile.HookReport, e session.Event, clean func(string) string) {
	if text := clean(r.AgentText); text != "" {
		e.ID = r.AgentTextID
		out.addEvent(e, session.KindText, text)
	}
}

func addCompactionEvent(out *CallReport, r *clientfile.HookReport, e session.Event, clean func(string) string) {
	e.ID = e.TurnID
	out.addEvent(e, session.KindCompact, transcript.ExtractSummaryText(r.CompactSummary, clean))
}

func addTurnEnd(out *CallReport, r *clientfile.HookReport, e session.Event, clean func(string) string) {
	if text := clean(cmp.Or(r.LastMessage, r.PromptResponse)); text != "" {
		out.addEvent(e, session.KindText, text)
	}
	if e.SubAgent == "" {
		out.EndsTurn = true
		out.addEvent(e, session.KindTurnEnd, "")
	}
}

// addSubagentStop adds the last message of a sub-agent to the report in the parameter out, after the sub-agent has
// ended. A sub-agent without a type is ignored, because Claude Code uses such a sub-agent to compact a conversation.
func addSubagentStop(out *CallReport, r *clientfile.HookReport, e session.Event, clean func(string) string) {
	if r.AgentType == "" {
		return
	}
	e.TranscriptPath = r.AgentTranscript
	if text := clean(r.LastMessage); text != "" {
		out.addEvent(e, session.KindText, text)
	}
}

func addSessionEnd(out *CallReport, r *clientfile.HookReport, e session.Event, _ func(string) string) {
	out.EndsTurn = true
	e.TurnID = ""
	out.addEvent(e, session.KindSessionEnd, r.Reason)
}

// NeedsContextWithFirstPrompt reports whether the client must receive the context for a session's start together with
// the first prompt, instead of at the start. This is true for Gemini CLI. At a session's start, Gemini CLI writes the
// hook's answer into a message that appears as the person's own prompt. When the session is resumed, Gemini CLI leaves
// this message out, so that the context would be lost.
func (r CallReport) NeedsContextWithFirstPrompt() bool {
	c, _ := clientfile.FindEventClient(r.Client)
	return c.Hook.NeedsStartContextAtPrompt
}

// ForgetsContextOnResume reports whether a resumed session of this client needs the context from its start again. The
// client then does not store this context together with the conversation. For example, opencode's plug-in adds the
// context to the system prompt, which opencode does not store.
func ForgetsContextOnResume(client string) bool {
	c, _ := clientfile.FindEventClient(client)
	return c.Hook.ForgetsSessionStartContext
}

// MaxContextBytes is the maximum length of a context, which is a text that a hook adds to a conversation. All clients
// accept a context of this length without truncating it. The length is measured in characters, although the name says
// bytes.
const MaxContextBytes = 9_500

// AcceptsContext reports whether the client adds an answer to the conversation, if a hook answers this report. It
// returns false unless the report is about a prompt or the start of a session. Some clients, such as Goose, ignore all
// answers. Other clients, such as Cursor and VS Code, ignore answers to a prompt.
func (r CallReport) AcceptsContext() bool {
	c, _ := clientfile.FindEventClient(r.Client)
	switch {
	case c.Hook.MakeAnswer == nil:
		return false
	case r.Prompt != "":
		return !c.Hook.IgnoresPromptAnswer
	}
	return r.SessionStartReason != ""
}

// EncodeAnswer returns the bytes to write to standard output, so that the client adds the argument contextText to its
// conversation. It returns nil if the context is empty, or if the client does not accept context for this report. If
// the context and the surrounding tags are longer than MaxContextBytes, it truncates the context and appends a note.
// Despite its name, the constant MaxContextBytes is compared with the number of characters.
func (r CallReport) EncodeAnswer(contextText string) []byte {
	contextText = strings.TrimSpace(contextText)
	if !r.AcceptsContext() || contextText == "" {
		return nil
	}
	const note = "\n… (there is more: recall)"
	if runes := []rune(contextText); len(runes) > MaxContextBytes-len(insertedBlockStart+insertedBlockEnd) {
		contextText = string(runes[:MaxContextBytes-len(insertedBlockStart+insertedBlockEnd+note)]) + note
	}
	c, _ := clientfile.FindEventClient(r.Client)
	return encodeContextAnswer(c.Hook.MakeAnswer, r.eventName, contextText)
}

// insertedBlockStart and insertedBlockEnd are the tags around the context in a hook's answer. If the context itself
// contains such tags, they must be made harmless. The pattern insertedTagPattern finds them.
const (
	insertedBlockStart = "<" + session.InsertedTagName + ">\n"
	insertedBlockEnd   = "\n</" + session.InsertedTagName + ">"
)

var insertedTagPattern = sync.OnceValue(
	func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(/?` + session.InsertedTagName + `)`) },
)

func encodeContextAnswer(makeAnswer func(event, context string) any, event, context string) []byte {
	b, err := json.Marshal(
		makeAnswer(event, insertedBlockStart+insertedTagPattern().ReplaceAllString(context, "< $1")+insertedBlockEnd),
	)
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// EncodeToolAnswer returns the bytes to write to standard output, so that the client passes the context to its model
// before running a tool. It returns nil if the client does not support this.
func EncodeToolAnswer(client, context string) []byte {
	c, _ := clientfile.FindEventClient(client)
	if c.Hook.MakePreToolAnswer == nil {
		return nil
	}
	return encodeContextAnswer(c.Hook.MakePreToolAnswer, "PreToolUse", context)
}

//go:embed opencode.js
var pluginSource string

// OpencodePluginSource returns the JavaScript source of the plug-in for opencode. The plug-in runs the command as its
// hook.
func OpencodePluginSource(command []string) ([]byte, error) {
	b, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Replace(pluginSource, `["oxbow", "hook", "opencode"]`, string(b), 1)), nil
}
