// This file reads the chats of VS Code: User/workspaceStorage/WORKSPACE/chatSessions/SESSION.json or .jsonl, and
// User/globalStorage/emptyWindowChatSessions. The formats come from src/vs/workbench/contrib/chat/common/model in
// microsoft/vscode (chatModel.ts and objectMutationLog.ts).
//
// A session is {"sessionId","requests":[{"requestId","timestamp","modelId","message":{"text"},"response":[…],
// "result":{"metadata":{"toolCallRounds":[{"toolCalls":[{"id","name","arguments"}]}],"toolCallResults":
// {ID:{"content":[{"value"}]}}}}}]}. A part of the response without a "kind" is text. A part with the kind "thinking"
// is reasoning, and a part with the kind "toolInvocationSerialized" is a call. The object "result" contains the calls
// with their arguments and results, but it lacks the calls if the request was stopped. The session's working directory
// is stored in the file workspace.json of the workspace.
//
// A file .jsonl is a log with the session's changes: {"kind":0,"v"} sets the whole session, {"kind":1,"k":PATH,"v"}
// sets a member, {"kind":2,"k":PATH,"v":[…],"i"} truncates an array at index i and appends the elements of v, and
// {"kind":3,"k":PATH} deletes a member. Open converts a log to the session ([replayChangeLog]).

package clientfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
)

// vscodeSession is a chat session of VS Code.
type vscodeSession struct {
	SessionID string          `json:"sessionId"`
	Created   json.RawMessage `json:"creationDate"`
	Requests  []vscodeRequest `json:"requests"`
}

// vscodeRequest is a prompt and the agent's response to it.
type vscodeRequest struct {
	ID       string          `json:"requestId"`
	Time     json.RawMessage `json:"timestamp"`
	Model    string          `json:"modelId"`
	Message  json.RawMessage `json:"message"`
	Response []vscodePart    `json:"response"`
	Result   struct {
		Metadata struct {
			Rounds []struct {
				Calls []struct {
					ID   string          `json:"id"`
					Name string          `json:"name"`
					Args json.RawMessage `json:"arguments"`
				} `json:"toolCalls"`
			} `json:"toolCallRounds"`
			Results map[string]struct {
				Content []struct {
					Value json.RawMessage `json:"value"`
				} `json:"content"`
			} `json:"toolCallResults"`
		} `json:"metadata"`
	} `json:"result"`
}

// vscodePart is a part of a response, such as a text, reasoning or a call.
type vscodePart struct {
	Kind    string          `json:"kind"`
	Value   json.RawMessage `json:"value"`
	Content json.RawMessage `json:"content"` // text of a part with kind markdownContent, as a string or as {"value"}
	Tool    string          `json:"toolId"`
	CallID  string          `json:"toolCallId"`
	Data    struct {
		Command     string `json:"command"`
		CommandLine struct {
			Original string `json:"original"`
		} `json:"commandLine"`
		State struct {
			Exit *int `json:"exitCode"`
		} `json:"terminalCommandState"`
	} `json:"toolSpecificData"`
}

// isVSCodeSession recognizes a session document of VS Code.
func isVSCodeSession(line []byte) bool {
	var s struct {
		Session  string          `json:"sessionId"`
		Requests json.RawMessage `json:"requests"`
	}
	return DecodeObject(line, &s) && s.Session != "" && s.Requests != nil
}

type vscodeReader struct{ sessionID, workingDir string }

func newVSCodeReader(path string) EventReader {
	v := &vscodeReader{}
	if path != "" {
		v.sessionID = strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), "l"), ".json")
		var workspace struct {
			Folder string `json:"folder"`
		}
		file := filepath.Join(filepath.Dir(filepath.Dir(path)), "workspace.json")
		// Ignore the error: without the workspace file, the directory is not known.
		_ = json.Unmarshal(readSmallFile(file), &workspace)
		v.workingDir = fileURLPath(workspace.Folder)
	}
	return v
}

// ParseLine implements [EventReader]. The line is a whole session.
func (v *vscodeReader) ParseLine(line []byte, offset int64, yield func(*Event)) bool {
	var s vscodeSession
	if !parseObject(line, &s) || s.Requests == nil {
		return false
	}
	if s.SessionID != "" {
		v.sessionID = s.SessionID
	}
	m := messageReporter{
		yieldEvent: yield,
		Event: Event{Offset: offset, Session: v.sessionID, WorkingDir: v.workingDir,
			Time: parseTime(s.Created)},
	}
	for i := range s.Requests {
		r := &s.Requests[i]
		m.RecordName = recordName("requests", i)
		m.beginMessage(r.ID, parseTime(r.Time))
		if r.ID == "" {
			m.beginNumberedMessage(i, m.Time)
		}
		m.Model = r.Model
		m.reportText(EventPrompt, resultText(r.Message))
		r.reportResponse(&m)
	}
	return true
}

// reportResponse reports the agent's response to a request.
func (r *vscodeRequest) reportResponse(m *messageReporter) {
	answer := ""
	say := func() {
		m.reportText(EventText, answer)
		answer = ""
	}
	hasRounds := len(r.Result.Metadata.Rounds) > 0
	for i := range r.Response {
		switch p := &r.Response[i]; p.Kind {
		case "", "markdownContent", "markdownVuln":
			answer += resultText(p.Value) + resultText(p.Content)
		case "thinking":
			say()
			m.reportText(EventAgentThought, resultText(p.Value))
		case "toolInvocationSerialized":
			say()
			if !hasRounds {
				r.reportToolInvocation(m, p)
			}
		default:
			if !vscodeNonTextPartKinds()[p.Kind] {
				m.Event.reportUnknownPart("parts", p.Kind, m.yieldEvent)
			}
		}
	}
	for _, round := range r.Result.Metadata.Rounds {
		for _, c := range round.Calls {
			m.reportCall(c.ID, c.Name, c.Args)
			output := ""
			for _, part := range r.Result.Metadata.Results[c.ID].Content {
				output += resultText(part.Value)
			}
			m.reportResult(callResult{id: c.ID, output: output})
		}
	}
	say()
}

// vscodeNonTextPartKinds contains the kinds of parts that are not the agent's texts, such as references and edits.
var vscodeNonTextPartKinds = lazyWordSet(`
	agentDetection autoModeResolution clearToPreviousToolInvocation codeCitation codeblockUri command confirmation
	contentReference disabledClaudeHooks elicitation elicitation2 elicitationSerialized extensions externalEdits
	externalToolInvocationUpdate hook info inlineReference mcpAuthenticationRequired mcpServersStarting
	mcpServersStartingSerialized mcpServersStartingSlow move multiDiffData
	notebookEdit notebookEditGroup planReview prepareToolInvocation progressMessage progressTask progressTaskResult
	progressTaskSerialized pullRequest questionCarousel reference systemNotification textEdit textEditGroup
	todoList toolInvocation treeData undoStop usedContext voiceProgress warning workspaceEdit`)

// reportToolInvocation reports a tool call and its result. VS Code does not store the call's arguments in p. Therefore
// the reported arguments are empty, except that a terminal's command line is reported as the argument "command".
func (r *vscodeRequest) reportToolInvocation(m *messageReporter, p *vscodePart) {
	args := json.RawMessage("{}")
	if command := p.Data.Command + p.Data.CommandLine.Original; command != "" {
		args, _ = json.Marshal(map[string]string{"command": command})
	}
	m.reportCall(p.CallID, p.Tool, args)
	m.reportResult(callResult{id: p.CallID, exitStatus: p.Data.State.Exit})
}

// replayChangeLog applies a log of changes and returns the resulting session as a JSON document. It ignores a last
// line that is incomplete.
func replayChangeLog(log []byte) ([]byte, error) {
	var state any
	n := 0
	for line := range bytes.Lines(log) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		var change struct {
			Kind  int   `json:"kind"`
			Path  []any `json:"k"`
			Value any   `json:"v"`
			Index *int  `json:"i"`
		}
		if err := json.Unmarshal(line, &change); err != nil {
			if !bytes.HasSuffix(log, []byte("\n")) && bytes.HasSuffix(log, line) {
				break // The client is still writing this line.
			}
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		var edit func(old any) any
		switch change.Kind {
		// If Kind is 3, the client deleted this part of the session. Value is then nil, and the part becomes null,
		// which is read like a missing part.
		case 0, 1, 3:
			edit = func(any) any { return change.Value }
		case 2:
			edit = func(old any) any {
				list, _ := old.([]any)
				if change.Index != nil {
					if n := *change.Index; n >= 0 && n < len(list) {
						list = list[:n]
					}
				}
				added, _ := change.Value.([]any)
				return append(list, added...)
			}
		default:
			return nil, fmt.Errorf("line %d: a change of kind %d is not known", n, change.Kind)
		}
		var err error
		state, err = editValueAtPath(state, change.Path, edit)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return json.Marshal(state)
}

// maxArrayIndex is the largest array index that a line of a session file may set. Each line describes a change of the
// session, and a larger index would allocate too much memory.
const maxArrayIndex = 1 << 20

// editValueAtPath replaces the part of a value at a path by edit's result, and returns the changed value. The elements
// of the path are the names of object members (strings) and the indexes of array elements (numbers). Missing parts of
// the path are created.
func editValueAtPath(value any, path []any, edit func(old any) any) (any, error) {
	if len(path) == 0 {
		return edit(value), nil
	}
	switch key := path[0].(type) {
	case string:
		object, ok := value.(map[string]any)
		if !ok {
			object = map[string]any{}
		}
		changed, err := editValueAtPath(object[key], path[1:], edit)
		object[key] = changed
		return object, err
	case float64:
		list, _ := value.([]any)
		i := int(key)
		if i < 0 || i > maxArrayIndex {
			return nil, fmt.Errorf("an array has no element %v", key)
		}
		for len(list) <= i {
			list = append(list, nil)
		}
		changed, err := editValueAtPath(list[i], path[1:], edit)
		list[i] = changed
		return list, err
	}
	return nil, fmt.Errorf("%v is not a path", path)
}
