// This file reads the tasks of Cline and its forks Roo Code and Kilo Code, and the sessions from Cline's command line.
// The formats come from src/core/storage/disk.ts and src/shared/ExtensionMessage.ts (commit 0014234a) in cline/cline,
// src/core/task-persistence and packages/types/src/message.ts (commit 02785b96) in RooCodeInc/Roo-Code, and
// internal/parser/cline.go in kenn-io/agentsview.
//
// An extension has a directory for each task, tasks/ID. The task's file ui_messages.json is an array of the messages
// that the person sees, {"ts","type":"say"|"ask","say","ask","text","partial"}. The member "say" is "task" ("text" in
// Roo Code) for the task, and "user_feedback" for a later text by the person. It is "text", "completion_result" or
// "reasoning" for a text by the agent. It is "tool", "command", "use_mcp_server" or "browser_action" for a call. The
// member "text" of a call is JSON or a command line. The result of a call is in a message with "command_output",
// "mcp_server_response" or "browser_action_result". The file api_conversation_history.json has the same conversation as
// the model sees it, [{"role","content"}]. It is read only if ui_messages.json is missing.
//
// Cline's command-line program stores a session in ~/.cline/data/sessions/ID/ID.messages.json,
// {"sessionId","messages":[{"id","role", "content","ts","modelInfo":{"id"}}]}. The file ID.json in the same directory
// contains the working directory in the member "cwd".

package clientfile

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/oxbow-memory/oxbow/vfs"
)

// clineMessage is an element in ui_messages.json, in api_conversation_history.json, or in the messages of the command
// line.
type clineMessage struct {
	ID        string          `json:"id"`
	Time      json.RawMessage `json:"ts"`
	Say       string          `json:"say"`
	Ask       string          `json:"ask"`
	Text      string          `json:"text"`
	IsPartial bool            `json:"partial"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Model     struct {
		ID      string `json:"id"`      // the model's name in files of Cline's command line
		ModelID string `json:"modelId"` // the model's name in files of Cline's editor extensions
	} `json:"modelInfo"`
	Condensed struct {
		Summary string `json:"summary"`
	} `json:"contextCondense"` // summary that replaces older messages (only in files of Roo Code)
}

// isClineLine reports whether line contains the messages of a session in Cline or in a fork of Cline. Cline's editor
// extension writes an array of messages. The first message in the array has a field "say" or "ask" with a text for the
// person, or a field "role". Cline's command line writes an object with a session ID and messages. The first of these
// messages has a field "role".
func isClineLine(line []byte) bool {
	line = bytes.TrimSpace(line)
	if bytes.HasPrefix(line, []byte("[")) {
		var first clineMessage
		found := false
		eachElement(line, func(element []byte) {
			if !found {
				found = DecodeObject(element, &first)
			}
		})
		return first.Say != "" || first.Ask != "" || first.Role != ""
	}
	var d struct {
		Session  string `json:"sessionId"`
		Messages []struct {
			Role string `json:"role"`
		} `json:"messages"`
	}
	return DecodeObject(line, &d) && d.Session != "" && len(d.Messages) > 0 && d.Messages[0].Role != ""
}

// IsClineTaskFile reports whether a path names the conversation of a task in Cline, Roo Code or Kilo Code. A task has
// one file for the person and one for the model. The file for the model is used only if the file for the person is
// missing.
func IsClineTaskFile(path string) bool {
	dir, name := filepath.Split(filepath.FromSlash(path))
	switch name {
	case "ui_messages.json":
		return true
	case "api_conversation_history.json":
		_, err := os.Stat(filepath.Join(dir, "ui_messages.json"))
		return err != nil
	}
	return false
}

// clineReader reads the messages in one task of Cline or a Cline fork.
type clineReader struct {
	path                  string
	sessionID, workingDir string
	defaultTime           time.Time // used for messages without a time
	extractPersonText     func(string) string

	messageReporter
	hasPrompt     bool
	pendingCallID string // ID of the last call, until its result is reported
	pendingOutput []string
	callCount     int
}

func newClineReader(path string) EventReader {
	c := &clineReader{path: path}
	if path != "" {
		c.sessionID = filepath.Base(filepath.Dir(path))
		c.workingDir = findClineWorkingDir(path)
		c.defaultTime = parseTime(json.RawMessage(c.sessionID)) // Most task IDs are times in milliseconds.
		if c.defaultTime.IsZero() {
			c.defaultTime = fileModTime(path)
		}
	}
	return c
}

// clinePromptExtractor returns a function that extracts the person's text from a message that Cline, Roo Code or Kilo
// Code sent to the model. These editor extensions enclose the person's text in tags, such as <task>.
var clinePromptExtractor = sync.OnceValue(func() func(string) string {
	return taggedTextExtractor("task", "feedback", "user_message", "answer", "user_input")
})

// clineInsertedTextPattern matches the texts that Cline's command-line program inserts into a person's message. Each of
// these texts is enclosed in tags with the name environment_details or mode_notice.
var clineInsertedTextPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`(?s)<(environment_details|mode_notice)(?: [^>]*)?>.*?</(?:environment_details|mode_notice)>`,
	)
})

// ParseLine implements [EventReader]. The line is the whole file.
func (c *clineReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var file struct {
		Session  string            `json:"sessionId"`
		Messages []json.RawMessage `json:"messages"`
	}
	c.extractPersonText = clinePromptExtractor()
	if line[0] == '{' {
		if !parseObject(line, &file) || file.Messages == nil {
			return false
		}
		if file.Session != "" {
			c.sessionID = file.Session
		}
		c.extractPersonText = func(text string) string {
			if tagged := clinePromptExtractor()(text); tagged != "" {
				text = tagged
			}
			return clineInsertedTextPattern().ReplaceAllString(text, "")
		}
	} else if !parseObject(line, &file.Messages) {
		return false
	}
	c.messageReporter = messageReporter{yieldEvent: yield,
		Event: Event{Offset: offset, Session: c.sessionID, WorkingDir: c.workingDir, Time: c.defaultTime}}
	list := ""
	if line[0] == '{' {
		list = "messages"
	}
	for i, raw := range file.Messages {
		c.RecordName = recordName(list, i)
		var m clineMessage
		if !parseObject(raw, &m) {
			c.reportUnreadRecord(yield)
			continue
		}
		if model := m.Model.ID + m.Model.ModelID; model != "" {
			c.Model = model
		}
		c.beginNumberedMessage(i, parseTime(m.Time))
		if m.Role != "" {
			if m.ID != "" {
				c.beginMessage(m.ID, c.Time)
			}
			c.reportBlocks(m.Role, m.Content, c.extractPersonText)
			continue
		}
		if !m.IsPartial {
			c.reportUIMessage(&m)
		}
	}
	c.reportPendingResult()
	return true
}

// reportUIMessage reports an element of ui_messages.json. An element with a part of a call's output is only collected.
// The collected output is reported as the call's result before the next element of another kind.
func (c *clineReader) reportUIMessage(m *clineMessage) {
	switch kind := m.Say + m.Ask; kind {
	case "command_output", "mcp_server_response", "browser_action_result":
		c.pendingOutput = append(c.pendingOutput, m.Text)
		return
	default:
		c.reportPendingResult()
		c.reportUIText(kind, m)
		c.reportUIToolCall(kind, m.Text)
		if m.Text != "" && !clineMessageKinds()[kind] {
			c.Event.reportUnknownPart("messages", kind, c.yieldEvent)
		}
	}
}

// clineMessageKinds contains the message kinds that are read, and the kinds that show states of the program.
var clineMessageKinds = lazyWordSet(`
	act_mode_respond browser_action browser_action_launch command completion_result condense condense_context followup
	new_task plan_mode_respond reasoning report_bug subtask_result summarize_task task text tool use_mcp_server
	use_subagents user_feedback user_feedback_diff

	api_req_deleted api_req_failed api_req_finished api_req_rate_limit_wait api_req_rate_limited api_req_retried
	api_req_retry_delayed
	api_req_started auto_approval_max_req_reached browser_session_status checkpoint_created checkpoint_saved
	clineignore_error codebase_search_result command_permission_denied condense_context_error conditional_rules_applied
	deleted_api_reqs diff_error error error_retry generate_explanation hook hook_output hook_output_stream hook_status
	image info interactive_app invalid_model load_mcp_documentation mcp_notification mcp_server_request_started
	mistake_limit_reached payment_required_prompt resume_completed_task resume_task rooignore_error
	shell_integration_warning shell_integration_warning_with_suggestion sliding_window_truncation subagent
	subagent_usage task_progress too_many_tools_warning user_edit_todos`)

// reportUIText reports the text of the message m in ui_messages.json. The message kind decides which event is reported:
// a prompt, a thought of the agent, a text of the agent, or the summary of a compacted conversation. The text of a
// message of any other kind is not reported.
func (c *clineReader) reportUIText(kind string, m *clineMessage) {
	isTask := kind == "task" || (kind == "text" && !c.hasPrompt)
	switch {
	case isTask, kind == "user_feedback":
		c.hasPrompt = true
		c.reportText(EventPrompt, m.Text)
	case kind == "reasoning":
		c.reportText(EventAgentThought, m.Text)
	case slices.Contains(clineAgentTexts, kind):
		c.reportText(EventText, clineQuestionText(m.Text))
	case kind == "user_feedback_diff":
		c.reportText(noEventKind, m.Text)
	case kind == "condense_context", kind == "condense", kind == "summarize_task":
		e := c.Event
		e.Kind, e.Text = EventConversationCompacted, m.Text+m.Condensed.Summary
		c.yieldEvent(&e)
	}
}

// clineAgentTexts lists the message kinds that are texts of the agent.
var clineAgentTexts = []string{
	"text", "completion_result", "followup", "plan_mode_respond", "act_mode_respond", "subtask_result",
}

// clineQuestionText returns the text of a question to the person, or of an answer. If the message is a JSON object, the
// text is in the field question or response. Otherwise the text is the message without the suffix HAS_CHANGES, which
// Cline may append.
func clineQuestionText(text string) string {
	var answer struct {
		Question string `json:"question"`
		Response string `json:"response"`
	}
	if strings.HasPrefix(text, "{") && json.Unmarshal([]byte(text), &answer) == nil {
		if found := answer.Question + answer.Response; found != "" {
			return found
		}
	}
	return strings.TrimSuffix(text, "HAS_CHANGES")
}

// clineToolsByUIName maps tool names in ui_messages.json to the names that the model uses.
var clineToolsByUIName = map[string]string{
	"editedExistingFile": "replace_in_file", "newFileCreated": "write_to_file", "appliedDiff": "apply_diff",
	"searchAndReplace": "search_and_replace", "insertContent": "insert_content", "fileDeleted": "delete_file",
	"readFile": "read_file", "listFilesTopLevel": "list_files", "listFilesRecursive": "list_files",
	"listCodeDefinitionNames": "list_code_definition_names", "searchFiles": "search_files",
	"codebaseSearch": "codebase_search", "webFetch": "web_fetch", "webSearch": "web_search", "useSkill": "use_skill",
	"updateTodoList": "update_todo_list",
}

// reportUIToolCall reports a tool call if kind is the kind of a message about a call. It ignores other messages. The
// content of text depends on kind: it is a JSON object, a command line, a URL or plain text.
func (c *clineReader) reportUIToolCall(kind, text string) {
	var tool string
	args := json.RawMessage(text)
	switch kind {
	case "tool":
		var t struct {
			Tool string `json:"tool"`
			Path string `json:"path"`
		}
		if !parseObject(args, &t) {
			return
		}
		tool = clineToolsByUIName[t.Tool]
		if tool == "" {
			tool = t.Tool
		}
		if tool == "web_fetch" { // For web_fetch, the JSON field "path" contains a URL.
			args, _ = json.Marshal(map[string]string{"url": t.Path})
		}
	case "command":
		tool = "execute_command"
		args, _ = json.Marshal(map[string]string{"command": strings.TrimSuffix(text, "REQ_APP")})
	case "browser_action_launch":
		tool = "browser_action"
		args, _ = json.Marshal(map[string]string{"url": text})
	case "use_mcp_server":
		var t struct {
			Server string          `json:"serverName"`
			Tool   string          `json:"toolName"`
			Args   json.RawMessage `json:"arguments"`
			URI    string          `json:"uri"`
		}
		if !parseObject(args, &t) {
			return
		}
		tool, args = "mcp__"+t.Server+"__"+t.Tool, embeddedJSON(t.Args)
		if t.URI != "" {
			tool = "access_mcp_resource"
			args, _ = json.Marshal(map[string]string{"uri": t.URI})
		}
	case "browser_action", "use_subagents":
		tool = kind
	case "new_task", "report_bug": // The agent wrote the text, which is JSON in some versions.
		tool = kind
		if !json.Valid(args) {
			args, _ = json.Marshal(map[string]string{"context": text})
		}
	default:
		return
	}
	c.callCount++
	c.pendingCallID = "c" + strconv.Itoa(c.callCount)
	c.reportCall(c.pendingCallID, tool, args)
}

// reportPendingResult reports the result of the last call, if the result was not reported yet. The reported result has
// no exit status, because the session files that this reader reads do not contain the exit status of a command.
func (c *clineReader) reportPendingResult() {
	if c.pendingCallID != "" {
		c.reportResult(callResult{id: c.pendingCallID, output: strings.Join(c.pendingOutput, "\n")})
	}
	c.pendingCallID, c.pendingOutput = "", nil
}

var clineWorkingDirPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`Current (?:Working|Workspace) Directory \((.+?)\)`)
})

// findClineWorkingDir returns the working directory of a task. The parameter path is the path of the task's transcript.
// findClineWorkingDir searches these files in this order, and returns the first directory that it finds:
//
//   - history_item.json and ID.json next to the transcript, where ID is the task's ID
//   - taskHistory.json, which lists all tasks
//   - api_conversation_history.json next to the transcript
//
// It returns "" if no file names the directory.
func findClineWorkingDir(path string) string {
	dir := filepath.Dir(path)
	id := filepath.Base(dir)
	var item struct {
		Dir       string `json:"cwd"`       // working directory in files of Cline's command line
		Workspace string `json:"workspace"` // used by Roo Code and Kilo Code
	}
	for _, name := range []string{"history_item.json", id + ".json"} {
		// Ignore the error, because another file may contain the session's working directory.
		_ = json.Unmarshal(readSmallFile(filepath.Join(dir, name)), &item)
		if found := item.Dir + item.Workspace; found != "" {
			return found
		}
	}
	var history []struct {
		ID  string `json:"id"`
		Dir string `json:"cwdOnTaskInitialization"`
	}
	_ = json.Unmarshal(readSmallFile(filepath.Join(dir, "..", "..", "state", "taskHistory.json")), &history)
	for _, h := range history {
		if h.ID == id && h.Dir != "" {
			return h.Dir
		}
	}
	found := clineWorkingDirPattern().FindSubmatch(readSmallFile(filepath.Join(dir, "api_conversation_history.json")))
	if found == nil {
		return ""
	}
	// The path is inside a JSON string, so its backslashes are doubled.
	return strings.ReplaceAll(string(found[1]), `\\`, `\`)
}

// maxSmallFileBytes is the maximum number of bytes that readSmallFile reads.
const maxSmallFileBytes = 8 << 20

// readSmallFile returns the first maxSmallFileBytes bytes of a file next to a transcript. It returns nil if the
// file cannot be read.
func readSmallFile(path string) []byte {
	in, err := vfs.OpenRegular(path)
	if err != nil {
		return nil
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, maxSmallFileBytes))
	if err != nil {
		return nil
	}
	return b
}
