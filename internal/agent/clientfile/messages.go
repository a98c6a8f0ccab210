// This file helps to read clients that store a session as a list of messages. Such a file is read as a whole,
// because the client rewrites it.

package clientfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// messageReporter reports the events of a message list. Each event is a copy of the embedded event, which contains the
// session, the time and other values from the current message.
type messageReporter struct {
	Event
	yieldEvent func(*Event)
	eventCount int // number of events reported from the current message
}

// noEventKind is the kind of a text that is not reported, because a program wrote it in the person's name.
const noEventKind EventKind = 0

// beginMessage sets the ID and the time for the events that follow. If sentTime is zero, the previous message's time
// is kept.
func (m *messageReporter) beginMessage(id string, sentTime time.Time) {
	m.ID = id
	m.eventCount = 0
	if !sentTime.IsZero() {
		m.Time = sentTime
	}
}

// beginNumberedMessage is like beginMessage, for clients that store no message IDs. The message's number becomes its
// ID.
func (m *messageReporter) beginNumberedMessage(number int, sentTime time.Time) {
	m.beginMessage("m"+strconv.Itoa(number), sentTime)
}

// reportText passes an event with the given kind and text to m.yieldEvent. The other fields are copied from m.Event,
// which describes the current message. A prompt also gets the message's ID as TurnID. Each later event of the same
// message gets a number at the end of its ID, so that the IDs differ. If the text is empty or kind is noEventKind,
// reportText does nothing.
func (m *messageReporter) reportText(kind EventKind, text string) {
	text = strings.TrimSpace(text)
	if text == "" || kind == noEventKind {
		return
	}
	e := m.Event
	e.Kind, e.Text = kind, text
	switch {
	case kind == EventPrompt:
		e.TurnID = m.ID
	case m.eventCount > 0:
		e.ID += "." + strconv.Itoa(m.eventCount)
	}
	m.eventCount++
	m.yieldEvent(&e)
}

// reportCall reports a tool call. The arguments are a JSON object, or a JSON string that contains one.
func (m *messageReporter) reportCall(id, tool string, args json.RawMessage) {
	e := m.Event
	e.Kind, e.ID = EventToolCall, id
	e.ToolName, e.Args = tool, embeddedJSON(args)
	m.yieldEvent(&e)
}

// callResult is the data that a client stores about a call's result.
type callResult struct {
	id, output string
	hasFailed  bool
	exitStatus *int // exit status of a command (nil if it is not known)
}

// reportResult reports a call's result as an event.
func (m *messageReporter) reportResult(r callResult) {
	e := m.Event
	e.Kind, e.ID = EventToolResult, r.id
	e.decodedResultText, e.HasFailed = r.output, r.hasFailed
	e.ExitStatus = r.exitStatus
	m.yieldEvent(&e)
}

// embeddedJSON returns the JSON value that a JSON string contains. Any other value is returned unchanged.
func embeddedJSON(raw json.RawMessage) json.RawMessage {
	var inner string
	if json.Unmarshal(raw, &inner) == nil && json.Valid([]byte(inner)) {
		return json.RawMessage(inner)
	}
	return raw
}

// parseObject decodes a JSON value into target. A field of the wrong type stays empty. parseObject returns false if b
// is not JSON, or if the whole value has the wrong type, for example if b is an array and target points to a struct.
func parseObject(b []byte, target any) bool {
	err := json.Unmarshal(b, target)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return wrong.Field != ""
	}
	return err == nil
}

// contentBlock is a message part in the form of Anthropic's API. Some clients use other names for some fields, so the
// names of all clients are read.
type contentBlock struct {
	Type         string          `json:"type"`
	Text         string          `json:"text"`
	Thinking     string          `json:"thinking"`
	KimiThinking string          `json:"think"` // the agent's thinking in files of Kimi Code
	ID           string          `json:"id"`
	Name         string          `json:"name"`
	Input        json.RawMessage `json:"input"`
	Args         json.RawMessage `json:"arguments"` // the call's arguments in files of pi
	CallID       string          `json:"tool_use_id"`
	AmpCallID    string          `json:"toolUseID"` // the call's ID in files of Amp
	Content      json.RawMessage `json:"content"`
	IsError      bool            `json:"is_error"`
	AmpRun       struct {        // result of a call in Amp
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	} `json:"run"`
}

// decodeBlocks decodes a message's content, which is a string or an array of blocks. A string becomes a single text
// block.
func decodeBlocks(content json.RawMessage) (all []contentBlock) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return []contentBlock{{Type: "text", Text: text}}
	}
	var raws []json.RawMessage
	_ = json.Unmarshal(content, &raws) // Ignore the error: content of another kind does not contain blocks.
	for _, raw := range raws {
		var b contentBlock
		if parseObject(raw, &b) {
			all = append(all, b)
		}
	}
	return all
}

// reportBlocks reports the blocks of a message. For each text in a user's message, it calls extractPersonText, which
// returns the person's words, or "" if a program wrote the text. A message of an unknown role is reported as unknown.
func (m *messageReporter) reportBlocks(
	role string,
	content json.RawMessage,
	extractPersonText func(text string) string,
) {
	switch role {
	case "user", "assistant":
	case "system",
		"developer",
		"tool",
		"info",
		"custom",
		"hookMessage", // old versions of the program pi use this name for the role "custom"
		"branchSummary",
		"compactionSummary": // Programs wrote all messages with these roles.
		extractPersonText = func(string) string { return "" }
	default:
		m.Event.reportUnknownPart("messages", role, m.yieldEvent)
		return
	}
	var asked, inserted []string
	for _, b := range decodeBlocks(content) {
		switch b.Type {
		case "text":
			if role == "assistant" {
				m.reportText(EventText, b.Text)
				continue
			}
			if text := extractPersonText(b.Text); text != "" {
				asked = append(asked, text)
			} else {
				inserted = append(inserted, b.Text)
			}
		case "thinking", "think":
			m.reportText(EventAgentThought, b.Thinking+b.KimiThinking)
		case "tool_use", "toolCall":
			m.reportCall(b.ID, b.Name, append(b.Input, b.Args...))
		case "tool_result":
			m.reportResult(callResult{id: b.CallID + b.AmpCallID, output: b.output(), hasFailed: b.hasFailed()})
		case "image", "image_url", "document", "file", "audio", "video":
			m.Event.reportNonTextParts(nonTextFilesText, 1, m.yieldEvent)
		case "redacted_thinking":
		default:
			m.Event.reportUnknownPart("blocks", b.Type, m.yieldEvent)
		}
	}
	m.reportText(EventPrompt, strings.Join(asked, "\n"))
	m.reportText(noEventKind, strings.Join(inserted, "\n"))
}

// attachmentTypes contains the types of blocks that are images and other files.
var attachmentTypes = lazyWordSet(`
	audio audio_url binary document file image image_url input_audio input_file input_image local_image video video_url`)

// reportUnknownBlocks reports each block in a message's content whose type is unknown. The list knownTypes contains the
// types that the caller handles. The types of attachments are known as well.
func (e Event) reportUnknownBlocks(content json.RawMessage, yield func(*Event), knownTypes ...string) {
	var blocks []struct {
		Type string `json:"type"`
	}
	decodeArray(content, &blocks)
	for _, b := range blocks {
		if !slices.Contains(knownTypes, b.Type) && !attachmentTypes()[b.Type] {
			e.reportUnknownPart("blocks", b.Type, yield)
		}
	}
}

func (b *contentBlock) hasFailed() bool {
	return b.IsError || b.AmpRun.Status == "error" || b.AmpRun.Status == "cancelled"
}

func (b *contentBlock) output() string {
	if len(b.Content) > 0 {
		return ContentText(b.Content)
	}
	return strings.TrimSpace(resultText(b.AmpRun.Result) + "\n" + b.AmpRun.Error.Message)
}

// resultText returns the text in a tool's result. The result is a string, an array of parts, or an object that
// contains the text under a usual name.
func resultText(raw json.RawMessage) string {
	raw = embeddedJSON(raw)
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	switch raw[0] {
	case '"', '[':
		if text := ContentText(raw); text != "" {
			return text
		}
	case '{':
		var members map[string]json.RawMessage
		_ = json.Unmarshal(raw, &members) // Ignore the error: only an object contains members.
		for _, name := range []string{"output", "Text", "text", "content", "contents", "stdout", "error", "message"} {
			if text := resultText(members[name]); text != "" {
				return text
			}
		}
	}
	return string(raw)
}

// returnUnchangedText returns the text itself. It is the argument extractPersonText of reportBlocks for clients
// that store the person's text without additions.
func returnUnchangedText(text string) string { return text }

// taggedTextExtractor returns a function that extracts the parts of a text that are between the given tags, such as
// <tag> and </tag>. The function joins the parts with newlines. It returns "" if the text contains none of the tags.
func taggedTextExtractor(tags ...string) func(string) string {
	var patterns []*regexp.Regexp
	for _, tag := range tags {
		patterns = append(patterns, regexp.MustCompile(`(?s)<`+tag+`(?: [^>]*)?>(.*?)</`+tag+`>`))
	}
	return func(text string) string {
		var all []string
		for _, p := range patterns {
			for _, found := range p.FindAllStringSubmatch(text, -1) {
				all = append(all, strings.TrimSpace(found[1]))
			}
		}
		return strings.Join(all, "\n")
	}
}

// parseTime parses a time in RFC 3339 or in SQLite's form, or a number of seconds or milliseconds since 1970. It
// returns the zero time for any other value.
func parseTime(raw json.RawMessage) time.Time {
	text := strings.Trim(string(bytes.TrimSpace(raw)), `"`)
	if n, err := strconv.ParseFloat(text, 64); err == nil && n > 0 {
		if n > 1e11 {
			n /= 1000
		}
		if n < 1e11 {
			return time.UnixMilli(int64(n * 1000)).UTC()
		}
		return time.Time{}
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02 15:04:05", "2006-01-02T15:04:05.999999999"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at
		}
	}
	return time.Time{}
}

// fileModTime returns a file's modification time, or the zero time if the file cannot be examined.
func fileModTime(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime().UTC()
}

// fileURLPath returns the path in a file URL. Any other text is returned unchanged.
func fileURLPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "file" {
		return text
	}
	if hasWindowsDrive(u.Path) {
		return u.Path[1:]
	}
	return u.Path
}

// hasWindowsDrive reports whether a URL's path has a Windows drive, as in file:///c:/project.
func hasWindowsDrive(path string) bool {
	return len(path) > 2 && path[0] == '/' && path[2] == ':'
}
