// What the hooks of clients say, as events, and what they are answered.

// Package hook reads what clients give their hooks on standard input and makes
// events of it, and it writes an answer as a client wants it.
//
// All give an object with much the same names of fields, and so does the plug-in
// for opencode ([Plugin]). Gemini CLI and Copilot CLI name neither the prompt nor
// the call that a report is about; [session.Fold] finds out.
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

	"github.com/oxbow-memory/oxbow/internal/agent/clientline"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
	"github.com/oxbow-memory/oxbow/internal/agent/session/transcript"
)

// Env is what an adapter may know besides the report.
type Env struct {
	Now   time.Time
	Clean func(string) string // takes out what may not be kept: secrets, and what hooks put into prompts

	// CopilotHome is where Copilot CLI keeps its sessions.
	CopilotHome string
}

// Report is what one call of a hook says.
type Report struct {
	Client string
	Events []session.Event

	// Source is how a session began, of the report that it did, and Prompt what a
	// person wrote, of the report of that; "" of others, which are not answered.
	Source string
	Prompt string

	// Wrong says why what the hook was given is no report; "" for one, and for none at all.
	Wrong string

	// Final reports that a turn or a session has ended.
	Final bool

	// Tool, Input and Output are of a call: its name, its arguments and what it returned,
	// as the client reports them. Output is nil if the client does not report it.
	Tool          string
	Input, Output json.RawMessage

	event string // as the client names it
}

// adapter is what is special about a client.
type adapter struct {
	events []string // those that are reported; others are passed over

	// answer is the object that gives context to the client.
	answer func(event, context string) any
}

// named is the answer that names its event, as most clients want it.
func named(event, context string) any {
	return map[string]any{
		"suppressOutput":     true,
		"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
	}
}

// spoken are the events of clients that name prompts and calls.
var spoken = []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PostCompact",
	"SubagentStop", "Stop", "SessionEnd", "AgentText"}

var adapters = map[string]adapter{
	"claude":   {spoken, named},
	"codex":    {spoken, named},
	"qwen":     {spoken, named},
	"opencode": {spoken, func(_, context string) any { return map[string]any{"context": context} }},
	"gemini":   {[]string{"SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd"}, named},
	"copilot": {
		[]string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "Stop", "SessionEnd"},
		func(_, context string) any {
			return map[string]any{"additionalContext": context}
		},
	},
}

// Clients are the clients whose hooks are known.
func Clients() []string {
	return []string{"claude", "codex", "gemini", "opencode", "copilot", "qwen"}
}

// Read reads what a client gave its hook. What is not known, or is no such
// report, has no events.
func Read(client string, stdin []byte, env Env) Report {
	out := Report{Client: client}
	r, ok := clientline.ReadReport(stdin)
	if known, there := adapters[client]; !there {
		out.Wrong = "there is no such client; oxbow setup writes hooks of those that are known"
		return out
	} else if !ok {
		if len(bytes.TrimSpace(stdin)) > 0 {
			out.Wrong = "it is no report, which is JSON with a session_id"
		}
		return out
	} else if !slices.Contains(known.events, r.Event) {
		return out
	}
	e := session.Event{
		Client: client, Session: cmp.Or(r.Parent, r.Session), Turn: r.Turn + r.PromptID, Time: r.Time, Dir: r.Dir,
		Agent: agentOf(r, client), Model: r.Model, Transcript: r.Transcript,
	}
	if !session.ValidID(e.Session) {
		out.Wrong = fmt.Sprintf("its session_id %.80q is no identifier of a session", e.Session)
		return out
	}
	if e.Time.IsZero() {
		e.Time = env.Now
	}
	if client == "copilot" && e.Transcript == "" && env.CopilotHome != "" && filepath.IsLocal(e.Session) {
		e.Transcript = filepath.Join(env.CopilotHome, "session-state", e.Session, "events.jsonl")
	}
	if e.Agent != "" && client == "codex" {
		e.Turn = "" // the sub-agent's own, which is in no person's turn
	}
	out.event = r.Event
	events[r.Event](&out, &r, e, env.Clean)
	return out
}

// agentOf returns the sub-agent that a report is of, as transcripts name it.
func agentOf(r clientline.Report, client string) string {
	switch {
	case client == "opencode":
		return r.AgentType
	case r.AgentID == "": // the type alone is that of the main one
		return ""
	case client == "qwen" || r.AgentType == "":
		return r.AgentID
	}
	return r.AgentType
}

// events are how a report becomes events, by the names that clients give them.
var events = map[string]func(out *Report, r *clientline.Report, e session.Event, clean func(string) string){
	"SessionStart":       sessionStart,
	"UserPromptSubmit":   promptSubmit,
	"PostToolUse":        toolUse,
	"PostToolUseFailure": toolUse,
	"AgentText":          agentText,
	"PostCompact":        compacted,
	"Stop":               stopped,
	"BeforeAgent":        promptSubmit,
	"AfterTool":          toolUse,
	"AfterAgent":         stopped,
	"SubagentStop":       subagentStop,
	"SessionEnd":         sessionEnd,
}

func (out *Report) add(e session.Event, kind session.Kind, text string) {
	e.Kind, e.Text = kind, text
	out.Events = append(out.Events, e)
}

// sources are how a session may begin, where clients have other words.
var sources = map[string]string{"new": "startup", "": "startup"}

func sessionStart(out *Report, r *clientline.Report, e session.Event, _ func(string) string) {
	if e.Agent != "" {
		return
	}
	out.Source = r.Source
	if s, ok := sources[r.Source]; ok {
		out.Source = s
	}
	e.Turn = ""
	out.add(e, session.Start, out.Source)
}

// promptSubmit passes over what no person wrote: the task of a sub-agent, what
// the client says in the person's place, and the empty prompts that Qwen Code
// reports once a round.
func promptSubmit(out *Report, r *clientline.Report, e session.Event, clean func(string) string) {
	if r.AgentID != "" || e.Agent != "" ||
		slices.Contains([]string{"system", "loop_wakeup", "task_notification"}, r.Source) {
		return
	}
	out.Prompt = transcript.PromptText(transcript.Unquoted(out.Client, r.Prompt), clean)
	if out.Prompt != "" {
		out.add(e, session.Prompt, out.Prompt)
	}
}

func toolUse(out *Report, r *clientline.Report, e session.Event, clean func(string) string) {
	o := transcript.OutcomeOf(r.Response)
	if len(r.Result) > 0 {
		o = transcript.OutcomeOf(r.Result)
	}
	if r.Event == "PostToolUseFailure" {
		o = transcript.Outcome{Failed: true, Output: r.Error}
	}
	if r.Exit != nil {
		o.Exit = r.Exit
	}
	e.ID = r.UseID
	if r.CallID != "" {
		e.ID = r.CallID
	}
	if r.Tool == "" || (out.Client == "gemini" && r.Tool == endOfSubagent) {
		return
	}
	if out.Client == "copilot" {
		r.Tool = cmp.Or(copilotTools[r.Tool], r.Tool)
	}
	if e, ok := transcript.Called(e, r.Tool, r.Input, o, clean); ok {
		out.Events = append(out.Events, e)
		out.Tool = r.Tool
		out.Input = r.Input
		out.Output = outputOf(r)
	}
	if out.Client != "gemini" {
		return
	}
	if agent, text := transcript.SubagentSaid(r.Tool, r.Input, o.Output); clean(text) != "" {
		e.ID, e.Agent = "", agent
		out.add(e, session.Text, clean(text))
	}
}

// endOfSubagent is the tool by which a sub-agent of Gemini CLI reports its result, which the call
// that started it returns.
const endOfSubagent = "complete_task"

// outputOf returns what a call returned, or nil if the client does not report it.
func outputOf(r *clientline.Report) json.RawMessage {
	for _, raw := range []json.RawMessage{r.Result, r.Response} {
		if len(raw) > 0 && string(raw) != "null" {
			return raw
		}
	}
	if r.Event == "PostToolUseFailure" && r.Error != "" {
		b, _ := json.Marshal(r.Error) // of a string
		return b
	}
	return nil
}

// copilotTools are the names of tools in transcripts, by those that Copilot CLI
// gives hooks in the manner of Claude Code.
var copilotTools = map[string]string{"Read": "view", "Edit": "edit", "Write": "create", "Bash": "bash",
	"Agent": "task", "Glob": "glob", "Grep": "grep", "WebFetch": "web_fetch", "WebSearch": "web_search"}

func agentText(out *Report, r *clientline.Report, e session.Event, clean func(string) string) {
	if text := clean(r.Text); text != "" {
		e.ID = r.TextID
		out.add(e, session.Text, text)
	}
}

func compacted(out *Report, r *clientline.Report, e session.Event, clean func(string) string) {
	e.ID = e.Turn
	out.add(e, session.Compact, transcript.SummaryText(r.Summary, clean))
}

func stopped(out *Report, r *clientline.Report, e session.Event, clean func(string) string) {
	if text := clean(cmp.Or(r.Last, r.Said)); text != "" {
		out.add(e, session.Text, text)
	}
	if e.Agent == "" {
		out.Final = true
		out.add(e, session.Stop, "")
	}
}

// subagentStop passes over the agent by which Claude Code compacts: it has no
// type.
func subagentStop(out *Report, r *clientline.Report, e session.Event, clean func(string) string) {
	if r.AgentType == "" {
		return
	}
	e.Transcript = r.AgentTranscript
	if text := clean(r.Last); text != "" {
		out.add(e, session.Text, text)
	}
}

func sessionEnd(out *Report, r *clientline.Report, e session.Event, _ func(string) string) {
	out.Final = true
	e.Turn = ""
	out.add(e, session.End, r.Reason)
}

// StartsLate reports whether the client is given what a session begins with at the first
// prompt, and not at the start. Gemini CLI writes what its hook of the start says into the
// person's prompt, and leaves that prompt out when the session is resumed.
func (r Report) StartsLate() bool { return r.Client == "gemini" }

// ForgetsStart reports whether a client does not keep, with the conversation, what its model
// was given when the session began, so that a resumed session needs it again. The plug-in
// for opencode puts it into the system prompt, which opencode does not store.
func ForgetsStart(client string) bool {
	return client == "opencode" || client == "copilot" || client == "qwen"
}

// MaxContext is the most characters of context that every client takes whole.
const MaxContext = 9_500

// Answer returns what is written to standard output to give the client context;
// nothing where it would not be heard, or does harm.
func (r Report) Answer(context string) []byte {
	context = strings.TrimSpace(context)
	if (r.Source == "" && r.Prompt == "") || context == "" {
		return nil
	}
	const note = "\n… (there is more: recall)"
	if runes := []rune(context); len(runes) > MaxContext-len(begin+end) {
		context = string(runes[:MaxContext-len(begin+end+note)]) + note
	}
	return reply(adapters[r.Client].answer, r.event, context)
}

// The fence in which context stands, and its tags in a context, where they are none.
const begin, end = "<" + session.Fence + ">\n", "\n</" + session.Fence + ">"

var fenceTag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(/?` + session.Fence + `)`) })

func reply(answer func(event, context string) any, event, context string) []byte {
	b, err := json.Marshal(answer(event, begin+fenceTag().ReplaceAllString(context, "< $1")+end))
	if err != nil {
		return nil
	}
	return append(b, '\n')
}

// Before returns what is written to standard output to give the client context before a
// tool is used; nothing for a client that does not give it to the model.
func Before(client, context string) []byte {
	answer := adapters[client].answer
	switch client {
	case "claude", "codex": // Codex takes no other field here
		answer = func(event, context string) any {
			return map[string]any{
				"hookSpecificOutput": map[string]any{"hookEventName": event, "additionalContext": context},
			}
		}
	case "copilot":
	default:
		return nil
	}
	return reply(answer, "PreToolUse", context)
}

//go:embed opencode.js
var plugin string

// Plugin returns the text of the plug-in for opencode that runs a command.
func Plugin(command []string) ([]byte, error) {
	b, err := json.Marshal(command)
	if err != nil {
		return nil, err
	}
	return []byte(strings.Replace(plugin, `["oxbow", "hook", "opencode"]`, string(b), 1)), nil
}
