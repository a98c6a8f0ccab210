// This file reads sessions of opencode. A current opencode stores its sessions in a database, which another file
// reads. This file reads three other forms.
//
// The command "opencode export" writes a document, {"info":{"id","directory","parentID"},"messages":[{"info":
// {"id","role","modelID","time"},"parts":[{"id","type":"text"|"reasoning"|"tool","text","synthetic",
// "tool","callID","state":{"status","input","output","error","metadata","time"}}]}]}.
//
// oxbow's plug-in for opencode reports what happens in a session to oxbow's hook, one JSON object a line:
// {"hook_event_name":"UserPromptSubmit"|"AgentText"|"PostToolUse"|…,"session_id","turn_id","cwd","timestamp",
// "agent_type","prompt","text","tool_name","tool_use_id","tool_input","model"}.
// Between these lines there may be the hook's own shorter records of other reports:
// {"client":"opencode","kind":"prompt"|"text"|"call","session","agent","text","call":{"wrote"}}.
//
// Versions before the database stored the same objects in files below the directory storage:
// session/PROJECT/SESSION.json, message/SESSION/MESSAGE.json and part/MESSAGE/PART.json. The first versions stored
// them below project/PROJECT/storage/session: info/SESSION.json, message/SESSION/MESSAGE.json and
// part/SESSION/MESSAGE/PART.json. The files of such a session are joined to one document, which is read like an
// exported document.

package clientfile

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// opencodeLine is a whole session document, a hook report, or a hook's note.
type opencodeLine struct {
	Info struct {
		ID     string `json:"id"`
		Dir    string `json:"directory"`
		Parent string `json:"parentID"`
		Agent  string `json:"agent"`
	} `json:"info"`
	Messages []json.RawMessage `json:"messages"`

	EventName    string          `json:"hook_event_name"`
	SessionID    string          `json:"session_id"`
	TurnID       string          `json:"turn_id"`
	WorkingDir   string          `json:"cwd"`
	Time         time.Time       `json:"timestamp"`
	AgentType    string          `json:"agent_type"`
	Prompt       string          `json:"prompt"`
	Text         string          `json:"text"`
	TextID       string          `json:"text_id"`
	ToolName     string          `json:"tool_name"`
	ToolUseID    string          `json:"tool_use_id"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolResponse json.RawMessage `json:"tool_response"`
	ToolMetadata json.RawMessage `json:"tool_metadata"`
	Error        string          `json:"error"`
	Model        string          `json:"model"`

	PluginNoteKind    string    `json:"kind"`
	PluginNoteClient  string    `json:"client"`
	PluginNoteSession string    `json:"session"`
	PluginNoteTurn    string    `json:"turn"`
	PluginNoteTime    time.Time `json:"time"`
	PluginNoteDir     string    `json:"dir"`
	PluginNoteAgent   string    `json:"agent"`
	PluginNoteCall    struct {
		Wrote []string `json:"wrote"`
	} `json:"call"`
}

// opencodeMessage is a message in a session document.
type opencodeMessage struct {
	Info struct {
		ID    string `json:"id"`
		Role  string `json:"role"`
		Model string `json:"modelID"`
		Time  struct {
			Created int `json:"created"`
		} `json:"time"`
		IsSummary bool           `json:"summary"` // The agent's text is a compaction's summary.
		Parts     []opencodePart `json:"parts"`   // the message's parts in files of the first opencode versions
	} `json:"info"`
	Parts []opencodePart `json:"parts"`
}

// opencodePart is a part of a message, such as a text or a call.
type opencodePart struct {
	ID          string `json:"id"`
	Type        string `json:"type"`
	Text        string `json:"text"`
	Prompt      string `json:"prompt"` // the task for a sub-agent, set only if Type is "subtask"
	IsSynthetic bool   `json:"synthetic"`
	IsIgnored   bool   `json:"ignored"`
	Tool        string `json:"tool"`
	CallID      string `json:"callID"`
	State       struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   string          `json:"output"`
		Error    string          `json:"error"`
		Metadata json.RawMessage `json:"metadata"`
		Time     struct {
			End int `json:"end"`
		} `json:"time"`
	} `json:"state"`
}

// isOpencodeLine reports whether only opencode can have written a line.
func isOpencodeLine(line []byte) bool {
	var l opencodeLine
	return DecodeObject(line, &l) && l.hasOpencodeID() &&
		(l.Messages != nil || l.EventName != "" || l.PluginNoteKind != "")
}

// hasOpencodeID reports whether the line is about a session of opencode. The IDs of these sessions have a prefix.
// Without this check, the reports of other clients' hooks would be read, because they have the same form.
func (l *opencodeLine) hasOpencodeID() bool {
	const prefix = "ses_"
	switch {
	case l.Messages != nil:
		return strings.HasPrefix(l.Info.ID, prefix)
	case l.EventName != "":
		return strings.HasPrefix(l.SessionID, prefix)
	}
	return l.PluginNoteClient == "opencode"
}

// opencodeReader reads one session of opencode. It keeps the state between two lines.
type opencodeReader struct {
	model string

	// isPersonCommandNext is set if the next message of the agent contains a command that the person ran.
	isPersonCommandNext bool
}

// personCommandNotice is the text that opencode adds in the person's name after the person has run a command.
const personCommandNotice = "The following tool was executed by the user"

// opencodeIgnoredPartTypes contains the part types that remain unreported, because such parts do not belong to the
// conversation.
var opencodeIgnoredPartTypes = lazyWordSet("agent patch retry snapshot step-finish step-start")

func newOpencodeReader(string) EventReader { return &opencodeReader{} }

// ParseLine implements [EventReader].
func (o *opencodeReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var l opencodeLine
	if !DecodeObject(line, &l) || !l.hasOpencodeID() {
		return false
	}
	o.model = cmp.Or(l.Model, o.model)
	e := Event{Offset: offset, Model: o.model}
	switch {
	case l.Messages != nil:
		o.reportDocument(&l, e, yield)
	case l.EventName != "":
		e.Session, e.WorkingDir = l.SessionID, l.WorkingDir
		e.Time = l.Time
		e.setSubAgent(l.AgentType)
		l.reportHookEvent(e, yield)
	default:
		e.Session, e.WorkingDir = l.PluginNoteSession, l.PluginNoteDir
		e.Time = l.PluginNoteTime
		e.setSubAgent(l.PluginNoteAgent)
		l.reportHookNote(e, yield)
	}
	return true
}

// setSubAgent sets the ID, the name and the type of the event's sub-agent to the argument name, because opencode stores
// nothing else about a sub-agent.
func (e *Event) setSubAgent(name string) {
	e.AgentID = name
	e.AgentName, e.AgentType = name, name
}

// reportDocument reports the events of a session document.
func (o *opencodeReader) reportDocument(l *opencodeLine, e Event, yield func(*Event)) {
	e.Session, e.WorkingDir = l.Info.ID, l.Info.Dir
	if l.Info.Parent != "" {
		e.Session = l.Info.Parent
		e.setSubAgent(cmp.Or(l.Info.Agent, "subagent"))
	}
	for i, raw := range l.Messages {
		e.RecordName = recordName("messages", i)
		var m opencodeMessage
		if !DecodeObject(raw, &m) {
			e.reportUnreadRecord(yield)
			continue
		}
		m.Parts = append(m.Parts, m.Info.Parts...)
		e.Time = timeFromMilliseconds(m.Info.Time.Created)
		switch m.Info.Role {
		case "user":
			o.isPersonCommandNext = m.reportPrompt(e, yield)
			continue
		case "assistant":
		default:
			e.reportUnknownPart("messages", m.Info.Role, yield)
			continue
		}
		o.model = cmp.Or(m.Info.Model, o.model)
		e.Model = o.model
		for k := range m.Parts {
			p := &m.Parts[k]
			if o.isPersonCommandNext && p.Type == "tool" {
				p.Tool = PersonShellTool
			}
			p.reportEvents(e, m.Info.IsSummary, yield)
		}
		o.isPersonCommandNext = false
	}
}

// reportPrompt reports the prompt in a user's message. It leaves out the parts that a program wrote in the person's
// name. It returns true if the person ran a command. The command is then in the next message.
func (m *opencodeMessage) reportPrompt(e Event, yield func(*Event)) (isPersonCommand bool) {
	e.ID = m.Info.ID
	e.TurnID = m.Info.ID
	var said, files []string
	for _, p := range m.Parts {
		isByProgram := p.IsSynthetic || p.IsIgnored
		switch {
		case isByProgram:
			isPersonCommand = isPersonCommand || strings.HasPrefix(p.Text, personCommandNotice)
		case p.Type == "text":
			said = append(said, p.Text)
		case p.Type == "subtask":
			said = append(said, p.Prompt)
		case p.Type == "file":
			files = append(files, "[file]")
		case p.Type == "compaction":
			e.Kind = EventConversationCompacted
			yield(&e)
		case !opencodeIgnoredPartTypes()[p.Type]:
			e.reportUnknownPart("parts", p.Type, yield)
		}
	}
	text := strings.TrimSpace(strings.Join(said, "\n"))
	if text == "" {
		text = strings.Join(files, "\n")
	} else {
		e.reportNonTextParts(nonTextFilesText, len(files), yield)
	}
	e.Kind, e.Text = EventPrompt, RemoveArgumentQuotes("opencode", text)
	if e.Text != "" {
		yield(&e)
	}
	return isPersonCommand
}

// reportEvents reports the text, the reasoning or the call in a part of the agent's message. If isSummary is set, a
// text is a compaction's summary.
func (p *opencodePart) reportEvents(e Event, isSummary bool, yield func(*Event)) {
	e.ID = p.ID
	switch {
	case p.Type == "text" && p.IsSynthetic:
	case p.Type == "text":
		e.Kind, e.Text = EventText, p.Text
		if isSummary {
			e.Kind = EventConversationCompacted
		}
		yield(&e)
	case p.Type == "compaction":
		e.Kind, e.Text = EventConversationCompacted, p.Text
		yield(&e)
	case p.Type == "reasoning":
		e.Kind, e.Text = EventAgentThought, p.Text
		yield(&e)
	case p.Type == "tool":
		s := &p.State
		if s.Time.End > 0 {
			e.Time = timeFromMilliseconds(s.Time.End)
		}
		e.Kind, e.ID = EventToolCall, p.CallID
		e.ToolName, e.Args = p.Tool, s.Input
		yield(&e)
		if s.Status != "completed" && s.Status != "error" {
			return // A call that has not ended has no result to report.
		}
		var metadata struct {
			Exit *int `json:"exit"`
		}
		_ = DecodeObject(s.Metadata, &metadata) // Ignore the error: only commands have an exit status.
		e.Kind = EventToolResult
		e.ToolName, e.Args = "", nil
		e.HasFailed = s.Status == "error"
		e.ExitStatus = metadata.Exit
		e.decodedResultText = s.Output + s.Error
		e.ResultDisplayData = s.Metadata
		yield(&e)
	case p.Type == "file":
		e.reportNonTextParts(nonTextFilesText, 1, yield)
	case !opencodeIgnoredPartTypes()[p.Type]:
		e.reportUnknownPart("parts", p.Type, yield)
	}
}

// reportHookEvent reports the event that opencode passed to a hook, such as a prompt or a tool call, and that the hook
// stored as a line.
func (l *opencodeLine) reportHookEvent(e Event, yield func(*Event)) {
	switch l.EventName {
	case "UserPromptSubmit":
		e.Kind, e.Text = EventPrompt, RemoveArgumentQuotes("opencode", l.Prompt)
		e.TurnID = l.TurnID
		yield(&e)
	case "AgentText":
		e.Kind, e.Text = EventText, l.Text
		e.ID = l.TextID
		yield(&e)
	case "PostToolUse", "PostToolUseFailure":
		if l.ToolUseID == "" {
			return
		}
		e.Kind, e.ID = EventToolCall, l.ToolUseID
		e.ToolName, e.Args = l.ToolName, l.ToolInput
		yield(&e)
		e.Kind = EventToolResult
		e.ToolName, e.Args = "", nil
		e.HasFailed = l.EventName != "PostToolUse"
		e.decodedResultText = ContentText(l.ToolResponse) + l.Error
		e.ResultDisplayData = l.ToolMetadata
		yield(&e)
	}
}

// reportHookNote completes the event e with the data of the note in l, and passes e to the function yield. A hook of
// oxbow stores such a note about a prompt, a text by the agent or a tool call. A tool call is reported only if it wrote
// files.
func (l *opencodeLine) reportHookNote(e Event, yield func(*Event)) {
	e.Text = l.Text
	switch l.PluginNoteKind {
	case "prompt":
		e.Kind, e.TurnID = EventPrompt, l.PluginNoteTurn
		yield(&e)
	case "text":
		e.Kind = EventText
		yield(&e)
	case "call":
		if len(l.PluginNoteCall.Wrote) > 0 {
			e.Kind = EventFileEdit
			yield(&e)
		}
	}
}

// timeFromMilliseconds converts milliseconds since 1970 to a time. It returns the zero time if ms is not positive.
func timeFromMilliseconds(ms int) time.Time {
	if ms <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// makeOpencodeResultLine returns the report about a call's result unchanged. No conversion is needed, because oxbow
// stores such reports and uses them as the transcript of opencode. The second argument, which is the call's ID, is
// ignored.
func makeOpencodeResultLine(r *HookReport, _ string) any { return r }

// isOpencodeDatabaseFile reports whether a path names the database of opencode. Development versions add their
// channel to the name.
func isOpencodeDatabaseFile(path string) bool {
	base := filepath.Base(path)
	return strings.HasPrefix(base, "opencode") && strings.HasSuffix(base, ".db")
}

// isOpencodeSessionFile reports whether a path names a file that describes a session of opencode. Only versions of
// opencode that did not use a database wrote such files.
func isOpencodeSessionFile(path string) bool {
	path = filepath.ToSlash(path)
	isSession := strings.HasPrefix(filepath.Base(path), "ses_") && strings.HasSuffix(path, ".json")
	return isSession && (strings.Contains(path, "/storage/session/info/") ||
		filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(path)))) == "storage")
}

// readStoredSession returns a session as one JSON document. It is for old versions of opencode, which stored each
// message in a file of its own and not in a database. A message that cannot be read becomes null, so that the reader
// of the document counts it as unread.
func readStoredSession(path string) ([]byte, error) {
	info, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	id := strings.TrimSuffix(filepath.Base(path), ".json")
	storage := filepath.Dir(filepath.Dir(filepath.Dir(path)))
	messages, parts := filepath.Join(storage, "message", id), filepath.Join(storage, "part")
	if filepath.Base(filepath.Dir(path)) == "info" {
		session := filepath.Dir(filepath.Dir(path))
		messages, parts = filepath.Join(session, "message", id), filepath.Join(session, "part", id)
	}
	type message struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	}
	var document struct {
		Info     json.RawMessage `json:"info"`
		Messages []any           `json:"messages"`
	}
	document.Info = jsonOrNull(info)
	names, stored, err := readJSONFiles(messages)
	if err != nil {
		return nil, err
	}
	for i, m := range stored {
		_, all, err := readJSONFiles(filepath.Join(parts, names[i]))
		if err != nil {
			return nil, err
		}
		if string(m) == "null" {
			document.Messages = append(document.Messages, nil)
			continue
		}
		document.Messages = append(document.Messages, message{m, all})
	}
	return json.MarshalIndent(document, "", " ")
}

// readJSONFiles returns the names, without .json, and the contents of the JSON files in a directory, sorted by name.
// It returns nothing if the directory does not exist.
func readJSONFiles(dir string) (names []string, contents []json.RawMessage, err error) {
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	for _, f := range files {
		name, isJSON := strings.CutSuffix(f.Name(), ".json")
		if !isJSON {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			return nil, nil, err
		}
		names, contents = append(names, name), append(contents, jsonOrNull(b))
	}
	return names, contents, err
}

// jsonOrNull returns b if b is JSON, and otherwise the JSON value null.
func jsonOrNull(b []byte) json.RawMessage {
	if json.Valid(b) {
		return b
	}
	return json.RawMessage("null")
}
