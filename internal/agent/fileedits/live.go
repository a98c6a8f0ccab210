// This file makes annotations while a session runs, from the reports that a client sends to its
// hook after an edit, and from the transcript, which contains the reasoning.
//
// The hook's report contains the result of a call that the transcript does not contain yet. The
// transcript contains the text before the call. So the report is read as the next line of the
// transcript. This gives an edit the same name as when the transcript is read later.

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

// Limits for reading a transcript after a report. Only the transcript's end and first
// line are read.
const (
	maxEditTail  = 2 << 20  // bytes that are read after an edit
	maxTurnTail  = 16 << 20 // bytes that are read at the end of a turn
	maxFirstLine = 1 << 20  // bytes of the first line

	// Time to wait for a transcript that is written after the hook has started.
	maxTranscriptWait      = 500 * time.Millisecond
	transcriptPollInterval = 10 * time.Millisecond
)

// HookInput is the data that a client passes to its hook.
type HookInput struct {
	Client string // name of the client, as for setup
	Stdin  []byte // data from standard input

	CopilotHome     string // directory of Copilot CLI's sessions
	OpencodeReports string // file in which hooks have stored earlier reports of opencode

	RemoveSecrets func(string) string // removes text that must not be stored from reasoning
}

func (r HookInput) parseReport() (*clientfile.HookReport, bool) {
	l, ok := clientfile.ParseReport(r.Stdin)
	return &l, ok && filepath.IsLocal(l.SessionID)
}

// ReportSummary summarizes a report.
type ReportSummary struct {
	Session      string
	Dir          string   // directory of the edited file, or the agent's working directory ("" if neither is known)
	IsBeforeEdit bool     // an edit is about to be made
	Files        []string // for Before: absolute paths of the files to be edited
	IsAfterEdit  bool     // an edit was made, or a turn has ended
}

// Summarize returns a summary of the report. It is empty if the report cannot be read.
func (r HookInput) Summarize() ReportSummary {
	l, ok := r.parseReport()
	if !ok {
		return ReportSummary{}
	}
	a := ReportSummary{Session: l.SessionID, Dir: l.Dir}
	call := parseCall(l.ToolName, l.ToolInput)
	if call != nil && filepath.IsAbs(call.edit.Path) {
		a.Dir = filepath.Dir(call.edit.Path)
	}
	a.IsBeforeEdit = slices.Contains([]string{"PreToolUse", "BeforeTool"}, l.EventName) && isEditReport(l)
	if a.IsBeforeEdit && call != nil {
		for _, c := range call.changedFiles() {
			if !filepath.IsAbs(c.path) {
				c.path = filepath.Join(l.Dir, c.path)
			}
			a.Files = append(a.Files, c.path)
		}
	}
	a.IsAfterEdit = (slices.Contains(editEvents, l.EventName) && isEditReport(l)) ||
		slices.Contains(endEvents, l.EventName)
	return a
}

// Clients' events after an edit, and when a turn, a sub-agent or a session ends.
var (
	editEvents = []string{"PostToolUse", "AfterTool"}
	endEvents  = []string{"Stop", "AfterAgent", "SessionEnd", "SubagentStop"}
)

// liveCallID returns the ID that the reported call has in the transcript. If the report contains no ID,
// it is the last unanswered call with the same arguments.
func liveCallID(c clientfile.EventClient, l *clientfile.HookReport, reader *eventReader) string {
	call := parseCall(l.ToolName, l.ToolInput)
	if c.HasUnnamedCalls {
		return call.argumentKey()
	}
	return cmp.Or(l.CallID, l.ToolUseID, reader.pendingCallID(call))
}

// pendingCallID returns the ID of the last unanswered call with the same arguments, or "".
func (c *chatState) pendingCallID(same *chatCall) string {
	found, at := "", -1
	if same == nil {
		return found
	}
	for id, call := range c.pendingCalls {
		if call.index > at && call.argumentKey() == same.argumentKey() {
			found, at = id, call.index
		}
	}
	return found
}

// AnnotationsForHook returns the annotations for a hook's report. After an edit, these are the annotations of
// that edit. At the end of a turn, sub-agent or session, they are for all edits in the
// transcript's last part. If the reasoning for an edit is not written in time, AnnotationsForHook returns
// nothing, and the annotation is made at the turn's end. AnnotationsForHook changes nothing.
func AnnotationsForHook(ctx context.Context, b *annotate.Store, r HookInput) ([]annotate.Record, error) {
	l, ok := r.parseReport()
	if c, _ := clientfile.FindEventClient(r.Client); !ok || c.ResultLine == nil {
		return nil, nil // the client is unknown, or has no hooks
	}
	var t *Transcript
	var err error
	switch {
	case slices.Contains(editEvents, l.EventName) && isEditReport(l):
		t, err = r.waitForCall(ctx, l)
	case slices.Contains(endEvents, l.EventName):
		t, err = r.replayTurn(l)
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

// hasSecret reports whether the lines of an annotation contain a secret. Such lines get no annotation.
func hasSecret(a annotate.Record) bool {
	return screen.Secrets(strings.Join(slices.Concat(a.Before, a.Block, a.After, a.Scope), "\n")) != nil
}

// isEditReport reports whether the report is about an editing tool.
func isEditReport(l *clientfile.HookReport) bool {
	switch strings.ToLower(l.ToolName) {
	case "notebookedit", "multiedit":
		return true
	}
	return parseCall(l.ToolName, l.ToolInput) != nil
}

// waitForCall reads the transcript until it contains the call of a report, for at most maxTranscriptWait. It
// returns only the edits of that call.
func (r HookInput) waitForCall(ctx context.Context, l *clientfile.HookReport) (*Transcript, error) {
	ctx, stop := context.WithTimeout(ctx, maxTranscriptWait)
	defer stop()
	for size := int64(-1); ; {
		now := int64(0)
		if fi, err := os.Stat(r.transcriptPath(l)); err == nil {
			now = fi.Size()
		}
		if now != size {
			size = now
			t, err := r.replayCall(l)
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

// transcriptPath returns the path of the transcript for a report. In Claude Code and Qwen Code, a
// sub-agent has a separate transcript, in a directory subagents.
func (r HookInput) transcriptPath(l *clientfile.HookReport) string {
	switch {
	case l.AgentTranscript != "":
		return l.AgentTranscript
	case r.Client == "opencode":
		return r.OpencodeReports
	case r.Client == "copilot":
		return filepath.Join(r.CopilotHome, "session-state", l.SessionID, "events.jsonl")
	case l.AgentID == "" || !filepath.IsLocal(l.AgentID):
		return l.TranscriptPath
	case r.Client == "claude":
		return filepath.Join(strings.TrimSuffix(l.TranscriptPath, ".jsonl"), "subagents", "agent-"+l.AgentID+".jsonl")
	case r.Client == "qwen":
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

// replayTurn reads the last turn of a transcript.
func (r HookInput) replayTurn(l *clientfile.HookReport) (*Transcript, error) {
	t, in, err := r.replayTail(l, maxTurnTail)
	if err != nil {
		return nil, err
	}
	in.collectEdits()
	r.cleanReasons(t)
	return t, nil
}

// replayCall reads the end of a transcript, and the report as its next line. It returns only the
// edits of the report's call.
func (r HookInput) replayCall(l *clientfile.HookReport) (*Transcript, error) {
	t, in, err := r.replayTail(l, maxEditTail)
	if err != nil {
		return nil, err
	}
	c, _ := clientfile.FindEventClient(r.Client)
	id := liveCallID(c, l, in)
	line, err := json.Marshal(c.ResultLine(l, id))
	if err == nil {
		err = in.readLine(line)
	}
	if err != nil {
		return nil, err
	}
	in.collectEdits()
	t.Edits = slices.DeleteFunc(t.Edits, func(e Edit) bool { return e.Call != in.annotationCallID(l.SessionID, id) })
	r.cleanReasons(t)
	return t, nil
}

// replayTail reads at most maxBytes at a transcript's end, and returns the reader, which can read
// more lines.
func (r HookInput) replayTail(
	l *clientfile.HookReport,
	maxBytes int64,
) (t *Transcript, reader *eventReader, err error) {
	text, err := readFirstLineAndTail(r.transcriptPath(l), maxBytes)
	if err != nil && !(r.Client == "opencode" && errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	c, _ := clientfile.FindEventClient(r.Client)
	t = &Transcript{Client: agentName(c.Name)}
	reader = newEventReader(c, t, r.transcriptPath(l))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && reader.readLine(line) != nil {
			t.UnreadableLines++
		}
	}
	return t, reader, nil
}

// cleanReasons removes secrets from the reasons of edits.
func (r HookInput) cleanReasons(t *Transcript) {
	for i := range t.Edits {
		t.Edits[i].Why = cmp.Or(r.RemoveSecrets(t.Edits[i].Why), annotate.NoReasoning)
	}
}

// readFirstLineAndTail returns the first line of a file and the complete lines in its last maxBytes bytes.
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
	head, err := bufio.NewReader(io.LimitReader(f, maxFirstLine)).ReadBytes('\n')
	if err != nil {
		head = nil // the line is too long
	}
	tail := make([]byte, maxBytes)
	n, err := f.ReadAt(tail, fi.Size()-maxBytes)
	if err != nil && err != io.EOF {
		return nil, err
	}
	_, tail, _ = bytes.Cut(tail[:n], []byte("\n"))
	return slices.Concat(head, tail), nil
}
