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

// geminiLine is a line of Gemini CLI: the header of a session, a message, or a change of the session.
type geminiLine struct {
	Session  string            `json:"sessionId"`
	Start    string            `json:"startTime"`
	Kind     string            `json:"kind"`
	ID       string            `json:"id"`
	Time     time.Time         `json:"timestamp"`
	Type     string            `json:"type"`
	Content  json.RawMessage   `json:"content"`
	Display  json.RawMessage   `json:"displayContent"` // what the person typed, without inserted files
	Model    string            `json:"model"`
	Thoughts []geminiThought   `json:"thoughts"`
	Calls    []geminiCall      `json:"toolCalls"`
	Messages []json.RawMessage `json:"messages"`
	Set      json.RawMessage   `json:"$set"`
	Rewind   string            `json:"$rewindTo"`
}

type geminiThought struct {
	Subject     string `json:"subject"`
	Description string `json:"description"`
}

// geminiCall is a tool call in a message.
type geminiCall struct {
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Args    json.RawMessage `json:"args"`
	Status  string          `json:"status"`
	Time    time.Time       `json:"timestamp"`
	Display json.RawMessage `json:"resultDisplay"`
	Result  []struct {
		Response struct {
			Response answer `json:"response"`
		} `json:"functionResponse"`
	} `json:"result"`
}

// answer is the result of a tool in Gemini CLI or Qwen Code.
type answer struct {
	Output string `json:"output"`
	Error  string `json:"error"`
}

// isGemini recognizes the header and the document.
func isGemini(line []byte) bool {
	var l geminiLine
	if !Decode(line, &l) || l.Session == "" {
		return false
	}
	isMessage := l.ID != "" || l.Type != ""
	return !isMessage && (l.Start != "" || l.Messages != nil)
}

// gemini is the state of reading a transcript.
type gemini struct {
	session, dir, agent string
	model               string

	messages map[string]*geminiMessage // by ID
	current  *geminiMessage            // the message that is being read
	node     string                    // ID of the last message with events
	last     string                    // ID of the last message
	ended    map[string]bool           // IDs of the calls with a result

	shell personShell
}

// geminiMessage is the part of a message that was reported. The message may grow.
type geminiMessage struct {
	before   string // ID of the previous message with events
	text     string
	thoughts int             // number of thoughts
	calls    map[string]bool // IDs of calls
}

func newGemini(path string) EventReader {
	if isPromptList(path) {
		return newPromptList(path, "chats")
	}
	g := &gemini{messages: map[string]*geminiMessage{}, ended: map[string]bool{}}
	chats := filepath.Dir(path)
	if parent := filepath.Dir(chats); filepath.Base(parent) == "chats" {
		g.session, g.agent = filepath.Base(chats), "sub-agent"
		chats = parent
	}
	if path != "" {
		g.dir = geminiRoot(filepath.Dir(chats))
	}
	return g
}

// ReadLine implements [EventReader].
func (g *gemini) ReadLine(line []byte, offset int64, yield func(*Event)) bool {
	var l geminiLine
	if !Decode(line, &l) {
		return false
	}
	switch {
	case l.Rewind != "":
		g.last, g.node = "", "" // the client removes all messages if it does not know the ID
		if m := g.messages[l.Rewind]; m != nil {
			g.last, g.node = m.before, m.before
		}
	case l.Type != "":
		g.message(&l, isLine, offset, yield)
	case l.Session != "":
		if g.agent == "" {
			g.session = l.Session
		}
		if l.Kind != "" && l.Kind != "main" {
			g.agent = "sub-agent"
		}
	case l.Set == nil:
		(&Event{Offset: offset, Session: g.session}).reportUnknown("lines", "", yield)
	}
	var set struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if l.Set != nil {
		Decode(l.Set, &set)
	}
	isRead := true
	for _, messages := range [][]json.RawMessage{l.Messages, set.Messages} {
		for _, message := range messages {
			var m geminiLine
			if !Decode(message, &m) {
				isRead = false
				continue
			}
			g.message(&m, inList, offset, yield)
		}
	}
	return isRead
}

// geminiPlace is the place of a message: a line of its own, or a list of messages.
type geminiPlace int

const (
	isLine geminiPlace = iota
	inList
)

// message reports the parts of a message that were not reported before.
func (g *gemini) message(m *geminiLine, place geminiPlace, offset int64, yield func(*Event)) {
	known := g.messages[m.ID]
	switch {
	case known == nil || m.ID == "":
		g.current = &geminiMessage{before: g.node, calls: map[string]bool{}}
		g.messages[m.ID], g.last = g.current, m.ID
	case m.ID != g.last && place == inList:
		return // messages are repeated when a session is resumed, and may be shorter then
	default: // the message has grown, perhaps after the person wrote the next one
		g.current = known
	}
	e := Event{Offset: offset, Time: m.Time, ID: m.ID, Node: m.ID, Parent: g.current.before, Session: g.session,
		Dir: g.dir, AgentID: g.agent, Model: g.model}
	report := func(e *Event) {
		g.node = m.ID
		yield(e)
	}
	switch m.Type {
	case "user":
		g.user(m, e, report)
	case "gemini", "qwen": // a document of Qwen Code may have its own name here
		g.model = cmp.Or(m.Model, g.model)
		e.Model = g.model
		g.agentMessage(m, e, report)
	case "info", "error", "warning": // texts by the client
	default:
		if known == nil {
			e.reportUnknown("messages", m.Type, yield)
		}
	}
}

// user reports a text in the person's name. A message that contains only the results of calls has no
// text.
func (g *gemini) user(m *geminiLine, e Event, yield func(*Event)) {
	text := cmp.Or(Text(m.Display), Text(m.Content), attachmentText(m.Content))
	if text == "" || text == g.current.text {
		return
	}
	g.current.text = text
	if g.shell.report(e, text, yield) {
		return
	}
	if cmp.Or(Text(m.Display), Text(m.Content)) != "" {
		e.reportLeftOut(leftFiles, countFiles(m.Content), yield)
	}
	e.Kind, e.Text = EventPrompt, text
	e.Turn = m.ID
	if strings.HasPrefix(strings.TrimSpace(text), "<state_snapshot>") {
		e.Kind, e.Turn = EventCompacted, ""
	}
	yield(&e)
}

// agentMessage reports the reasoning, the text and the calls of a message by the agent.
func (g *gemini) agentMessage(m *geminiLine, e Event, yield func(*Event)) {
	e.Kind = EventThought
	for _, t := range m.Thoughts[min(g.current.thoughts, len(m.Thoughts)):] {
		e.Text = strings.TrimSpace(t.Subject + "\n" + t.Description)
		yield(&e)
	}
	g.current.thoughts = len(m.Thoughts)
	if text := Text(m.Content); text != "" && text != g.current.text {
		g.current.text = text
		e.Kind, e.Text = EventText, text
		yield(&e)
	}
	e.Text = ""
	for i := range m.Calls {
		g.call(&m.Calls[i], e, yield)
	}
}

// call reports a call and its result.
func (g *gemini) call(c *geminiCall, e Event, yield func(*Event)) {
	e.ID = c.ID
	if !c.Time.IsZero() {
		e.Time = c.Time
	}
	if g.ended[c.ID] {
		return
	}
	if !g.current.calls[c.ID] {
		e.Kind = EventCall
		e.Tool, e.Args = c.Name, c.Args
		yield(&e)
	}
	if c.ID != "" {
		g.current.calls[c.ID] = true
	}
	switch c.Status {
	case "success", "error", "cancelled", "": // a call with another status has not ended
	default:
		return
	}
	g.ended[c.ID] = c.ID != ""
	e.Kind = EventResult
	e.Tool, e.Args = "", nil
	e.Failed = c.Status == "error" || c.Status == "cancelled"
	for _, r := range c.Result {
		e.output += r.Response.Response.Output + r.Response.Response.Error
	}
	e.Silent = OutputFirst(e.output)
	e.Shown = c.Display
	yield(&e)
}

// OutputFirst reports whether an answer is Gemini CLI's for a finished command, which contains the
// exit status only if it is not 0.
func OutputFirst(answer string) bool {
	return strings.HasPrefix(strings.TrimPrefix(answer, "<untrusted_context>\n"), "Output: ")
}

// geminiAnswer returns the line for the result of a call. It contains no ID, because the arguments
// identify the call.
func geminiAnswer(r *Report, _ string) any {
	status, shown := r.outcome()
	call := map[string]any{"name": r.Tool, "args": r.Input, "status": status, "resultDisplay": shown}
	return map[string]any{"type": "gemini", "toolCalls": []any{call}}
}
