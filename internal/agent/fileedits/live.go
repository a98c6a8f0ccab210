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
	lastPart  = 2 << 20  // bytes that are read after an edit
	turnPart  = 16 << 20 // bytes that are read at the end of a turn
	firstLine = 1 << 20  // bytes of the first line

	lateWait  = 500 * time.Millisecond // time to wait for a transcript that is written after the hook has started
	lateEvery = 10 * time.Millisecond
)

// Report is the data that a client passes to its hook.
type Report struct {
	Client string // name of the client, as for setup
	Raw    []byte // data from standard input

	CopilotHome string // directory of Copilot CLI's sessions
	Noted       string // file in which hooks have stored earlier reports of opencode

	Clean func(string) string // removes text that must not be stored from reasoning
}

func (r Report) parseReport() (*clientfile.Report, bool) {
	l, ok := clientfile.ReadReport(r.Raw)
	return &l, ok && filepath.IsLocal(l.Session)
}

// About summarizes a report.
type About struct {
	Session string
	Dir     string   // directory of the edited file, or the agent's working directory ("" if neither is known)
	Before  bool     // an edit is about to be made
	Files   []string // for Before: absolute paths of the files to be edited
	After   bool     // an edit was made, or a turn has ended
}

// About returns a summary of the report. It is empty if the report cannot be read.
func (r Report) About() About {
	l, ok := r.parseReport()
	if !ok {
		return About{}
	}
	a := About{Session: l.Session, Dir: l.Dir}
	call := parseCall(l.Tool, l.Input)
	if call != nil && filepath.IsAbs(call.edit.Path) {
		a.Dir = filepath.Dir(call.edit.Path)
	}
	a.Before = slices.Contains([]string{"PreToolUse", "BeforeTool"}, l.Event) && editsFiles(l)
	if a.Before && call != nil {
		for _, c := range call.changedFiles() {
			if !filepath.IsAbs(c.path) {
				c.path = filepath.Join(l.Dir, c.path)
			}
			a.Files = append(a.Files, c.path)
		}
	}
	a.After = (slices.Contains(editEvents, l.Event) && editsFiles(l)) || slices.Contains(endEvents, l.Event)
	return a
}

// Clients' events after an edit, and when a turn, a sub-agent or a session ends.
var (
	editEvents = []string{"PostToolUse", "AfterTool"}
	endEvents  = []string{"Stop", "AfterAgent", "SessionEnd", "SubagentStop"}
)

// liveCallID returns the ID that the reported call has in the transcript. If the report contains no ID,
// it is the last unanswered call with the same arguments.
func liveCallID(c clientfile.EventClient, l *clientfile.Report, in *eventReader) string {
	call := parseCall(l.Tool, l.Input)
	if c.UnnamedCalls {
		return call.argumentKey()
	}
	return cmp.Or(l.CallID, l.UseID, in.pendingCall(call))
}

// pendingCall returns the ID of the last unanswered call with the same arguments, or "".
func (c *chat) pendingCall(same *chatCall) string {
	found, at := "", -1
	if same == nil {
		return found
	}
	for id, call := range c.calls {
		if call.at > at && call.argumentKey() == same.argumentKey() {
			found, at = id, call.at
		}
	}
	return found
}

// Live returns the annotations for a hook's report. After an edit, these are the annotations of
// that edit. At the end of a turn, sub-agent or session, they are for all edits in the
// transcript's last part. If the reasoning for an edit is not written in time, Live returns
// nothing, and the annotation is made at the turn's end. Live changes nothing.
func Live(ctx context.Context, b *annotate.Store, r Report) ([]annotate.Record, error) {
	l, ok := r.parseReport()
	if c, _ := clientfile.FindEventClient(r.Client); !ok || c.AnswerLine == nil {
		return nil, nil // the client is unknown, or has no hooks
	}
	var t *Transcript
	var err error
	switch {
	case slices.Contains(editEvents, l.Event) && editsFiles(l):
		t, err = r.afterEdit(ctx, l)
	case slices.Contains(endEvents, l.Event):
		t, err = r.replayTurn(l)
	}
	if errors.Is(err, fs.ErrNotExist) || t == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j, err := Join(b, t, nil)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(j.Records, hasSecret), ctx.Err()
}

// hasSecret reports whether the lines of an annotation contain a secret. Such lines get no annotation.
func hasSecret(a annotate.Record) bool {
	return screen.Secrets(strings.Join(slices.Concat(a.Before, a.Block, a.After, a.Scope), "\n")) != nil
}

// editsFiles reports whether the report is about an editing tool.
func editsFiles(l *clientfile.Report) bool {
	switch strings.ToLower(l.Tool) {
	case "notebookedit", "multiedit":
		return true
	}
	return parseCall(l.Tool, l.Input) != nil
}

// afterEdit reads the transcript until it contains the call of a report, for at most lateWait. It
// returns only the edits of that call.
func (r Report) afterEdit(ctx context.Context, l *clientfile.Report) (*Transcript, error) {
	ctx, stop := context.WithTimeout(ctx, lateWait)
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
		case <-time.After(lateEvery):
		}
	}
}

// transcriptPath returns the path of the transcript for a report. In Claude Code and Qwen Code, a
// sub-agent has a separate transcript, in a directory subagents.
func (r Report) transcriptPath(l *clientfile.Report) string {
	switch {
	case l.AgentTranscript != "":
		return l.AgentTranscript
	case r.Client == "opencode":
		return r.Noted
	case r.Client == "copilot":
		return filepath.Join(r.CopilotHome, "session-state", l.Session, "events.jsonl")
	case l.AgentID == "" || !filepath.IsLocal(l.AgentID):
		return l.Transcript
	case r.Client == "claude":
		return filepath.Join(strings.TrimSuffix(l.Transcript, ".jsonl"), "subagents", "agent-"+l.AgentID+".jsonl")
	case r.Client == "qwen":
		return filepath.Join(filepath.Dir(filepath.Dir(l.Transcript)), "subagents", l.Session, "agent-"+l.AgentID+
			".jsonl")
	}
	return l.Transcript
}

// replayTurn reads the last turn of a transcript.
func (r Report) replayTurn(l *clientfile.Report) (*Transcript, error) {
	t, in, err := r.replayEnd(l, turnPart)
	if err != nil {
		return nil, err
	}
	in.end()
	r.cleanReasons(t)
	return t, nil
}

// replayCall reads the end of a transcript, and the report as its next line. It returns only the
// edits of the report's call.
func (r Report) replayCall(l *clientfile.Report) (*Transcript, error) {
	t, in, err := r.replayEnd(l, lastPart)
	if err != nil {
		return nil, err
	}
	c, _ := clientfile.FindEventClient(r.Client)
	id := liveCallID(c, l, in)
	line, err := json.Marshal(c.AnswerLine(l, id))
	if err == nil {
		err = in.readLine(line)
	}
	if err != nil {
		return nil, err
	}
	in.end()
	t.Edits = slices.DeleteFunc(t.Edits, func(e Edit) bool { return e.Call != in.callName(l.Session, id) })
	r.cleanReasons(t)
	return t, nil
}

// replayEnd reads at most maxBytes at a transcript's end, and returns the reader, which can read
// more lines.
func (r Report) replayEnd(l *clientfile.Report, maxBytes int64) (t *Transcript, in *eventReader, err error) {
	text, err := readEnd(r.transcriptPath(l), maxBytes)
	if err != nil && !(r.Client == "opencode" && errors.Is(err, fs.ErrNotExist)) {
		return nil, nil, err
	}
	c, _ := clientfile.FindEventClient(r.Client)
	t = &Transcript{Client: agentName(c.Name)}
	in = newEventReader(c, t, r.transcriptPath(l))
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && in.readLine(line) != nil {
			t.Bad++
		}
	}
	return t, in, nil
}

// cleanReasons removes secrets from the reasons of edits.
func (r Report) cleanReasons(t *Transcript) {
	for i := range t.Edits {
		t.Edits[i].Why = cmp.Or(r.Clean(t.Edits[i].Why), annotate.NoReasoning)
	}
}

// readEnd returns the first line of a file and the complete lines in its last maxBytes bytes.
func readEnd(name string, maxBytes int64) ([]byte, error) {
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
	head, err := bufio.NewReader(io.LimitReader(f, firstLine)).ReadBytes('\n')
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
