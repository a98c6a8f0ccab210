// This file implements the doors (interfaces to the memory) that use the hooks of clients.

package designs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

// hookDoor is the door (the interface to the memory) of a client that reports its events to "oxbow hook".
type hookDoor struct {
	closed
	w       *world
	client  string
	session int // number that identifies the session (the session ID is "s" and this number)
	started bool
}

// report runs the hook with a report. It returns the text that the client gives to its model.
func (d *hookDoor) report(event string, fields map[string]any) (string, error) {
	report := map[string]any{"hook_event_name": event, "session_id": fmt.Sprintf("s%d", d.session), "cwd": d.w.tree}
	for k, v := range fields {
		report[k] = v
	}
	raw, err := json.Marshal(report)
	if err != nil {
		return "", err
	}
	return d.feed(raw)
}

// feed runs the command "oxbow hook" with raw as its standard input. It returns the text that the hook's answer gives
// to the model, or "" if there is no answer. The error is not nil if the command fails or writes to standard error.
func (d *hookDoor) feed(raw []byte) (string, error) {
	var out, errs bytes.Buffer
	args := append([]string{"--home", d.w.home}, d.w.flags...)
	args = append(args, "hook", d.client)
	status := cli.Run(d.w.t.Context(), d.w.env(args, bytes.NewReader(raw), &out, &errs))
	if status != 0 || errs.Len() > 0 {
		return "", fmt.Errorf("oxbow hook %s: status %d: %s", d.client, status, errs.String())
	}
	if out.Len() == 0 {
		return "", nil
	}
	var answer struct {
		Context    string `json:"context"`
		Additional string `json:"additionalContext"`
		Specific   struct {
			Context string `json:"additionalContext"`
		} `json:"hookSpecificOutput"`
	}
	err := json.Unmarshal(out.Bytes(), &answer)
	return answer.Context + answer.Additional + answer.Specific.Context, err
}

// context starts a new session. It returns the text that the hook gives to the model. In Gemini CLI, the model gets
// this text only with the first prompt. Therefore context sends a prompt, and returns an error if the hook has already
// answered the start of the session.
func (d *hookDoor) context() (string, error) {
	d.session++
	d.started = true
	text, err := d.report("SessionStart", map[string]any{"source": "startup"})
	if err != nil || d.client != "gemini" {
		return text, err
	}
	if text != "" {
		return "", fmt.Errorf("the hook of gemini answered the start with %q", text)
	}
	return d.report("BeforeAgent", map[string]any{"prompt": "hello"})
}

// prompt returns the answer to a message of the user. It starts the session before the first message, so that the
// answer contains only what the message adds.
func (d *hookDoor) prompt(message string) (string, error) {
	if !d.started {
		if _, err := d.context(); err != nil {
			return "", err
		}
	}
	event := "UserPromptSubmit"
	if d.client == "gemini" {
		event = "BeforeAgent"
	}
	if d.client == "opencode" {
		return d.report(event, map[string]any{"prompt": message, "turn_id": "t1"})
	}
	return d.report(event, map[string]any{"prompt": message})
}

func (d *hookDoor) compact(summary string) (string, error) {
	if d.client != "claude" && d.client != "qwen" {
		return "", errNoWay // the other clients do not report the summary
	}
	return d.report("PostCompact", map[string]any{"trigger": "auto", "compact_summary": summary})
}

func (d *hookDoor) end(summary string) (string, error) {
	var err error
	switch d.client {
	case "gemini":
		_, err = d.report("AfterAgent", map[string]any{"prompt": "hello", "prompt_response": summary})
	case "opencode":
		_, err = d.report("AgentText", map[string]any{"text": summary, "text_id": "p1", "turn_id": "t1"})
	case "copilot":
		return "", errNoWay // Copilot CLI does not report the last message
	default:
		_, err = d.report("Stop", map[string]any{"last_assistant_message": summary})
	}
	if err != nil {
		return "", err
	}
	return d.report("SessionEnd", map[string]any{"reason": "exit"})
}

// These are the contents of hello.go before and after the edit in the recorded sessions.
const (
	helloBefore = "package main\n\nimport \"fmt\"\n\n// Greet says hello.\nfunc Greet(name string) {\n" +
		"\tfmt.Println(\"hello, \" + name)\n}\n\nfunc main() {\n\tGreet(\"world\")\n}\n"
	helloAfter = "package main\n\nimport \"fmt\"\n\n// Greet says hello.\nfunc Greet(name string) string {\n" +
		"\treturn \"hello, \" + name\n}\n\nfunc main() {\n\tGreet(\"world\")\n}\n"
)

// recording returns the reports of hooks and the transcript of a recorded session, with local paths. In this session,
// the agent edits hello.go and says what the edited function returns. For the client opencode, the transcript is nil if
// its file does not exist.
func (d *hookDoor) recording() (hooks, transcript []byte, err error) {
	internal := filepath.Join("..", "..", "internal")
	recorded := filepath.Join(internal, "hook", "testdata", d.client+"-work")
	hooksFile, transcriptFile := filepath.Join(recorded, "hooks.jsonl"), filepath.Join(recorded, "transcript.0.jsonl")
	if d.client == "codex" {
		live := filepath.Join(internal, "agent", "fileedits", "testdata", "live")
		hooksFile, transcriptFile = filepath.Join(live, "codex.hooks"), filepath.Join(live, "codex.jsonl")
	}
	hooks, err = os.ReadFile(hooksFile)
	if err != nil {
		return nil, nil, err
	}
	transcript, err = os.ReadFile(transcriptFile)
	if d.client == "opencode" && os.IsNotExist(err) {
		err = nil
	}
	if d.client == "codex" {
		// The rest of the transcript was not written yet when the client reported the first edit.
		transcript, _, _ = bytes.Cut(transcript, []byte(`{"timestamp":"2026-11-20T21:46:24.663Z"`))
	}
	return d.localPaths(hooks), d.localPaths(transcript), err
}

// edit repeats the recorded session of the client up to the end of the turn in which the client edits hello.go. At the
// edit, it writes the new content of hello.go. It returns an error if the session contains no such turn.
func (d *hookDoor) edit() (string, error) {
	hooks, transcript, err := d.recording()
	if err != nil {
		return "", err
	}
	if err := placeTranscript(hooks, transcript); err != nil {
		return "", err
	}
	edited := false
	for line := range bytes.Lines(hooks) {
		var r struct {
			Event string `json:"hook_event_name"`
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return "", err
		}
		if !edited && isEdit(line) && (r.Event == "PostToolUse" || r.Event == "AfterTool") {
			edited = true
			if err := os.WriteFile(filepath.Join(d.w.tree, "hello.go"), []byte(helloAfter), 0o644); err != nil {
				return "", err
			}
		}
		if _, err := d.feed(line); err != nil {
			return "", err
		}
		isEnd := slices.Contains([]string{"Stop", "AfterAgent", "SessionEnd"}, r.Event)
		if edited && (isEnd || d.client == "codex") {
			return "", nil
		}
	}
	return "", fmt.Errorf("the recorded session of %s contains no whole turn with an edit of hello.go", d.client)
}

// isEdit reports whether a report is about the recorded edit of hello.go.
func isEdit(line []byte) bool {
	return bytes.Contains(line, []byte("func Greet(name string) string")) && bytes.Contains(line, []byte("hello.go"))
}

// localPaths replaces /home/dev, the user directory of the machine where the sessions were recorded, by the user
// directory of the test.
func (d *hookDoor) localPaths(data []byte) []byte {
	return bytes.ReplaceAll(data, []byte("/home/dev"), []byte(d.w.user))
}

// placeTranscript writes the transcript to the path that the first hook report with a transcript_path names. It does
// nothing if the transcript is empty. It returns an error if no report names a path.
func placeTranscript(hooks, transcript []byte) error {
	if len(transcript) == 0 {
		return nil
	}
	for line := range bytes.Lines(hooks) {
		var r struct {
			Transcript string `json:"transcript_path"`
		}
		if json.Unmarshal(line, &r) == nil && r.Transcript != "" {
			if err := os.MkdirAll(filepath.Dir(r.Transcript), 0o755); err != nil {
				return err
			}
			return os.WriteFile(r.Transcript, transcript, 0o644)
		}
	}
	return errors.New("no report names a transcript")
}

func (d *hookDoor) close() error {
	d.started = false
	return nil
}
