// This file records the calls of editing tools and their answers, for all clients. It also interprets the calls of all
// clients except Claude Code, whose file tools are similar.

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

// chatState is the state of a conversation while its lines are read in order.
type chatState struct {
	transcript       *Transcript
	reasoningByAgent map[string]*reasoning // reasoning so far, by sub-agent ("" for the main agent)
	pendingCalls     map[string]*chatCall  // calls without an answer, by call ID
	seenCallIDs      map[string]bool
	editsByCall      map[int][]Edit // edits that were found, by chatCall.index
	callCount        int

	hasUniqueCallIDs bool // Call IDs are unique across all sessions.
	parse            func(tool string, args json.RawMessage) *chatCall

	session string
	dir     string
	model   string
}

// chatCall is a call of an editing tool whose answer was not read yet.
type chatCall struct {
	index        int
	edit         Edit
	replacements []claudeEdit
	newContent   *string // the whole file's new content, or nil if the call does not write a whole file
	patch        string

	claude *claudeCall // is set only for calls of Claude Code

	// The result of a call with a patch is recorded here and used at the end of the transcript, because the client may
	// report the file changes before or after the result.
	hasResult, hasFailed bool
	changes              map[string]reportedChange // file changes that the client reported, or nil
}

func newChat(t *Transcript) *chatState {
	return &chatState{
		transcript:       t,
		reasoningByAgent: map[string]*reasoning{},
		pendingCalls:     map[string]*chatCall{},
		seenCallIDs:      map[string]bool{},
		editsByCall:      map[int][]Edit{},
		parse:            parseCall,
	}
}

// reasoningFor returns what an agent has said and thought so far. It never returns nil.
func (c *chatState) reasoningFor(sub string) *reasoning {
	if r := c.reasoningByAgent[sub]; r != nil {
		return r
	}
	return &reasoning{}
}

func (c *chatState) addText(sub, text string) {
	c.reasoningByAgent[sub] = c.reasoningFor(sub).withText(text)
}
func (c *chatState) addThought(sub, text string) {
	c.reasoningByAgent[sub] = c.reasoningFor(sub).withThought(text)
}

// recordRequest records a person's prompt to an agent. It ignores text that a program inserted in the person's name.
func (c *chatState) recordRequest(sub, text string) {
	text = clientfile.PromptText(text)
	if text != "" {
		c.reasoningByAgent[sub] = c.reasoningFor(sub).startRequest(text)
	}
}

// editingTools contains the lower-case names of tools that edit files. A tool that takes a patch has no file argument,
// because the patch names the files.
var editingTools = map[string]bool{"edit": true, "replace": true, "write": true, "write_file": true, "create": true,
	"multiedit": true, "insert": true,
	"str_replace": true, "str_replace_editor": true, "apply_patch": true, "patch": true}

// toolArgs contains the arguments of editing tools, under the names that the different clients use.
type toolArgs struct {
	FilePath        string `json:"file_path"`
	FilePathCamel   string `json:"filePath"`
	Path            string `json:"path"`
	Command         string `json:"command"`
	Old             string `json:"old_string"`
	OldCamel        string `json:"oldString"`
	OldStr          string `json:"old_str"`
	New             string `json:"new_string"`
	NewCamel        string `json:"newString"`
	NewStr          string `json:"new_str"`
	InsertText      string `json:"insert_text"`
	ReplaceAll      bool   `json:"replace_all"`
	ReplaceAllCamel bool   `json:"replaceAll"`
	AllowMultiple   bool   `json:"allow_multiple"`
	Edits           []struct {
		Old  string `json:"old_string"`
		OldC string `json:"oldString"`
		New  string `json:"new_string"`
		NewC string `json:"newString"`
	} `json:"edits"`
	Content   *string `json:"content"`
	FileText  *string `json:"file_text"`
	Input     string  `json:"input"`
	Patch     string  `json:"patch"`
	PatchText string  `json:"patchText"`
}

// shellArgs contains the arguments of tools that run a shell command.
type shellArgs struct {
	Command json.RawMessage `json:"command"`
	Cmd     json.RawMessage `json:"cmd"`
	Workdir string          `json:"workdir"`
	Dir     string          `json:"working_directory"`
}

// parseCall parses the arguments of a tool call. It returns nil if the tool does not edit files.
func parseCall(tool string, raw json.RawMessage) *chatCall {
	name := strings.ToLower(tool)
	if !editingTools[name] && !shellTools[name] {
		return nil
	}
	var shell shellArgs
	_ = json.Unmarshal(raw, &shell) // Ignore the error: the arguments may be a text.
	if patch := shellPatch(shell.Command, shell.Cmd); patch != "" {
		return &chatCall{edit: Edit{Dir: shell.Workdir + shell.Dir}, patch: patch}
	}
	if shellTools[name] {
		return nil
	}
	var a toolArgs
	var text string
	if json.Unmarshal(raw, &text) == nil { // The arguments, or a patch, are in a JSON string.
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
	return a.toCall(shell.Workdir + shell.Dir)
}

// toCall returns the call that these arguments describe. Relative paths are relative to dir.
func (a *toolArgs) toCall(dir string) *chatCall {
	call := &chatCall{newContent: cmp.Or(a.Content, a.FileText), patch: cmp.Or(a.Input, a.Patch, a.PatchText)}
	if call.patch == "" && strings.Contains(a.Command, "*** Begin Patch") {
		call.patch = a.Command
	}
	call.edit.Path = cmp.Or(a.FilePath, a.FilePathCamel, a.Path)
	call.edit.Dir = dir
	if len(a.Edits) > 0 {
		for _, e := range a.Edits {
			call.replacements = append(
				call.replacements,
				claudeEdit{Old: cmp.Or(e.Old, e.OldC), New: cmp.Or(e.New, e.NewC)},
			)
		}
	} else if call.newContent == nil && call.patch == "" {
		call.replacements = []claudeEdit{
			{cmp.Or(a.Old, a.OldCamel, a.OldStr), cmp.Or(a.New, a.NewCamel, a.NewStr, a.InsertText), a.ReplaceAll ||
				a.ReplaceAllCamel ||
				a.AllowMultiple},
		}
	}
	return call
}

// argumentKey returns an ID for a call that depends only on the call's arguments. It is used for clients whose hook
// reports contain no call IDs.
func (call *chatCall) argumentKey() string {
	// Ignore the error: values of these types can always be encoded.
	b, _ := json.Marshal([]any{call.edit.Path, call.replacements, call.newContent, call.patch})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// recordCall records a tool call and returns it. A call that was recorded before is not recorded again. It returns nil
// if the tool edits no files, or if the call was already answered. If id is "", argumentKey identifies the call.
func (c *chatState) recordCall(id, sub, tool string, args json.RawMessage, callTime time.Time) *chatCall {
	call := c.parse(tool, args)
	if call == nil {
		return nil
	}
	if id == "" {
		id = call.argumentKey()
	}
	if c.seenCallIDs[id] {
		return c.pendingCalls[id]
	}
	c.addCall(call, id, sub, callTime)
	return call
}

// annotationCallID returns the ID under which annotations refer to a call. If call IDs are not unique across sessions,
// the session is a part of it.
func (c *chatState) annotationCallID(session, id string) string {
	if c.hasUniqueCallIDs {
		return id
	}
	return strings.TrimSpace(session + " " + id)
}

// addCall adds a call that was not recorded before, together with the agent's reasoning before it.
func (c *chatState) addCall(call *chatCall, id, sub string, callTime time.Time) {
	c.seenCallIDs[id] = true
	e := &call.edit
	e.Call = c.annotationCallID(c.session, id)
	e.Dir = cmp.Or(e.Dir, c.dir)
	e.Why = c.reasoningFor(sub).editReason()
	e.Time = callTime
	e.Session = c.session
	e.Model = c.model
	e.Sub = sub
	call.index = c.callCount
	c.callCount++
	c.transcript.CallCount++
	c.pendingCalls[id] = call
	c.reasoningByAgent[sub] = c.reasoningFor(sub).withEdit()
}

// displayedResult contains the data that a client shows to the person for a successful edit.
type displayedResult struct {
	Diff            string  `json:"fileDiff"`
	Path            string  `json:"filePath"`
	NewContent      *string `json:"newContent"`
	DetailedContent string  `json:"detailedContent"`

	// Change contains the file before and after an edit by opencode. The diff that opencode also reports is not used,
	// because it lacks the indentation.
	Change struct {
		Before *string `json:"before"`
		After  *string `json:"after"`
	} `json:"filediff"`
}

// recordAnswer records a call's answer: whether the call failed, the data that the client shows (result), and the text
// that the tool returned (output).
func (c *chatState) recordAnswer(id string, failed bool, result json.RawMessage, output string) {
	call := c.pendingCalls[id]
	switch {
	case call == nil || call.hasResult:
	case call.patch != "":
		call.hasResult, call.hasFailed = true, failed
	case failed:
		c.transcript.FailedCalls++
		delete(c.pendingCalls, id)
	default:
		c.recordResult(call, result, output)
		delete(c.pendingCalls, id)
	}
}

// recordChanges records the file changes that a client reports for a call. If the call is not known, recordChanges
// adds it.
func (c *chatState) recordChanges(id, sub string, failed bool, changes json.RawMessage, changeTime time.Time) {
	call := c.pendingCalls[id]
	isNew := id != "" && !c.seenCallIDs[id]
	if call == nil && isNew {
		call = &chatCall{}
		c.addCall(call, id, sub, changeTime)
	}
	if call == nil || call.changes != nil {
		return
	}
	call.hasResult, call.hasFailed = true, failed
	call.changes = map[string]reportedChange{}
	// Ignore the error: changes that cannot be decoded are treated as missing.
	_ = json.Unmarshal(changes, &call.changes)
}

func (c *chatState) recordResult(call *chatCall, result json.RawMessage, output string) {
	var es []Edit
	if call.claude != nil {
		es = call.claude.editsFromResult(call.edit, result, output)
	} else {
		var s displayedResult
		if len(bytes.TrimSpace(result)) > 0 && json.Unmarshal(result, &s) != nil {
			s = displayedResult{} // The answer is a text and contains no displayed data.
		}
		es = c.callEdits(call, s)
	}
	if len(es) == 0 {
		c.transcript.UnknownChanges++
	}
	c.editsByCall[call.index] = es
}

// callEdits determines the edits of an answered call. It uses the file's text before and after the edit, the diff that
// the client shows, or the text that was written, whichever is present. If none contains line numbers, the edits have
// no position, and MakeRecords searches for them in the file.
func (c *chatState) callEdits(call *chatCall, s displayedResult) []Edit {
	e := call.edit
	if s.Path != "" {
		e.Path = s.Path
	}
	if s.NewContent != nil && len(*s.NewContent) > maxFile {
		s.NewContent = nil
	}
	before, now := s.Change.Before, s.Change.After
	hasTexts := before != nil && now != nil
	if hasTexts && len(*now) <= maxFile {
		if text, places, ok := applyReplacements(*before, call.replacements); ok && text == *now {
			return e.editsInRanges(*now, places)
		}
		return e.editsInRanges(*now, changedRange(*before, *now))
	}
	if hunks, err := parseUnifiedDiff(s.Diff + s.DetailedContent); err == nil && len(hunks) > 0 {
		return numberEdits(e.hunkEdits(hunks, s.NewContent, nil))
	}
	if call.newContent != nil {
		return e.editsInRanges(
			*call.newContent,
			[]lineRange{{firstLine: 1, count: len(annotate.SplitLines([]byte(*call.newContent)))}},
		)
	}
	return numberEdits(e.snippetEdits(call.replacements, nil))
}

func (c *chatState) collectEdits() {
	rest := map[int]*chatCall{}
	for _, call := range c.pendingCalls {
		rest[call.index] = call
	}
	for i := range c.callCount {
		call := rest[i]
		switch {
		case call == nil:
			c.transcript.Edits = append(c.transcript.Edits, c.editsByCall[i]...)
		case !call.hasResult:
			c.transcript.PendingCalls++
		case call.hasFailed:
			c.transcript.FailedCalls++
		case len(call.changes) > 0:
			c.transcript.Edits = append(c.transcript.Edits, c.transcript.reportedEdits(call.edit, call.changes)...)
		default:
			c.transcript.Edits = append(c.transcript.Edits, c.transcript.requestedEdits(call.edit, call.patch)...)
		}
	}
}
