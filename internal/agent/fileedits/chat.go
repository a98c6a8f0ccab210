// This file records the calls of editing tools and the answers to these calls, for all clients. It also interprets
// these calls for all clients except Claude Code. The editing tools in all these other clients are similar to each
// other.

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
	transcript *Transcript
	// the person's last prompt, and the agent's texts and thoughts since its last edit, by sub-agent ("" for the main
	// agent)
	reasoningByAgent map[string]*agentReasoning
	pendingCalls     map[string]*chatCall // calls without an answer, by call ID
	seenCallIDs      map[string]bool
	editsByCallIndex map[int][]Edit // edits that were found, by chatCall.callIndex
	callCount        int

	hasUniqueCallIDs bool // Call IDs are unique across all sessions.
	parseCall        func(tool string, args json.RawMessage) *chatCall

	sessionID  string
	workingDir string
	model      string
}

// chatCall is a call of an editing tool whose edits were not made yet, because the answer or the end of the transcript
// was not read yet.
type chatCall struct {
	callIndex    int
	edit         Edit
	replacements []claudeEdit
	newContent   *string // the whole file's new content, or nil if the call does not write a whole file
	patch        string

	claudeCall *claudeCall // is set only for calls of Claude Code

	// whether the call was answered, and whether it failed. For a call with a patch, edits are made only at the end of
	// the transcript, because the client may report the file changes before or after the answer.
	hasResult, hasFailed bool
	reportedChanges      map[string]reportedChange // file changes that the client reported, or nil
}

func newChatState(t *Transcript) *chatState {
	return &chatState{
		transcript:       t,
		reasoningByAgent: map[string]*agentReasoning{},
		pendingCalls:     map[string]*chatCall{},
		seenCallIDs:      map[string]bool{},
		editsByCallIndex: map[int][]Edit{},
		parseCall:        parseCall,
	}
}

// reasoningOfAgent returns the texts and thoughts of an agent up to the present line. subAgent is "" for the main
// agent. The result is never nil.
func (c *chatState) reasoningOfAgent(subAgent string) *agentReasoning {
	if r := c.reasoningByAgent[subAgent]; r != nil {
		return r
	}
	return &agentReasoning{}
}

func (c *chatState) addText(subAgent, text string) {
	c.reasoningByAgent[subAgent] = c.reasoningOfAgent(subAgent).withAgentText(text)
}
func (c *chatState) addThought(subAgent, text string) {
	c.reasoningByAgent[subAgent] = c.reasoningOfAgent(subAgent).withThought(text)
}

// recordPersonRequest records a person's prompt to an agent. It ignores text that a program inserted in the
// person's name.
func (c *chatState) recordPersonRequest(subAgent, text string) {
	text = clientfile.ExtractPromptText(text)
	if text != "" {
		c.reasoningByAgent[subAgent] = c.reasoningOfAgent(subAgent).withNewRequestOnly(text)
	}
}

// editingTools contains the lower-case names of tools that edit files. A tool that takes a patch lacks a file
// argument, because the patch names the files.
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

// parseCall parses the arguments of a call of the named tool. It returns nil in these cases:
//
// - The tool does not edit files, and is not a shell tool.
// - The tool is a shell tool, and the command contains no patch.
// - The call only views a file.
// - The arguments cannot be parsed.
func parseCall(tool string, raw json.RawMessage) *chatCall {
	name := strings.ToLower(tool)
	if !editingTools[name] && !shellTools[name] {
		return nil
	}
	var shell shellArgs
	_ = json.Unmarshal(raw, &shell) // Ignore the error: the arguments may be a text.
	if patch := findShellPatch(shell.Command, shell.Cmd); patch != "" {
		return &chatCall{edit: Edit{Dir: shell.Workdir + shell.Dir}, patch: patch}
	}
	if shellTools[name] {
		return nil
	}
	var a toolArgs
	var text string
	// Some clients send the tool's arguments as JSON in a string, or send only a patch as a string.
	if json.Unmarshal(raw, &text) == nil {
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
	return a.toChatCall(shell.Workdir + shell.Dir)
}

// toChatCall returns the call that these arguments describe. Relative paths are relative to dir.
func (a *toolArgs) toChatCall(dir string) *chatCall {
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
				claudeEdit{OldText: cmp.Or(e.Old, e.OldC), NewText: cmp.Or(e.New, e.NewC)},
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

// hashCallArguments returns an ID that is made only from the call's arguments. It is used for clients whose hook
// reports contain no call IDs.
func (call *chatCall) hashCallArguments() string {
	// Ignore the error: values of these types can always be encoded.
	b, _ := json.Marshal([]any{call.edit.Path, call.replacements, call.newContent, call.patch})
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:8])
}

// recordCall records a tool call and returns it. If the call was recorded before and has no answer yet, recordCall
// returns the recorded call. It returns nil if the tool edits no files, or if the call was already answered. If callID
// is "", hashCallArguments identifies the call.
func (c *chatState) recordCall(callID, subAgent, tool string, args json.RawMessage, callTime time.Time) *chatCall {
	call := c.parseCall(tool, args)
	if call == nil {
		return nil
	}
	if callID == "" {
		callID = call.hashCallArguments()
	}
	if c.seenCallIDs[callID] {
		return c.pendingCalls[callID]
	}
	c.addCall(call, callID, subAgent, callTime)
	return call
}

// makeAnnotationCallID returns the ID under which annotations refer to a call. If call IDs are unique across sessions,
// the result is callID. Otherwise the result consists of the session and callID.
func (c *chatState) makeAnnotationCallID(session, callID string) string {
	if c.hasUniqueCallIDs {
		return callID
	}
	return strings.TrimSpace(session + " " + callID)
}

// addCall adds a call that was not recorded before, together with the agent's reasoning before it.
func (c *chatState) addCall(call *chatCall, callID, subAgent string, callTime time.Time) {
	c.seenCallIDs[callID] = true
	e := &call.edit
	e.CallID = c.makeAnnotationCallID(c.sessionID, callID)
	e.Dir = cmp.Or(e.Dir, c.workingDir)
	e.Why = c.reasoningOfAgent(subAgent).editReason()
	e.Time = callTime
	e.Session = c.sessionID
	e.Model = c.model
	e.SubAgent = subAgent
	call.callIndex = c.callCount
	c.callCount++
	c.transcript.CallCount++
	c.pendingCalls[callID] = call
	c.reasoningByAgent[subAgent] = c.reasoningOfAgent(subAgent).copyFollowedByEdit()
}

// displayedResult contains the data about a successful edit that a client stores in the transcript in order to show
// the edit to the person.
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

// recordCallAnswer records the client's answer to the call with the ID callID. result contains the data that the client
// shows to the person, and output contains the text that the tool returned. If the call is unknown or already has an
// answer, the answer is ignored.
//
// A failed call increases FailedCalls, and the edits of a successful call are recorded. In both cases, the call is no
// longer pending. A call with a patch is an exception: it stays pending until the end of the transcript, and
// recordCallAnswer only records whether it failed.
func (c *chatState) recordCallAnswer(callID string, hasFailed bool, result json.RawMessage, output string) {
	call := c.pendingCalls[callID]
	switch {
	case call == nil || call.hasResult:
	case call.patch != "":
		call.hasResult, call.hasFailed = true, hasFailed
	case hasFailed:
		c.transcript.FailedCalls++
		delete(c.pendingCalls, callID)
	default:
		c.recordEditResult(call, result, output)
		delete(c.pendingCalls, callID)
	}
}

// recordReportedChanges records the file changes that a client reports for the call with the ID callID. A call that was
// not recorded before is added, unless callID is "". The report is ignored if the call already has a report, or if the
// call is no longer pending.
func (c *chatState) recordReportedChanges(
	callID, subAgent string,
	hasFailed bool,
	changes json.RawMessage,
	changeTime time.Time,
) {
	call := c.pendingCalls[callID]
	isNew := callID != "" && !c.seenCallIDs[callID]
	if call == nil && isNew {
		call = &chatCall{}
		c.addCall(call, callID, subAgent, changeTime)
	}
	if call == nil || call.reportedChanges != nil {
		return
	}
	call.hasResult, call.hasFailed = true, hasFailed
	call.reportedChanges = map[string]reportedChange{}
	// Ignore the error: file changes that cannot be decoded are treated as if the client had not reported any.
	_ = json.Unmarshal(changes, &call.reportedChanges)
}

// recordEditResult determines the edits that a successful call made, and records them in editsByCallIndex. If there are
// none, it increases CallsWithUnknownChanges.
func (c *chatState) recordEditResult(call *chatCall, result json.RawMessage, output string) {
	var es []Edit
	if call.claudeCall != nil {
		es = call.claudeCall.editsFromResult(call.edit, result, output)
	} else {
		var s displayedResult
		if len(bytes.TrimSpace(result)) > 0 && json.Unmarshal(result, &s) != nil {
			// The result is not a JSON object, so it contains neither a diff nor the file's content.
			s = displayedResult{}
		}
		es = c.editsFromDisplay(call, s)
	}
	if len(es) == 0 {
		c.transcript.CallsWithUnknownChanges++
	}
	c.editsByCallIndex[call.callIndex] = es
}

// editsFromDisplay determines the edits that a successful call made. It uses the first of these sources that is
// present:
//
// - the file's text before and after the edit
// - the diff that the client shows to the person
// - the whole text that the call wrote
// - the replacements in the call's arguments
//
// The last source does not show where in the file the edits are. The edits then lack a position, and MakeRecords
// searches for them in the file.
func (c *chatState) editsFromDisplay(call *chatCall, displayed displayedResult) []Edit {
	e := call.edit
	if displayed.Path != "" {
		e.Path = displayed.Path
	}
	if displayed.NewContent != nil && len(*displayed.NewContent) > maxFileBytes {
		displayed.NewContent = nil
	}
	before, now := displayed.Change.Before, displayed.Change.After
	hasTexts := before != nil && now != nil
	if hasTexts && len(*now) <= maxFileBytes {
		if text, places, ok := applyReplacements(*before, call.replacements); ok && text == *now {
			return e.editsInRanges(*now, places)
		}
		return e.editsInRanges(*now, findChangedRange(*before, *now))
	}
	if hunks, err := parseUnifiedDiff(displayed.Diff + displayed.DetailedContent); err == nil && len(hunks) > 0 {
		return assignEditNumbers(e.editsFromHunks(hunks, displayed.NewContent, nil))
	}
	if call.newContent != nil {
		return e.editsInRanges(
			*call.newContent,
			[]lineRange{{firstLine: 1, lineCount: len(annotate.SplitLines([]byte(*call.newContent)))}},
		)
	}
	return assignEditNumbers(e.editsFromSnippet(call.replacements, nil))
}

// moveEditsToTranscript adds the edits of all calls to the transcript, in the order of the calls. It must be called
// once, at the end of the transcript. It also counts the calls that failed and the calls without an answer.
func (c *chatState) moveEditsToTranscript() {
	rest := map[int]*chatCall{}
	for _, call := range c.pendingCalls {
		rest[call.callIndex] = call
	}
	for i := range c.callCount {
		call := rest[i]
		switch {
		case call == nil:
			c.transcript.Edits = append(c.transcript.Edits, c.editsByCallIndex[i]...)
		case !call.hasResult:
			c.transcript.PendingCalls++
		case call.hasFailed:
			c.transcript.FailedCalls++
		case len(call.reportedChanges) > 0:
			c.transcript.Edits = append(
				c.transcript.Edits,
				c.transcript.editsFromReport(call.edit, call.reportedChanges)...)
		default:
			c.transcript.Edits = append(c.transcript.Edits, c.transcript.editsFromRequest(call.edit, call.patch)...)
		}
	}
}
