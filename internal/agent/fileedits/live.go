// This file makes annotations while a session runs. It reads the report that a client's hook receives after an edit,
// and the transcript, which contains the agent's reasoning.
//
// The report contains the result of a call, which the transcript does not contain yet. The transcript contains the
// text before the call. Therefore the report is read as if it were the next line of the transcript. An edit then gets
// the same ID as when the whole transcript is read later.

package fileedits

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/oxbow-memory/oxbow/internal/agent/clientfile"
	"github.com/oxbow-memory/oxbow/internal/code/annotate"
	"github.com/oxbow-memory/oxbow/internal/screening/screen"
	"github.com/oxbow-memory/oxbow/vfs"
)

// These limits apply when a hook reads a transcript. Only the transcript's first line and its end are read.
const (
	maxTranscriptTailBytes = 2 << 20 // number of bytes that are read at the transcript's end after an edit
	// number of bytes that are read at the transcript's end, after the agent has answered a prompt
	maxTurnTailBytes  = 16 << 20
	maxFirstLineBytes = 1 << 20 // maximum size of the first line in bytes

	// A client may write the transcript after it has started the hook. The hook waits at most this long.
	maxTranscriptWait      = 500 * time.Millisecond
	transcriptPollInterval = 10 * time.Millisecond
)

// HookInput is the data that a client passes to its hook.
type HookInput struct {
	ClientName string // the client's name, as in oxbow setup
	Stdin      []byte // the report, as read from standard input

	CopilotHome        string // directory in which Copilot CLI stores its sessions
	OpencodeReportFile string // file in which hooks have stored the earlier reports of opencode

	// removes secrets and the like, which must not be stored, from the agent's reasoning
	RemoveSecrets func(string) string
}

// parseReport parses the report on standard input. It returns false if this fails, or if the session ID cannot safely
// be used in a file name.
func (r HookInput) parseReport() (*clientfile.HookReport, bool) {
	l, ok := clientfile.ParseHookReport(r.Stdin)
	return &l, ok && filepath.IsLocal(l.SessionID)
}

// ReportSummary says which session and which files a client's hook report is about.
type ReportSummary struct {
	Session string
	// directory of the edited file, or else the agent's working directory ("" if neither is known)
	Dir             string
	IsEditAnnounced bool     // The report announces an edit that the agent is about to make.
	FilesToEdit     []string // absolute paths of the files that will be edited, only if IsEditAnnounced is set
	IsAfterEdit     bool     // The agent has made an edit, or a turn, a sub-agent or a session has ended.
}

// SummarizeReport returns a summary of the report. The summary is empty if the report cannot be parsed.
func (r HookInput) SummarizeReport() ReportSummary {
	l, ok := r.parseReport()
	if !ok {
		return ReportSummary{}
	}
	a := ReportSummary{Session: l.SessionID, Dir: l.WorkingDir}
	call := parseCall(l.ToolName, l.ToolInput)
	if call != nil && filepath.IsAbs(call.edit.Path) {
		a.Dir = filepath.Dir(call.edit.Path)
	}
	a.IsEditAnnounced = slices.Contains([]string{"PreToolUse", "BeforeTool"}, l.EventName) && isEditReport(l)
	if a.IsEditAnnounced && call != nil {
		for _, c := range call.changedFiles() {
			if !filepath.IsAbs(c.path) {
				c.path = filepath.Join(l.WorkingDir, c.path)
			}
			a.FilesToEdit = append(a.FilesToEdit, c.path)
		}
	}
	a.IsAfterEdit = (slices.Contains(editEventNames, l.EventName) && isEditReport(l)) ||
		slices.Contains(endEventNames, l.EventName)
	return a
}

// These names belong to events that clients report after an edit, and at the end of a turn, a sub-agent or a session.
var (
	editEventNames = []string{"PostToolUse", "AfterTool"}
	endEventNames  = []string{"Stop", "AfterAgent", "SessionEnd", "SubagentStop"}
)

// findReportedCallID returns the ID by which reader identifies the tool call in the hook report l. The ID is the first
// of these that applies:
//
// - a hash of the call's arguments, if the client's hook reports contain no call IDs (c.HasNoHookCallIDs)
// - the call ID in the report
// - the ID of the last unanswered call with the same arguments
// - "" if there is no such call
func findReportedCallID(c clientfile.EventClient, l *clientfile.HookReport, reader *eventReader) string {
	call := parseCall(l.ToolName, l.ToolInput)
	if c.HasNoHookCallIDs {
		return call.hashCallArguments()
	}
	return cmp.Or(l.CallID, l.ToolUseID, reader.findPendingCallID(call))
}

// findPendingCallID returns the ID of the last unanswered call with the same arguments, or "" without such a call.
func (c *chatState) findPendingCallID(wanted *chatCall) string {
	found, at := "", -1
	if wanted == nil {
		return found
	}
	for id, call := range c.pendingCalls {
		if call.callIndex > at && call.hashCallArguments() == wanted.hashCallArguments() {
			found, at = id, call.callIndex
		}
	}
	return found
}

// AnnotationsForHook returns annotations for edits that the agent made before a hook ran. A hook that runs after an
// edit annotates only this edit. A hook at the end of a turn, a sub-agent or a session annotates all edits in the
// transcript's last part. If the client does not write an edit's reasoning in time, AnnotationsForHook returns nothing
// for the edit. The edit is then annotated at the end of the turn. AnnotationsForHook does not change the store.
func AnnotationsForHook(ctx context.Context, b *annotate.Store, r HookInput) ([]annotate.Record, error) {
	l, ok := r.parseReport()
	if c, _ := clientfile.FindEventClient(r.ClientName); !ok || c.MakeResultLine == nil {
		return nil, nil // The client is unknown, or oxbow does not read its hooks.
	}
	var t *Transcript
	var err error
	switch {
	case slices.Contains(editEventNames, l.EventName) && isEditReport(l):
		t, err = r.waitForEditsOfCall(ctx, l)
	case slices.Contains(endEventNames, l.EventName):
		t, err = r.readReportedTurnEdits(l)
	}
	if errors.Is(err, fs.ErrNotExist) || t == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j, err := MakeRecords(b, t, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(j.Records, hasSecret), ctx.Err()
}

// hasSecret reports whether a record's lines contain a secret. Such a record is not stored.
func hasSecret(a annotate.Record) bool {
	return screen.FindSecrets(
		strings.Join(slices.Concat(a.LinesBefore, a.Block, a.LinesAfter, a.EnclosingLines), "\n"),
	) != nil
}

// isEditReport reports whether a report is about a call of an editing tool.
func isEditReport(l *clientfile.HookReport) bool {
	switch strings.ToLower(l.ToolName) {
	case "notebookedit", "multiedit":
		return true
	}
	return parseCall(l.ToolName, l.ToolInput) != nil
}

// waitForEditsOfCall reads the transcript repeatedly until it contains the reported call. The result contains only the
// edits of this call. If the transcript does not contain the call within maxTranscriptWait, or if ctx ends, the result
// is nil without an error.
func (r HookInput) waitForEditsOfCall(ctx context.Context, l *clientfile.HookReport) (*Transcript, error) {
	ctx, stop := context.WithTimeout(ctx, maxTranscriptWait)
	defer stop()
	for size := int64(-1); ; {
		now := int64(0)
		if fi, err := os.Stat(r.transcriptPath(l)); err == nil {
			now = fi.Size()
		}
		if now != size {
			size = now
			t, err := r.readEditsOfReportedCall(l)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			if err == nil && len(t.Edits) > 0 {
				return t, nil
			}
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(transcriptPollInterval):
		}
	}
}

// transcriptPath returns the path of the transcript that belongs to a report. A sub-agent of Claude Code or Qwen Code
// has its own transcript in a directory named subagents.
func (r HookInput) transcriptPath(l *clientfile.HookReport) string {
	switch {
	case l.AgentTranscript != "":
		return l.AgentTranscript
	case r.ClientName == "opencode":
		return r.OpencodeReportFile
	case r.ClientName == "copilot":
		return filepath.Join(r.CopilotHome, "session-state", l.SessionID, "events.jsonl")
	case l.AgentID == "" || !filepath.IsLocal(l.AgentID):
		return l.TranscriptPath
	case r.ClientName == "claude":
		return filepath.Join(strings.TrimSuffix(l.TranscriptPath, ".jsonl"), "subagents", "agent-"+l.AgentID+".jsonl")
	case r.ClientName == "qwen":
		return filepath.Join(
			filepath.Dir(filepath.Dir(l.TranscriptPath)),
			"subagents",
			l.SessionID,
			"agent-"+l.AgentID+
				".jsonl",
		)
	}
	return l.TranscriptPath
}

// readReportedTurnEdits reads the transcript that belongs to the hook report l: the first line, and the last
// maxTurnTailBytes bytes. It returns a [Transcript] with the edits that it finds there. Secrets are removed from the
// reasons of the edits.
func (r HookInput) readReportedTurnEdits(l *clientfile.HookReport) (*Transcript, error) {
	t, in, err := r.readTranscriptTail(l, maxTurnTailBytes)
	if err != nil {
		return nil, err
	}
	in.moveEditsToTranscript()
	r.redactEditReasons(t)
	return t, nil
}

// readEditsOfReportedCall returns only the edits of the call that the hook reports. It reads the end of the transcript.
// The transcript does not contain the call's result yet, so readEditsOfReportedCall adds the result as another line.
func (r HookInput) readEditsOfReportedCall(l *clientfile.HookReport) (*Transcript, error) {
	t, in, err := r.readTranscriptTail(l, maxTranscriptTailBytes)
	if err != nil {
		return nil, err
	}
	c, _ := clientfile.FindEventClient(r.ClientName)
	id := findReportedCallID(c, l, in)
	line, err := json.Marshal(c.MakeResultLine(l, id))
	if err == nil {
		err = in.readLine(line)
	}
	if err != nil {
		return nil, err
	}
	in.moveEditsToTranscript()
	t.Edits = slices.DeleteFunc(
		t.Edits,
		func(e Edit) bool { return e.CallID != in.makeAnnotationCallID(l.SessionID, id) },
	)
	r.redactEditReasons(t)
	return t, nil
}

// readTranscriptTail reads the first line and the last maxBytes bytes of the transcript that belongs to the hook report
// l. The caller can pass further lines to reader. The edits are added to t only when the caller calls the reader's
// moveEditsToTranscript.
func (r HookInput) readTranscriptTail(
	l *clientfile.HookReport,
	maxBytes int64,
) (t *Transcript, reader *eventReader, err error) {
	text, err := readFirstLineAndTail(r.transcriptPath(l), maxBytes)
	if err != nil && !(r.ClientName == "opencode" && errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	c, _ := clientfile.FindEventClient(r.ClientName)
	t = &Transcript{Client: annotationAgentName(c.Name)}
	reader = newEventReader(c, t, r.transcriptPath(l))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && reader.readLine(line) != nil {
			t.UnreadableLines++
		}
	}
	return t, reader, nil
}

// redactEditReasons removes secrets from the reasons of the edits. If a reason is then empty, redactEditReasons
// replaces the reason by annotate.NoReasoning.
func (r HookInput) redactEditReasons(t *Transcript) {
	for i := range t.Edits {
		t.Edits[i].Why = cmp.Or(r.RemoveSecrets(t.Edits[i].Why), annotate.NoReasoning)
	}
}

// readFirstLineAndTail returns the first line of a file and the complete lines in its last maxBytes bytes. If the file
// is not longer than maxBytes, it returns the whole file. A first line that is longer than maxFirstLineBytes is left
// out.
func readFirstLineAndTail(name string, maxBytes int64) ([]byte, error) {
	f, err := vfs.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if fi.Size() <= maxBytes {
		return io.ReadAll(io.LimitReader(f, maxBytes))
	}
	head, err := bufio.NewReader(io.LimitReader(f, maxFirstLineBytes)).ReadBytes('\n')
	if err != nil {
		head = nil // The file's first line is longer than maxFirstLineBytes, so leave it out.
	}
	tail := make([]byte, maxBytes)
	n, err := f.ReadAt(tail, fi.Size()-maxBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	_, tail, _ = bytes.Cut(tail[:n], []byte("\n"))
	return slices.Concat(head, tail), nil
}
