// This file reads the exports of chat services. An export is a JSON file with an array of conversations. Files with
// conversations that are not in an array, such as one conversation on each line, are also read.
//
// ChatGPT writes each conversation as {"conversation_id","title","create_time","mapping":{ID:{"parent",
// "message":{"id","author":{"role"},"create_time","content":{"content_type","parts"},"recipient","metadata"}}}}.
// Claude writes {"uuid","name","created_at","chat_messages":[{"uuid","sender","text",
// "content":[{"type","text"}],"created_at","attachments":[{"file_name","extracted_content"}]}]}.
// Both formats are undocumented, and were found in exports made in 2025 and 2026.

package transcript

import (
	"bufio"
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
	"github.com/oxbow-memory/oxbow/internal/base/text"
)

// These names of chat services are stored in the archive as a conversation's client.
const (
	ChatGPT  = "chatgpt"
	ClaudeAI = "claude-ai"
)

// conversationFormats contains, for each chat service, the function that reads a conversation of this service. A
// conversation comes from the service if its JSON object has a member whose name is the string in the field key.
var conversationFormats = map[string]struct {
	key  string
	read func(f *transcriptFile, b []byte) bool
}{
	ChatGPT:  {"mapping", (*transcriptFile).readChatGPTConversation},
	ClaudeAI: {"chat_messages", (*transcriptFile).readClaudeConversation},
}

// IsChatService reports whether a client is a chat service, whose sessions come from an exported file.
func IsChatService(client string) bool { _, ok := conversationFormats[client]; return ok }

// maxConversationBytes is the maximum size of a conversation, in bytes. A longer conversation is an error.
const maxConversationBytes = 256 << 20

// boundedReader returns an error once remainingBytes bytes were read. Otherwise a conversation without an end would
// fill the memory.
type boundedReader struct {
	r              io.Reader
	remainingBytes int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.remainingBytes <= 0 {
		return 0, fmt.Errorf("a conversation has more than %d MB", maxConversationBytes>>20)
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.remainingBytes)])
	b.remainingBytes -= int64(n)
	return n, err
}

// FindChatFiles returns the paths of the files that contain conversations. export is the path of a directory, of a ZIP
// archive, or of a single file with conversations.
func FindChatFiles(export string) ([]string, error) {
	files, isSingleFile, err := listExport(export)
	if isSingleFile || err != nil {
		return files, err
	}
	return slices.DeleteFunc(files, func(file string) bool { return !isConversationFile(file) }), nil
}

// chatGPTAccountFiles contains the files of ChatGPT's exports that describe the account or repeat the conversations.
var chatGPTAccountFiles = []string{"export_manifest.json", "message_feedback.json", "model_comparisons.json",
	"shared_conversations.json", "user.json", "user_settings.json"}

// FindUnreadChatFiles returns the JSON files of a ChatGPT export that FindChatFiles does not return and that may still
// contain conversations or notes. The argument export is the export's path. The result does not contain files that the
// user uploaded, because they are attachments to which conversations refer. It also does not contain files that
// describe the account or repeat the conversations. The result is empty if the export is a single file.
func FindUnreadChatFiles(export string) ([]string, error) {
	files, isSingleFile, err := listExport(export)
	if isSingleFile || err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(file string) bool {
		name := path.Base(filepath.ToSlash(file))
		switch {
		case path.Ext(name) != ".json", isConversationFile(file):
			return true
		case strings.HasPrefix(name, "file-"), strings.HasPrefix(name, "file_"): // an uploaded file
			return true
		}
		return slices.Contains(chatGPTAccountFiles, name)
	}), nil
}

// isConversationFile reports whether a file in an export contains conversations, according to its name.
func isConversationFile(file string) bool {
	name := path.Base(filepath.ToSlash(file))
	return strings.HasPrefix(name, "conversations") && path.Ext(name) == ".json"
}

// listExport returns the sorted file paths in an export: the members of a ZIP archive, the JSON files in a directory,
// or a single file.
func listExport(export string) (files []string, isSingleFile bool, err error) {
	fi, err := os.Stat(export)
	switch {
	case err != nil:
		return nil, false, err
	case fi.IsDir():
		files, err = filepath.Glob(filepath.Join(escapeGlob(export), "*.json"))
	case strings.HasSuffix(strings.ToLower(export), clientfile.ArchiveSuffix):
		files, err = clientfile.ListArchiveMembers(export)
	default:
		return []string{export}, true, nil
	}
	slices.Sort(files)
	return files, false, err
}

// escapeGlob returns a pattern for [filepath.Glob] that matches only this directory. On Windows, patterns cannot
// contain escapes, so it returns dir itself.
func escapeGlob(dir string) string {
	if filepath.Separator == '\\' {
		return dir
	}
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(dir)
}

// FindChatService returns the chat service that wrote a file, or "" if none did. It reads the beginning of the file.
// The path may also name a file in a ZIP archive.
func FindChatService(path string) string {
	in, err := clientfile.Open(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	if _, err := seekAfterByteOrderMark(in); err != nil {
		return ""
	}
	dec := json.NewDecoder(io.LimitReader(text.LimitWhiteSpace(in), maxConversationBytes))
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
		for client, c := range conversationFormats {
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

// readConversationsOrRestart reads the conversations of a file from f.startOffset on. If no conversation begins there,
// another export has replaced the file, and it is read from the start.
func (f *transcriptFile) readConversationsOrRestart(ctx context.Context, in io.ReadSeeker) error {
	err := f.readConversations(ctx, in)
	if errors.Is(err, errFileReplaced) {
		f.startOffset = 0
		err = f.readConversations(ctx, in)
	}
	return err
}

// errFileReplaced is returned if no conversation begins at the offset at which the previous read of the file stopped.
// The file was then probably replaced.
var errFileReplaced = errors.New("no conversation begins where the last one ended")

// readConversations reads the conversations of a file from f.startOffset on, until the byte limit f.maxBytes is
// reached. It returns errFileReplaced if no conversation begins at f.startOffset.
func (f *transcriptFile) readConversations(ctx context.Context, in io.ReadSeeker) error {
	hasArray, err := startsWithArray(in)
	if err != nil {
		return err
	}
	conversations, before, err := openConversationsAt(in, f.startOffset, hasArray)
	if err != nil {
		return err
	}
	bounded := &boundedReader{text.LimitWhiteSpace(conversations), maxConversationBytes}
	dec := json.NewDecoder(bounded)
	if hasArray {
		if _, err := dec.Token(); err != nil {
			return err
		}
	}
	read := conversationFormats[f.clientName].read
	for dec.More() {
		at := before + dec.InputOffset()
		isFull := f.maxBytes > 0 && at-f.startOffset >= f.maxBytes
		var b json.RawMessage
		bounded.remainingBytes = maxConversationBytes
		if !isFull || len(f.events) == 0 {
			err = dec.Decode(&b)
		}
		switch {
		// Stop before this conversation. The next call will read it, or return the error.
		case len(f.events) > 0 && (isFull || err != nil):
			f.lastTurnOffset, f.endOffset = at, at
			return nil
		case err != nil:
			return unreadableConversationError(at, err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		f.conversationOffset = at
		if !read(f, b) {
			f.addUnreadLine(at, "", "it is not a conversation")
		}
	}
	return f.checkConversationsEnd(dec, conversations, before, hasArray)
}

// unreadableConversationError returns the error for a conversation at offset that cannot be read.
func unreadableConversationError(offset int64, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("after byte %d: the file ends in a conversation, so the export is incomplete; the "+
			"conversations before it are read", offset)
	}
	return fmt.Errorf("after byte %d: %w", offset, err)
}

// byteOrderMark is the byte order mark, with which some programs begin a file.
const byteOrderMark = "\uFEFF"

// seekAfterByteOrderMark seeks to the start of a file's text, which is after the byte order mark if there is one.
// It returns the offset.
func seekAfterByteOrderMark(in io.ReadSeeker) (int64, error) {
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

// startsWithArray reports whether a file begins with an array. It returns an error if the file begins with neither an
// array nor an object.
func startsWithArray(in io.ReadSeeker) (bool, error) {
	if _, err := seekAfterByteOrderMark(in); err != nil {
		return false, err
	}
	tok, err := json.NewDecoder(text.LimitWhiteSpace(in)).Token()
	switch {
	case err != nil:
		return false, err
	case tok != json.Delim('[') && tok != json.Delim('{'):
		return false, errors.New("it has no conversations")
	}
	return tok == json.Delim('['), nil
}

// openConversationsAt returns a reader for the exported conversations that begin at offset in the file. If the file
// contains an array, the returned text begins with "[", so that it is valid JSON. A position in the returned text plus
// textStartOffset is the position in the file.
func openConversationsAt(
	in io.ReadSeeker,
	offset int64,
	isJSONArray bool,
) (text io.Reader, textStartOffset int64, err error) {
	if offset == 0 {
		before, err := seekAfterByteOrderMark(in)
		return in, before, err
	}
	if _, err := in.Seek(offset, io.SeekStart); err != nil {
		return in, 0, err
	}
	rest, n, err := skipCommaAndSpace(in)
	switch {
	case err != nil:
		return nil, 0, err
	case !isJSONArray:
		return rest, offset + n, nil
	}
	return io.MultiReader(strings.NewReader("["), rest), offset + n - 1, nil
}

// checkConversationsEnd checks the end of the exported file after the last conversation was read. If isJSONArray is
// true, the conversations are the elements of a JSON array, whose end is also read.
//
// If the array is incomplete, or if other text follows the conversations, this is recorded as an unreadable part of the
// file. But if the array is incomplete and no events were read from the file, an error is returned instead.
//
// textStartOffset is the offset in the file at which the input of dec begins.
func (f *transcriptFile) checkConversationsEnd(
	dec *json.Decoder,
	in io.Reader,
	textStartOffset int64,
	isJSONArray bool,
) error {
	at := textStartOffset + dec.InputOffset()
	var err error
	if isJSONArray {
		_, err = dec.Token()
	}
	if err != nil {
		if len(f.events) == 0 {
			return fmt.Errorf("after byte %d: %w", at, err)
		}
		reason := "the end of the array is missing"
		if !errors.Is(err, io.EOF) {
			reason += ": " + err.Error()
		}
		f.addUnreadLine(at, "", reason)
		f.lastTurnOffset, f.endOffset = at, at
		return nil
	}
	end := textStartOffset + dec.InputOffset()
	rest, err := io.ReadAll(io.LimitReader(io.MultiReader(dec.Buffered(), in), 1<<10))
	if len(bytes.TrimSpace(rest)) > 0 {
		f.addUnreadLine(end, "", "it comes after the end of the array")
	}
	f.lastTurnOffset, f.endOffset = 0, end+int64(len(rest))
	return err
}

// skipCommaAndSpace skips the commas and the white space before the next conversation in the reader r. rest begins with
// the conversation's opening brace, and n is the number of skipped bytes. If the next byte is not an opening brace,
// skipCommaAndSpace returns errFileReplaced. It returns another error if reading fails, or if r ends before the brace.
func skipCommaAndSpace(r io.Reader) (rest io.Reader, n int64, err error) {
	buffered := bufio.NewReader(text.LimitWhiteSpace(r))
	for ; ; n++ {
		b, err := buffered.ReadByte()
		if err != nil {
			return nil, n, fmt.Errorf("the array has no end: %w", err)
		}
		switch b {
		case ',', ' ', '\t', '\r', '\n':
		case '{':
			return io.MultiReader(strings.NewReader("{"), buffered), n, nil
		default:
			return nil, n, errFileReplaced
		}
	}
}

// chatMessage is a message in a conversation exported from ChatGPT or Claude.
type chatMessage struct {
	id, parentID string
	isFromPerson bool
	calledTool   string // tool that the message calls ("" if it calls none)
	text         string
	model        string
	sentTime     time.Time
}

// reportConversation reports the messages of a conversation in the order of time. Together with the first prompt, it
// reports the conversation's title. A message belongs to the turn of the nearest prompt among its ancestors (the
// message's parent, the parent's parent, and so on). If the person edited a prompt, the conversation contains an old
// and a new prompt. The answers to the old prompt then belong to the turn of the old prompt.
func (f *transcriptFile) reportConversation(id, title string, messages []chatMessage) {
	f.sessionID = id
	slices.SortStableFunc(messages, func(a, b chatMessage) int { return a.sentTime.Compare(b.sentTime) })
	hasTitle := false
	above := map[string]*chatMessage{}
	for i := range messages {
		above[messages[i].id] = &messages[i]
	}
	turnOf := func(m *chatMessage) string {
		for n := 0; m != nil && n <= len(messages); n++ {
			if m.isFromPerson {
				return m.id
			}
			m = above[m.parentID]
		}
		return ""
	}
	for i := range messages {
		m := &messages[i]
		f.promptID, f.model = turnOf(m), m.model
		switch {
		case m.isFromPerson:
			known := len(f.events)
			f.reportPrompt(m.id, m.text, m.sentTime, 0)
			if len(f.events) > known && !hasTitle {
				hasTitle = true
				f.reportText(f.newEvent(session.KindTitle, "", m.sentTime), title)
			}
		case m.calledTool != "":
			f.reportCall(f.newEvent(session.KindToolCall, m.id, m.sentTime), m.calledTool, nil, CallOutcome{})
		default:
			f.reportText(f.newEvent(session.KindText, m.id, m.sentTime), m.text)
		}
	}
}

// gptMessage is a message in a conversation of ChatGPT.
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

		// custom instructions, as ChatGPT shows them to the model
		AboutPerson string `json:"user_profile"`
		ForModel    string `json:"user_instructions"`
	} `json:"content"`
	Metadata struct {
		Model  string `json:"model_slug"`
		Hidden bool   `json:"is_visually_hidden_from_conversation"`

		// custom instructions, as the person wrote them
		Instructions struct {
			AboutPerson string `json:"about_user_message"`
			ForModel    string `json:"about_model_message"`
		} `json:"user_context_message_data"`
	} `json:"metadata"`
}

// toChatMessage converts m to a chatMessage without the fields id and parentID. The field text of the result is set
// only if the person or the model wrote a text that the client showed. If the model called a tool, calledTool is set
// instead of text.
func (m *gptMessage) toChatMessage() chatMessage {
	c := chatMessage{sentTime: unixTime(m.Created), model: m.Metadata.Model}
	if m.Metadata.Hidden || !m.isText() {
		return c
	}
	switch m.Author.Role {
	case "user":
		c.isFromPerson = true
		c.text = partsText(m.Content.Parts)
	case "assistant":
		if m.Recipient != "" && m.Recipient != "all" {
			c.calledTool = m.Recipient
		} else {
			c.text = partsText(m.Content.Parts) + m.Content.Text
		}
	}
	return c
}

// isText reports whether the message contains a text by the person or the model.
func (m *gptMessage) isText() bool {
	return slices.Contains([]string{"text", "multimodal_text", "code"}, m.Content.Type)
}

// customInstructionsType is the type of ChatGPT's messages with custom instructions.
const customInstructionsType = "user_editable_context"

// Kinds of parts in an exported conversation that are not stored in the memory.
const (
	leftOutModelThoughts = "thoughts of the model"
	leftOutToolResults   = "tool results"
	leftOutHidden        = "messages that the service hid"
	leftOutFiles         = "images and other files"
)

// gptTextlessTypes lists the types of messages that contain no text by the person or the model, such as the pages that
// the model has read.
var gptTextlessTypes = []string{"app_pairing_content", "computer_output", "execution_output", "model_editable_context",
	"sonic_webpage", "system_error", "tether_browsing_display", "tether_quote"}

// keepInstructions adds the custom instructions in the message to the report, unless an earlier message of the file has
// them. start is the time at which the conversation began.
func (f *transcriptFile) keepInstructions(m *gptMessage, start time.Time) {
	written := m.Metadata.Instructions
	for _, i := range []Instructions{
		{IsAboutPerson: true, Text: cmp.Or(written.AboutPerson, extractFencedText(m.Content.AboutPerson)), Time: start},
		{Text: cmp.Or(written.ForModel, extractFencedText(m.Content.ForModel)), Time: start},
	} {
		// Compare the text before it is cleaned, because most conversations repeat it, and cleaning is slow.
		key := fmt.Sprint(i.IsAboutPerson, i.Text)
		if f.knownInstructions[key] {
			continue
		}
		if f.knownInstructions == nil {
			f.knownInstructions = map[string]bool{}
		}
		f.knownInstructions[key] = true
		i.Text = strings.TrimSpace(f.cleanText(text.HidePrivateParts(i.Text)))
		if i.Text != "" {
			f.report.instructions = append(f.report.instructions, i)
		}
	}
}

// extractFencedText returns the text between the first and the last Markdown fence (```). If there is only one fence,
// it returns the text after this fence. Without a fence, it returns the whole text. It is needed because ChatGPT writes
// its own sentences before the fence that contains the person's text.
func extractFencedText(s string) string {
	const fence = "```"
	_, inside, ok := strings.Cut(s, fence)
	if !ok {
		return s
	}
	if i := strings.LastIndex(inside, fence); i >= 0 {
		inside = inside[:i]
	}
	return inside
}

// countLeftOutParts counts the parts of the message that are not stored. The message belongs to the conversation with
// this ID.
func (f *transcriptFile) countLeftOutParts(conversationID string, m *gptMessage) {
	text := partsText(m.Content.Parts) + m.Content.Text
	switch {
	case m.Content.Type == customInstructionsType:
		f.addLeftOutCount(leftOutInstructions, 1)
	case slices.Contains([]string{"thoughts", "reasoning_recap"}, m.Content.Type):
		f.addLeftOutCount(leftOutModelThoughts, 1)
	case m.Author.Role == "tool":
		f.addLeftOutCount(leftOutToolResults, 1)
	case slices.Contains(gptTextlessTypes, m.Content.Type):
		f.addLeftOutCount("messages of the type "+m.Content.Type, 1)
	case m.Metadata.Hidden || m.Author.Role == "system":
		if text != "" || !m.isText() {
			f.addLeftOutCount(leftOutHidden, 1)
		}
	case !m.isText():
		f.countUnknownConversationPart(conversationID, "messages", m.Content.Type)
	case m.Author.Role != "user" && m.Author.Role != "assistant":
		f.countUnknownConversationPart(conversationID, "messages", m.Author.Role)
	default:
		for _, p := range m.Content.Parts {
			var pointer struct {
				Asset string `json:"asset_pointer"`
			}
			if json.Unmarshal(p, &pointer) == nil && pointer.Asset != "" {
				f.addLeftOutCount(leftOutFiles, 1)
			}
		}
	}
}

// readChatGPTConversation reports the messages of a conversation that was exported from ChatGPT. It returns false if b
// is not such a conversation.
func (f *transcriptFile) readChatGPTConversation(b []byte) bool {
	var c struct {
		Title   string  `json:"title"`
		Created float64 `json:"create_time"`
		ID      string  `json:"conversation_id"`
		OlderID string  `json:"id"`
		Mapping map[string]struct {
			Parent  string      `json:"parent"`
			Message *gptMessage `json:"message"`
		} `json:"mapping"`
	}
	if err := json.Unmarshal(b, &c); err != nil && !errors.As(err, new(*json.UnmarshalTypeError)) {
		return false
	}
	id := cmp.Or(c.ID, c.OlderID)
	if !session.IsValidID(id) || c.Mapping == nil {
		return false
	}
	var messages []chatMessage
	for node, n := range c.Mapping {
		if n.Message == nil {
			continue
		}
		f.countLeftOutParts(id, n.Message)
		if n.Message.Content.Type == customInstructionsType {
			f.keepInstructions(n.Message, unixTime(c.Created))
		}
		m := n.Message.toChatMessage()
		m.id, m.parentID = node, n.Parent
		// Add a message without text as well, because other messages may be below it.
		messages = append(messages, m)
	}
	slices.SortFunc(messages, func(a, b chatMessage) int { return strings.Compare(a.id, b.id) })
	f.reportConversation(id, c.Title, messages)
	return true
}

// partsText returns the texts of a message's parts. An image or a file is represented by a name.
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

// readClaudeConversation reports the messages of a conversation that was exported from Claude. It returns false if b is
// not such a conversation.
func (f *transcriptFile) readClaudeConversation(b []byte) bool {
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
	if !session.IsValidID(c.ID) || c.Messages == nil {
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
				messages = append(
					messages,
					chatMessage{id: m.ID + "/" + part.Name, parentID: m.ID, calledTool: part.Name,
						sentTime: m.Created},
				)
			case part.Type == "tool_result":
				f.addLeftOutCount(leftOutToolResults, 1)
			case part.Type == "thinking":
				f.addLeftOutCount(leftOutModelThoughts, 1)
			case part.Type != "text":
				f.countUnknownConversationPart(c.ID, "parts", part.Type)
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
		f.addLeftOutCount(leftOutFiles, len(m.Files))
		if !slices.Contains([]string{"human", "assistant", ""}, m.Sender) {
			f.countUnknownConversationPart(c.ID, "messages", m.Sender)
			texts = nil // Add the message without its text, because it may be the parent of other messages.
		}
		messages = append(
			messages,
			chatMessage{id: m.ID, parentID: cmp.Or(m.Parent, last), isFromPerson: m.Sender == "human",
				text: strings.Join(texts, "\n\n"), sentTime: m.Created},
		)
		last = m.ID
	}
	f.reportConversation(c.ID, c.Name, messages)
	return true
}

// unixTime converts a number of seconds since 1970 to a time in UTC. It returns the zero time if s is 0 or negative.
func unixTime(s float64) time.Time {
	if s <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(s * 1000)).UTC()
}
