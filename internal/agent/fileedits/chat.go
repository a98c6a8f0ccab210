// This file contains the code that the readers share, because the
// file tools of these clients are similar.

package fileedits

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
)

// chat is a conversation whose lines are in order.
type chat struct {
	t     *Transcript
	said  map[string]*reasoning // by sub-agent ("" for the main agent)
	calls map[string]*chatCall  // calls without an answer
	seen  map[string]bool
	done  map[int][]Edit // edits by number of the call
	n     int

	areUnique bool // the IDs of calls are unique, also across sessions
	parse     func(tool string, args json.RawMessage) *chatCall

	session string
	dir     string
	model   string
}

// chatCall is a call of an editing tool that was not answered yet.
type chatCall struct {
	at    int
	edit  Edit
	todo  []claudeEdit
	whole *string // content of the whole file, if the call wrote the whole file (otherwise nil)
	patch string

	claude *claudeCall // the call is one of Claude Code (otherwise nil)

	// The result of a call with a patch is used at the end, because the client may report the changes
	// before or after it.
	isOver, failed bool
	changes        map[string]reportedChange // nil if the client did not report the changes
}

func newChat(t *Transcript) *chat {
	return &chat{t: t, said: map[string]*reasoning{}, calls: map[string]*chatCall{}, seen: map[string]bool{},
		done: map[int][]Edit{}, parse: parseCall}
}

// reasoningFor returns the reasoning of a sub-agent so far.
func (c *chat) reasoningFor(sub string) *reasoning {
	if r := c.said[sub]; r != nil {
		return r
	}
	return &reasoning{}
}

func (c *chat) addText(sub, text string)    { c.said[sub] = c.reasoningFor(sub).withText(text) }
func (c *chat) addThought(sub, text string) { c.said[sub] = c.reasoningFor(sub).withThought(text) }

// recordRequest records a request of the user. It ignores text that a program inserted in the user's name.
func (c *chat) recordRequest(sub, text string) {
	text = clientfile.PromptText(text)
	if text != "" {
		c.said[sub] = c.reasoningFor(sub).startRequest(text)
	}
}

// fileTools lists the editing tools by name in lower case. Tools that take a patch have the patch
// instead of a file argument.
var fileTools = map[string]bool{"edit": true, "replace": true, "write": true, "write_file": true, "create": true,
	"multiedit": true, "insert": true,
	"str_replace": true, "str_replace_editor": true, "apply_patch": true, "patch": true}

// toolArgs contains the arguments of editing tools under the names used by all clients.
type toolArgs struct {
	FilePath   string `json:"file_path"`
	FilePathC  string `json:"filePath"`
	Path       string `json:"path"`
	Command    string `json:"command"`
	Old        string `json:"old_string"`
	OldC       string `json:"oldString"`
	OldStr     string `json:"old_str"`
	New        string `json:"new_string"`
	NewC       string `json:"newString"`
	NewStr     string `json:"new_str"`
	InsertText string `json:"insert_text"`
	All        bool   `json:"replace_all"`
	AllC       bool   `json:"replaceAll"`
	Multiple   bool   `json:"allow_multiple"`
	Edits      []struct {
		Old  string `json:"old_string"`
		OldC string `json:"oldString"`
		New  string `json:"new_string"`
		NewC string `json:"newString"`
	} `json:"edits"`
	Content  *string `json:"content"`
	FileText *string `json:"file_text"`
	Input    string  `json:"input"`
	Patch    string  `json:"patch"`
	PatchC   string  `json:"patchText"`
}

// shellArgs contains the arguments of tools that run a command.
type shellArgs struct {
	Command json.RawMessage `json:"command"`
	Cmd     json.RawMessage `json:"cmd"`
	Workdir string          `json:"workdir"`
	Dir     string          `json:"working_directory"`
}

// parseCall parses the arguments of a tool. It returns nil if the tool does not edit files.
func parseCall(tool string, raw json.RawMessage) *chatCall {
	name := strings.ToLower(tool)
	if !fileTools[name] && !shells[name] {
		return nil
	}
	var shell shellArgs
	_ = json.Unmarshal(raw, &shell) // the arguments may be a text
	if patch := shellPatch(shell.Command, shell.Cmd); patch != "" {
		return &chatCall{edit: Edit{Dir: shell.Workdir + shell.Dir}, patch: patch}
	}
	if shells[name] {
		return nil
	}
	var a toolArgs
	var text string
	if json.Unmarshal(raw, &text) == nil { // the arguments, or a patch, as a JSON string
		raw = json.RawMessage(text)
		if !json.Valid(raw) {
			a.Patch = text
		}
	}
	if a.Patch == "" && json.Unmarshal(raw, &a) != nil {
		return nil
	}
	if a.Command == "view" {
		return nil
	}
	return a.asCall(shell.Workdir + shell.Dir)
}

// asCall returns the call with these arguments, in a directory if the call names one.
func (a *toolArgs) asCall(dir string) *chatCall {
	call := &chatCall{whole: cmp.Or(a.Content, a.FileText), patch: cmp.Or(a.Input, a.Patch, a.PatchC)}
	if call.patch == "" && strings.Contains(a.Command, "*** Begin Patch") {
		call.patch = a.Command
	}
	call.edit.Path = cmp.Or(a.FilePath, a.FilePathC, a.Path)
	call.edit.Dir = dir
	if len(a.Edits) > 0 {
		for _, e := range a.Edits {
			call.todo = append(call.todo, claudeEdit{Old: cmp.Or(e.Old, e.OldC), New: cmp.Or(e.New, e.NewC)})
		}
	} else if call.whole == nil && call.patch == "" {
		call.todo = []claudeEdit{
			{cmp.Or(a.Old, a.OldC, a.OldStr), cmp.Or(a.New, a.NewC, a.NewStr, a.InsertText), a.All || a.AllC ||
				a.Multiple},
		}
	}
	return call
}

// argumentKey returns a name for a call that depends only on its arguments, for clients whose hooks do not
// name calls.
func (call *chatCall) argumentKey() string {
	// Ignore the error: these types can always be encoded.
	b, _ := json.Marshal([]any{call.edit.Path, call.todo, call.whole, call.patch})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// call records a call of a tool, unless it was recorded before. If id is "", the call is identified
// by its arguments.
func (c *chat) call(id, sub, tool string, args json.RawMessage, at time.Time) *chatCall {
	call := c.parse(tool, args)
	if call == nil {
		return nil
	}
	if id == "" {
		id = call.argumentKey()
	}
	if c.seen[id] {
		return c.calls[id]
	}
	c.add(call, id, sub, at)
	return call
}

// callName returns the name of a call in annotations.
func (c *chat) callName(session, id string) string {
	if c.areUnique {
		return id
	}
	return strings.TrimSpace(session + " " + id)
}

// add records a call that was not recorded before.
func (c *chat) add(call *chatCall, id, sub string, at time.Time) {
	c.seen[id] = true
	e := &call.edit
	e.Call = c.callName(c.session, id)
	e.Dir = cmp.Or(e.Dir, c.dir)
	e.Why = c.reasoningFor(sub).why()
	e.Time = at
	e.Session = c.session
	e.Model = c.model
	e.Sub = sub
	call.at = c.n
	c.n++
	c.t.Calls++
	c.calls[id] = call
	c.said[sub] = c.reasoningFor(sub).afterEdits()
}

// shownResult contains the data that a client shows for a successful edit.
type shownResult struct {
	Diff     string  `json:"fileDiff"`
	Path     string  `json:"filePath"`
	Now      *string `json:"newContent"`
	Detailed string  `json:"detailedContent"`

	// Change is the file before and after an edit by opencode. opencode also reports a diff, which
	// is not used because it lacks the indentation.
	Change struct {
		Before *string `json:"before"`
		After  *string `json:"after"`
	} `json:"filediff"`
}

// answer records the answer to a call: whether it failed, and the data that the client shows. The
// argument output is the text that the tool returned.
func (c *chat) answer(id string, failed bool, result json.RawMessage, output string) {
	call := c.calls[id]
	switch {
	case call == nil || call.isOver:
	case call.patch != "":
		call.isOver, call.failed = true, failed
	case failed:
		c.t.Failed++
		delete(c.calls, id)
	default:
		c.recordResult(call, result, output)
		delete(c.calls, id)
	}
}

// recordChanges records the changes of files that a client reports for a call. If the call is not known,
// recordChanges adds it.
func (c *chat) recordChanges(id, sub string, failed bool, changes json.RawMessage, at time.Time) {
	call := c.calls[id]
	isNew := id != "" && !c.seen[id]
	if call == nil && isNew {
		call = &chatCall{}
		c.add(call, id, sub, at)
	}
	if call == nil || call.changes != nil {
		return
	}
	call.isOver, call.failed = true, failed
	call.changes = map[string]reportedChange{}
	_ = json.Unmarshal(changes, &call.changes) // unreadable changes are treated as missing
}

func (c *chat) recordResult(call *chatCall, result json.RawMessage, output string) {
	var es []Edit
	if call.claude != nil {
		es = call.claude.finish(call.edit, result, output)
	} else {
		var s shownResult
		if len(bytes.TrimSpace(result)) > 0 && json.Unmarshal(result, &s) != nil {
			s = shownResult{} // the answer is a text
		}
		es = c.callEdits(call, s)
	}
	if len(es) == 0 {
		c.t.Unread++
	}
	c.done[call.at] = es
}

// callEdits returns the edits of a call: from the diff that the client shows, or from the text that was
// written. If neither contains line numbers, the edits must be searched for in the file.
func (c *chat) callEdits(call *chatCall, s shownResult) []Edit {
	e := call.edit
	if s.Path != "" {
		e.Path = s.Path
	}
	if s.Now != nil && len(*s.Now) > maxFile {
		s.Now = nil
	}
	before, now := s.Change.Before, s.Change.After
	hasTexts := before != nil && now != nil
	if hasTexts && len(*now) <= maxFile {
		if text, places, ok := replaceIn(*before, call.todo); ok && text == *now {
			return e.editsFrom(*now, places)
		}
		return e.editsFrom(*now, stretchBetween(*before, *now))
	}
	if hunks, err := parseUnified(s.Diff + s.Detailed); err == nil && len(hunks) > 0 {
		return count(e.byHunks(hunks, s.Now, nil))
	}
	if call.whole != nil {
		return e.editsFrom(*call.whole, []stretch{{first: 1, n: len(annotate.SplitLines([]byte(*call.whole)))}})
	}
	return count(e.bySnippet(call.todo, nil))
}

func (c *chat) end() {
	rest := map[int]*chatCall{}
	for _, call := range c.calls {
		rest[call.at] = call
	}
	for i := range c.n {
		call := rest[i]
		switch {
		case call == nil:
			c.t.Edits = append(c.t.Edits, c.done[i]...)
		case !call.isOver:
			c.t.Pending++
		case call.failed:
			c.t.Failed++
		case len(call.changes) > 0:
			c.t.Edits = append(c.t.Edits, c.t.reportedEdits(call.edit, call.changes)...)
		default:
			c.t.Edits = append(c.t.Edits, c.t.requestedEdits(call.edit, call.patch)...)
		}
	}
}
