// This file reads chat services' exports, which are an array of conversations in a JSON file. It also reads
// conversations without the array, such as one conversation on each line.
//
// ChatGPT writes {"conversation_id","title","create_time","mapping":{ID:{"parent","message":{"id",
// "author":{"role"},"create_time","content":{"content_type","parts"},"recipient","metadata"}}}} for
// each. Claude writes {"uuid","name","created_at","chat_messages":[{"uuid","sender","text",
// "content":[{"type","text"}],"created_at","attachments":[{"file_name","extracted_content"}]}]}.
// Both formats are undocumented. They are taken from exports made in 2025 and 2026.

package transcript

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/agent/session"
)

// The names of the chat services in the archive.
const (
	ChatGPT  = "chatgpt"
	ClaudeAI = "claude-ai"
)

// conversations contains the readers for conversations, with the keys by which their formats are
// recognized.
var conversations = map[string]struct {
	key  string
	read func(f *file, b []byte) bool
}{
	ChatGPT:  {"mapping", (*file).chatGPT},
	ClaudeAI: {"chat_messages", (*file).claudeAI},
}

// IsChatService reports whether a client's sessions come from an exported file.
func IsChatService(client string) bool { _, ok := conversations[client]; return ok }

// maxConversation is the maximum size of a conversation, in bytes. Reading fails at a longer
// conversation.
const maxConversation = 256 << 20

// boundedReader fails after left bytes, so that a conversation without an end does not fill memory.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a conversation has more than %d MB", maxConversation>>20)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// ChatFiles returns the paths of the files with conversations in an export, which is a directory, a ZIP
// archive, or such a file.
func ChatFiles(export string) (files []string, err error) {
	fi, err := os.Stat(export)
	if err != nil {
		return nil, err
	}
	switch {
	case fi.IsDir():
		files, err = filepath.Glob(filepath.Join(escapeGlob(export), "*.json"))
	case strings.HasSuffix(strings.ToLower(export), clientfile.Archived):
		files, err = clientfile.ArchiveMembers(export)
	default:
		return []string{export}, nil
	}
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		name = path.Base(filepath.ToSlash(name))
		return !strings.HasPrefix(name, "conversations") || path.Ext(name) != ".json"
	})
	slices.Sort(files)
	return files, nil
}

// escapeGlob returns a pattern for [filepath.Glob] that matches only the directory. On Windows a pattern
// cannot be escaped.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// FindChatService returns the chat service that wrote a file, or "" for any other file. It reads the
// beginning of the file. path may also name a file in a ZIP archive.
func FindChatService(path string) string {
	in, err := clientfile.Open(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	if _, err := seekAfterBOM(in); err != nil {
		return ""
	}
	dec := json.NewDecoder(io.LimitReader(in, maxConversation))
	tok, err := dec.Token()
	if err == nil && tok == json.Delim('[') {
		tok, err = dec.Token()
	}
	if err != nil || tok != json.Delim('{') {
		return ""
	}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return ""
		}
		for client, c := range conversations {
			if tok == c.key {
				return client
			}
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}

// readConversationsOrRestart reads the conversations of a file that begin at f.from or later. If none begins there,
// the file was replaced by another export, and readConversationsOrRestart reads it from the start.
func (f *file) readConversationsOrRestart(ctx context.Context, in io.ReadSeeker) error {
	err := f.readConversations(ctx, in)
	if errors.Is(err, errMoved) {
		f.from = 0
		err = f.readConversations(ctx, in)
	}
	return err
}

// errMoved is returned if the file is not the file in which the last call ended.
var errMoved = errors.New("no conversation begins where the last one ended")

func (f *file) readConversations(ctx context.Context, in io.ReadSeeker) error {
	hasArray, err := startsWithArray(in)
	if err != nil {
		return err
	}
	text, before, err := conversationsFrom(in, f.from, hasArray)
	if err != nil {
		return err
	}
	bounded := &boundedReader{text, maxConversation}
	dec := json.NewDecoder(bounded)
	if hasArray {
		if _, err := dec.Token(); err != nil {
			return err
		}
	}
	read := conversations[f.client].read
	for dec.More() {
		at := before + dec.InputOffset()
		isFull := f.most > 0 && at-f.from >= f.most
		var b json.RawMessage
		bounded.left = maxConversation
		if !isFull || len(f.events) == 0 {
			err = dec.Decode(&b)
		}
		switch {
		case len(f.events) > 0 && (isFull || err != nil): // the next call continues, or reports the error
			f.next, f.end = at, at
			return nil
		case err != nil:
			return conversationError(at, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		f.at = at
		if !read(f, b) {
			f.addBad(at, "it is not a conversation")
		}
	}
	return f.endConversations(dec, in, before, hasArray)
}

// conversationError returns the error for a conversation that begins at an offset and cannot be read.
func conversationError(offset int64, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("after byte %d: the file ends in a conversation, so the export is incomplete; the "+
			"conversations before it are read", offset)
	}
	return fmt.Errorf("after byte %d: %w", offset, err)
}

// byteOrderMark is the character with which some programs begin a file.
const byteOrderMark = "\uFEFF"

// seekAfterBOM seeks to the start of a file, behind the byte order mark if the file has one. It returns the offset.
func seekAfterBOM(in io.ReadSeeker) (int64, error) {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	mark := make([]byte, len(byteOrderMark))
	_, err := io.ReadFull(in, mark)
	switch {
	case err == nil && string(mark) == byteOrderMark:
		return int64(len(mark)), nil
	case err != nil && err != io.EOF && err != io.ErrUnexpectedEOF:
		return 0, err
	}
	return in.Seek(0, io.SeekStart)
}

// startsWithArray reports whether a file begins with an array. It fails if the file begins with neither an array nor
// an object.
func startsWithArray(in io.ReadSeeker) (bool, error) {
	if _, err := seekAfterBOM(in); err != nil {
		return false, err
	}
	tok, err := json.NewDecoder(in).Token()
	switch {
	case err != nil:
		return false, err
	case tok != json.Delim('[') && tok != json.Delim('{'):
		return false, errors.New("it has no conversations")
	}
	return tok == json.Delim('['), nil
}

// conversationsFrom returns the text of an array whose first element begins at offset in the file, or at the next
// comma. If the file has no array, it returns the conversations alone. before is the difference between file offsets
// and text offsets.
func conversationsFrom(in io.ReadSeeker, offset int64, hasArray bool) (text io.Reader, before int64, err error) {
	if offset == 0 {
		before, err := seekAfterBOM(in)
		return in, before, err
	}
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return in, 0, err
	}
	rest, n, err := afterComma(in)
	switch {
	case err != nil:
		return nil, 0, err
	case !hasArray:
		return rest, offset + n, nil
	}
	return io.MultiReader(strings.NewReader("["), rest), offset + n - 1, nil
}

// endConversations reads the end of the array, if the file has an array. If the end is missing, or if other data
// follows the conversations, this is counted as an unreadable conversation.
func (f *file) endConversations(dec *json.Decoder, in io.Reader, before int64, hasArray bool) error {
	at := before + dec.InputOffset()
	var err error
	if hasArray {
		_, err = dec.Token()
	}
	if err != nil {
		if len(f.events) == 0 {
			return fmt.Errorf("after byte %d: %w", at, err)
		}
		f.addBad(at, "the end of the array is missing")
		f.next, f.end = at, at
		return nil
	}
	end := before + dec.InputOffset()
	rest, err := io.ReadAll(io.LimitReader(io.MultiReader(dec.Buffered(), in), 1<<10))
	if len(bytes.TrimSpace(rest)) > 0 {
		f.addBad(end, "it comes after the end of the array")
	}
	f.next, f.end = 0, end+int64(len(rest))
	return err
}

// afterComma skips the comma and white space between two elements. n is the number of skipped
// bytes.
func afterComma(r io.Reader) (rest io.Reader, n int64, err error) {
	b := make([]byte, 1)
	for ; ; n++ {
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, n, fmt.Errorf("the array has no end: %w", err)
		}
		switch b[0] {
		case ',', ' ', '\t', '\r', '\n':
		case '{':
			return io.MultiReader(strings.NewReader("{"), r), n, nil
		default:
			return nil, n, errMoved
		}
	}
}

// chatMessage is a message of either service.
type chatMessage struct {
	id, parent string
	isPerson   bool
	tool       string // tool that the message calls, or ""
	text       string
	model      string
	when       time.Time
}

// conversation reports the messages of a conversation. A message belongs to the turn of the prompt
// above it, so that answers to an edited prompt stay with that prompt.
func (f *file) conversation(id string, messages []chatMessage) {
	f.session = id
	slices.SortStableFunc(messages, func(a, b chatMessage) int { return a.when.Compare(b.when) })
	above := map[string]*chatMessage{}
	for i := range messages {
		above[messages[i].id] = &messages[i]
	}
	turnOf := func(m *chatMessage) string {
		for n := 0; m != nil && n <= len(messages); n++ {
			if m.isPerson {
				return m.id
			}
			m = above[m.parent]
		}
		return ""
	}
	for i := range messages {
		m := &messages[i]
		f.turn, f.model = turnOf(m), m.model
		switch {
		case m.isPerson:
			f.prompt(m.id, m.text, m.when, 0)
		case m.tool != "":
			f.call(f.event(session.Called, m.id, m.when), m.tool, nil, Outcome{})
		default:
			f.say(f.event(session.Text, m.id, m.when), m.text)
		}
	}
}

// gptMessage is a message of ChatGPT.
type gptMessage struct {
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Created   float64 `json:"create_time"`
	Recipient string  `json:"recipient"`
	Content   struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
		Text  string            `json:"text"`
	} `json:"content"`
	Metadata struct {
		Model  string `json:"model_slug"`
		Hidden bool   `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// chatMessage returns the message without its place in the conversation. Its text is empty if
// nobody spoke the message.
func (m *gptMessage) chatMessage() chatMessage {
	c := chatMessage{when: unixTime(m.Created), model: m.Metadata.Model}
	if m.Metadata.Hidden || !m.isText() {
		return c
	}
	switch m.Author.Role {
	case "user":
		c.isPerson = true
		c.text = partsText(m.Content.Parts)
	case "assistant":
		if m.Recipient != "" && m.Recipient != "all" {
			c.tool = m.Recipient
		} else {
			c.text = partsText(m.Content.Parts) + m.Content.Text
		}
	}
	return c
}

// isText reports whether the message has text that somebody said.
func (m *gptMessage) isText() bool {
	return slices.Contains([]string{"text", "multimodal_text", "code"}, m.Content.Type)
}

// The kinds of parts that are left out of conversations.
const (
	leftTitles       = "titles"
	leftInstructions = "custom instructions"
	leftThoughts     = "thoughts of the model"
	leftResults      = "tool results"
	leftHidden       = "messages that the service hid"
	leftFiles        = "images and other files"
)

// leaveOutParts counts the parts of the message that are not kept.
func (f *file) leaveOutParts(m *gptMessage) {
	text := partsText(m.Content.Parts) + m.Content.Text
	switch {
	case m.Content.Type == "user_editable_context":
		f.leaveOut(leftInstructions, 1)
	case slices.Contains([]string{"thoughts", "reasoning_recap"}, m.Content.Type):
		f.leaveOut(leftThoughts, 1)
	case m.Author.Role == "tool" || !m.isText():
		f.leaveOut(leftResults, 1)
	case (m.Metadata.Hidden || m.Author.Role == "system") && text != "":
		f.leaveOut(leftHidden, 1)
	default:
		for _, p := range m.Content.Parts {
			var pointer struct {
				Asset string `json:"asset_pointer"`
			}
			if json.Unmarshal(p, &pointer) == nil && pointer.Asset != "" {
				f.leaveOut(leftFiles, 1)
			}
		}
	}
}

func (f *file) chatGPT(b []byte) bool {
	var c struct {
		Title   string `json:"title"`
		ID      string `json:"conversation_id"`
		OlderID string `json:"id"`
		Mapping map[string]struct {
			Parent  string      `json:"parent"`
			Message *gptMessage `json:"message"`
		} `json:"mapping"`
	}
	if err := json.Unmarshal(b, &c); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return false
	}
	id := cmp.Or(c.ID, c.OlderID)
	if !session.ValidID(id) || c.Mapping == nil {
		return false
	}
	var messages []chatMessage
	for node, n := range c.Mapping {
		if n.Message == nil {
			continue
		}
		f.leaveOutParts(n.Message)
		m := n.Message.chatMessage()
		m.id, m.parent = node, n.Parent
		messages = append(messages, m) // add a message even without text, because others may be below it
	}
	slices.SortFunc(messages, func(a, b chatMessage) int { return strings.Compare(a.id, b.id) })
	if c.Title != "" && len(messages) > 0 {
		f.leaveOut(leftTitles, 1)
	}
	f.conversation(id, messages)
	return true
}

// partsText returns the texts of a message's parts. A part that is an image or a file is named.
func partsText(parts []json.RawMessage) string {
	var all []string
	for _, p := range parts {
		var text string
		var other struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
		}
		switch {
		case json.Unmarshal(p, &text) == nil:
		case json.Unmarshal(p, &other) == nil && other.Text != "":
			text = other.Text
		case other.Type != "":
			text = "[" + strings.TrimSuffix(strings.ReplaceAll(other.Type, "_", " "), " asset pointer") + "]"
		}
		if strings.TrimSpace(text) != "" {
			all = append(all, text)
		}
	}
	return strings.Join(all, "\n")
}

func (f *file) claudeAI(b []byte) bool {
	var c struct {
		ID       string `json:"uuid"`
		Name     string `json:"name"`
		Messages []struct {
			ID      string    `json:"uuid"`
			Parent  string    `json:"parent_message_uuid"`
			Sender  string    `json:"sender"`
			Text    string    `json:"text"`
			Created time.Time `json:"created_at"`
			Content []struct {
				Type string `json:"type"`
				Text string `json:"text"`
				Name string `json:"name"`
			} `json:"content"`
			Attachments []struct {
				Name string `json:"file_name"`
				Text string `json:"extracted_content"`
			} `json:"attachments"`
			Files []struct {
				Name string `json:"file_name"`
			} `json:"files"`
		} `json:"chat_messages"`
	}
	if err := json.Unmarshal(b, &c); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return false
	}
	if !session.ValidID(c.ID) || c.Messages == nil {
		return false
	}
	var messages []chatMessage
	last := ""
	for _, m := range c.Messages {
		var texts []string
		for _, part := range m.Content {
			switch {
			case part.Type == "text" && part.Text != "":
				texts = append(texts, part.Text)
			case part.Type == "tool_use" && part.Name != "":
				messages = append(messages, chatMessage{id: m.ID + "/" + part.Name, parent: m.ID, tool: part.Name,
					when: m.Created})
			case part.Type == "tool_result":
				f.leaveOut(leftResults, 1)
			case part.Type == "thinking":
				f.leaveOut(leftThoughts, 1)
			case part.Type != "text":
				f.leaveOut("parts of the type "+part.Type, 1)
			}
		}
		if len(texts) == 0 && m.Text != "" {
			texts = append(texts, m.Text)
		}
		for _, a := range m.Attachments {
			texts = append(texts, strings.TrimSpace("["+a.Name+"]\n"+a.Text))
		}
		for _, a := range m.Files {
			texts = append(texts, "["+a.Name+"]")
		}
		f.leaveOut(leftFiles, len(m.Files))
		messages = append(
			messages,
			chatMessage{id: m.ID, parent: cmp.Or(m.Parent, last), isPerson: m.Sender == "human",
				text: strings.Join(texts, "\n\n"), when: m.Created},
		)
		last = m.ID
	}
	if c.Name != "" && len(messages) > 0 {
		f.leaveOut(leftTitles, 1)
	}
	f.conversation(c.ID, messages)
	return true
}

// unixTime converts seconds since 1970 to a time. 0 becomes the zero time.
func unixTime(s float64) time.Time {
	if s <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000)).UTC()
}
