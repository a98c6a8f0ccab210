// This file generates transcripts in clients' formats, with the length and the content of real work: prompts, answers,
// calls with long outputs, compactions, forks, and incomplete last lines.

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// transcriptWriter writes transcripts below a user's home directory.
type transcriptWriter struct {
	home  string
	texts []string // texts from which the messages of people, agents and tools are composed
	rng   *rand.Rand

	fileCount, turnCount int
	byteCount            int64
	currentTime          time.Time
}

// sampleTranscript is a transcript that is being written.
type sampleTranscript struct {
	*transcriptWriter
	client, id, dir          string
	output                   io.Writer
	lineCount, toolCallCount int
	prompt                   string // ID of the current prompt
	size                     int64
	err                      error
}

// writeSessions writes sessions of several clients. It stops when the sessions have at least as many bytes as the
// argument minTotalBytes says. The argument minFirstBytes is the minimum size, in bytes, of the first session, which is
// a Claude Code session.
func (w *transcriptWriter) writeSessions(minTotalBytes, minFirstBytes int64) error {
	clients := []string{"claude", "codex", "claude", "gemini", "copilot", "claude", "qwen", "codex"}
	for n := 0; w.byteCount < minTotalBytes; n++ {
		least := int64(0)
		if n == 0 {
			least = minFirstBytes
		}
		if err := w.writeSession(clients[n%len(clients)], n, least); err != nil {
			return err
		}
	}
	return nil
}

// writeSession writes a session with several turns and at least minBytes bytes.
func (w *transcriptWriter) writeSession(client string, sessionNumber int, minBytes int64) error {
	w.currentTime = time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC).Add(time.Duration(sessionNumber) * time.Hour)
	t := &sampleTranscript{
		transcriptWriter: w,
		client:           client,
		id:               fmt.Sprintf("%08x-5bad-4000-8000-%012x", sessionNumber+1, sessionNumber+1),
		dir:              fmt.Sprintf("/home/dev/project%d", sessionNumber%12),
	}
	path := t.filePath()
	var kept bytes.Buffer // lines that are copied into a second transcript, as if the session had been forked
	if err := t.writeFile(path, func() {
		turns := 4 + w.rng.IntN(24)
		for i := 0; (i < turns || t.size < minBytes) && t.err == nil; i++ {
			hasFork := minBytes == 0 && sessionNumber%10 == 5 && client == "claude"
			if hasFork && i == 3 {
				_ = t.output.(*bufio.Writer).Flush()
				b, err := os.ReadFile(path)
				t.err = err
				if err == nil {
					kept.Write(b)
				}
			}
			if i > 0 && i%9 == 0 {
				t.writeCompaction()
			}
			t.writeTurn()
		}
		if sessionNumber%5 == 4 {
			_, _ = io.WriteString(t.output, `{"type":"user","sess`)
		}
	}); err != nil {
		return err
	}
	if kept.Len() == 0 {
		return nil
	}
	old := t.id
	t.id = "f" + t.id[1:]
	return t.writeFile(t.filePath(), func() {
		fork := fmt.Sprintf("%s-p%d", t.id, t.lineCount+1)
		// Copy the lines as Claude Code does when a session is forked: with the new session's ID, and with the ID of
		// the new session's first own prompt.
		for l := range bytes.Lines(kept.Bytes()) {
			l = bytes.ReplaceAll(l, []byte(`"promptId":"`+old), []byte(`"promptId":"`+fork+`","was":"`))
			t.writeRaw(bytes.ReplaceAll(l, []byte(`"sessionId":"`+old), []byte(`"sessionId":"`+t.id)))
		}
		t.writeTurn()
		t.writeTurn()
	})
}

func (t *sampleTranscript) writeFile(path string, fill func()) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	t.output, t.size = out, 0
	if t.client != "claude" && t.client != "qwen" {
		t.writeTranscriptHead()
	}
	fill()
	t.fileCount++
	for _, err := range []error{t.err, out.Flush(), f.Close()} {
		if err != nil {
			return err
		}
	}
	return os.Chtimes(path, t.currentTime, t.currentTime)
}

func (t *sampleTranscript) filePath() string {
	below := map[string]string{
		"claude":  ".claude/projects/-home-dev" + filepath.Base(t.dir) + "/ID.jsonl",
		"codex":   ".codex/sessions/2026/03/01/rollout-2026-03-01T08-00-00-ID.jsonl",
		"gemini":  ".gemini/tmp/" + filepath.Base(t.dir) + "/chats/session-ID.jsonl",
		"copilot": ".copilot/session-state/ID/events.jsonl",
		"qwen":    ".qwen/projects/" + filepath.Base(t.dir) + "/chats/ID.jsonl",
	}
	return filepath.Join(t.home, filepath.FromSlash(strings.Replace(below[t.client], "ID", t.id, 1)))
}

type jsonObject = map[string]any

func (t *sampleTranscript) writeRaw(line []byte) {
	n, err := t.output.Write(line)
	t.size, t.byteCount = t.size+int64(n), t.byteCount+int64(n)
	if err != nil {
		t.err = err
	}
}

// writeLine writes an object with the fields that all lines of the client have.
func (t *sampleTranscript) writeLine(o jsonObject) {
	t.currentTime = t.currentTime.Add(1500 * time.Millisecond)
	t.lineCount++
	o["timestamp"] = t.currentTime
	switch t.client {
	case "claude", "qwen":
		o["uuid"] = fmt.Sprintf("%s-u%d", t.id, t.lineCount)
		o["parentUuid"] = fmt.Sprintf("%s-u%d", t.id, t.lineCount-1)
		o["sessionId"] = t.id
		o["cwd"] = t.dir
		o["gitBranch"] = "main"
		o["version"] = "2.1.329"
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // clients do not escape HTML
	if err := e.Encode(o); err != nil {
		t.err = err
	}
	t.writeRaw(b.Bytes())
}

func (t *sampleTranscript) writeTranscriptHead() {
	switch t.client {
	case "codex":
		t.writeLine(jsonObject{
			"type":    "session_meta",
			"payload": jsonObject{"id": t.id, "cwd": t.dir, "git": jsonObject{"branch": "main"}},
		})
	case "gemini":
		t.writeLine(jsonObject{"sessionId": t.id, "startTime": t.currentTime, "kind": "main"})
	case "copilot":
		t.writeLine(jsonObject{
			"type": "session.start",
			"data": jsonObject{
				"sessionId": t.id,
				"producer":  "copilot-agent",
				"context":   jsonObject{"cwd": t.dir, "branch": "main"},
			},
		})
	}
}

// randomText returns a text of about size bytes.
func (t *sampleTranscript) randomText(size int) string {
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(t.texts[t.rng.IntN(len(t.texts))])
		b.WriteByte('\n')
	}
	return strings.ToValidUTF8(b.String()[:size], "")
}

// randomOutputSize returns a random size for the output of a tool. Most outputs are small, and few are long.
func (t *sampleTranscript) randomOutputSize() int {
	switch p := t.rng.IntN(100); {
	case p < 70:
		return 200 + t.rng.IntN(4_000)
	case p < 97:
		return 4_000 + t.rng.IntN(26_000)
	}
	return 30_000 + t.rng.IntN(70_000)
}

func (t *sampleTranscript) writeTurn() {
	t.turnCount++
	t.prompt = fmt.Sprintf("%s-p%d", t.id, t.lineCount+1)
	t.writePrompt(fmt.Sprintf("%s (%d)", t.randomText(60+t.rng.IntN(400)), t.lineCount))
	for range 2 + t.rng.IntN(11) {
		t.writeAnswer(t.randomText(80 + t.rng.IntN(600)))
		t.toolCallCount++
		exit := 0
		if t.rng.IntN(8) == 0 {
			exit = 1
		}
		t.writeCall(
			fmt.Sprintf("%s-c%d", t.id, t.toolCallCount),
			fmt.Sprintf("go test ./part%d -run Test%d", t.rng.IntN(40), t.rng.IntN(200)),
			t.randomText(t.randomOutputSize()),
			exit,
		)
	}
	t.writeAnswer(t.randomText(300 + t.rng.IntN(1_500)))
}

func (t *sampleTranscript) writePrompt(text string) {
	switch t.client {
	case "claude":
		t.writeLine(jsonObject{
			"type":         "user",
			"promptId":     t.prompt,
			"turnPosition": jsonObject{"turnIndex": t.lineCount},
			"message":      jsonObject{"role": "user", "content": text},
		})
	case "codex":
		t.writeLine(
			jsonObject{"type": "event_msg", "payload": jsonObject{"type": "task_started", "turn_id": t.prompt}},
		)
		t.writeLine(
			jsonObject{
				"type":    "turn_context",
				"payload": jsonObject{"turn_id": t.prompt, "cwd": t.dir, "model": "gpt-5.5"},
			},
		)
		t.writeLine(jsonObject{
			"type":    "event_msg",
			"payload": jsonObject{"type": "user_message", "turn_id": t.prompt, "message": text},
		})
	case "gemini":
		t.writeLine(jsonObject{"id": t.prompt, "type": "user", "content": []any{jsonObject{"text": text}}})
	case "copilot":
		t.writeLine(jsonObject{
			"type": "user.message",
			"data": jsonObject{"content": text, "interactionId": t.prompt, "messageId": t.prompt},
		})
	case "qwen":
		t.writeLine(jsonObject{
			"type":       "user",
			"provenance": "real_user",
			"message":    jsonObject{"role": "user", "parts": []any{jsonObject{"text": text}}},
		})
		t.writeLine(jsonObject{
			"type":    "system",
			"subtype": "ui_telemetry",
			"systemPayload": jsonObject{
				"uiEvent": jsonObject{"prompt_id": t.prompt, "response_text": t.randomText(200)},
			},
		})
	}
}

func (t *sampleTranscript) writeAnswer(text string) {
	id := fmt.Sprintf("%s-m%d", t.id, t.lineCount)
	switch t.client {
	case "claude":
		t.writeLine(jsonObject{
			"type": "assistant",
			"message": jsonObject{
				"id":      id,
				"model":   "claude-sonnet-4-5",
				"role":    "assistant",
				"content": []any{jsonObject{"type": "text", "text": text}},
			},
		})
	case "codex":
		t.writeLine(jsonObject{
			"type":    "response_item",
			"payload": jsonObject{"type": "reasoning", "summary": []any{}, "encrypted_content": t.randomText(600)},
		})
		t.writeLine(jsonObject{
			"type": "response_item",
			"payload": jsonObject{
				"type":    "message",
				"id":      id,
				"role":    "assistant",
				"content": []any{jsonObject{"type": "output_text", "text": text}},
			},
		})
	case "gemini":
		t.writeLine(jsonObject{"id": id, "type": "gemini", "content": text, "model": "gemini-2.5-pro"})
		t.writeLine(jsonObject{"$set": jsonObject{"lastUpdated": t.currentTime}})
	case "copilot":
		t.writeLine(jsonObject{
			"type": "assistant.message",
			"data": jsonObject{"messageId": id, "model": "gpt-4.1", "content": text},
		})
	case "qwen":
		t.writeLine(jsonObject{
			"type":    "assistant",
			"model":   "qwen3-coder",
			"message": jsonObject{"role": "model", "parts": []any{jsonObject{"text": text}}},
		})
	}
}

func (t *sampleTranscript) writeCall(id, command, output string, exit int) {
	switch t.client {
	case "claude":
		t.writeLine(jsonObject{
			"type": "assistant",
			"message": jsonObject{
				"model": "claude-sonnet-4-5",
				"role":  "assistant",
				"content": []any{
					jsonObject{"type": "tool_use", "id": id, "name": "Bash", "input": jsonObject{"command": command}},
				},
			},
		})
		result, shown := jsonObject{
			"type":        "tool_result",
			"tool_use_id": id,
			"content":     output,
		}, any(jsonObject{"stdout": output, "stderr": "", "interrupted": false})
		if exit != 0 {
			result["content"] = "Exit code 1\n" + output
			result["is_error"] = true
			shown = "Error: Exit code 1\n" + output
		}
		t.writeLine(jsonObject{
			"type":          "user",
			"promptId":      t.prompt,
			"message":       jsonObject{"role": "user", "content": []any{result}},
			"toolUseResult": shown,
		})
	case "codex":
		// Codex stores the arguments of a call as a string that contains JSON
		args, _ := json.Marshal(jsonObject{"cmd": command})
		t.writeLine(jsonObject{
			"type": "response_item",
			"payload": jsonObject{
				"type":      "function_call",
				"name":      "exec_command",
				"call_id":   id,
				"arguments": string(args),
			},
		})
		t.writeLine(jsonObject{
			"type": "event_msg",
			"payload": jsonObject{
				"type": "item_completed",
				"item": jsonObject{"type": "CommandExecution", "id": id, "status": "completed", "exit_code": exit,
					"aggregated_output": output},
			},
		})
		t.writeLine(jsonObject{
			"type": "response_item",
			"payload": jsonObject{
				"type":    "function_call_output",
				"call_id": id,
				"output":  fmt.Sprintf("Chunk ID: 1\nProcess exited with code %d\nOutput:\n%s", exit, output),
			},
		})
	case "gemini":
		if exit != 0 {
			output += "\nExit Code: 1"
		}
		answer := []any{
			jsonObject{
				"functionResponse": jsonObject{"id": id, "response": jsonObject{"output": "Output: " + output}},
			},
		}
		t.writeLine(
			jsonObject{"id": id + "-m", "type": "gemini", "content": "", "model": "gemini-2.5-pro",
				"toolCalls": []any{jsonObject{"id": id, "name": "run_shell_command",
					"args": jsonObject{
						"command": command,
					}, "status": "success", "timestamp": t.currentTime, "result": answer}}},
		)
		t.writeLine(jsonObject{"id": id + "-r", "type": "user", "content": answer})
	case "copilot":
		t.writeLine(jsonObject{
			"type": "tool.execution_start",
			"data": jsonObject{"toolCallId": id, "toolName": "bash", "arguments": jsonObject{"command": command}},
		})
		t.writeLine(jsonObject{
			"type": "tool.execution_complete",
			"data": jsonObject{
				"toolCallId":     id,
				"success":        true,
				"shellExecution": jsonObject{"exitCode": exit},
				"result":         jsonObject{"content": output, "detailedContent": output},
			},
		})
	case "qwen":
		t.writeLine(jsonObject{
			"type":  "assistant",
			"model": "qwen3-coder",
			"message": jsonObject{
				"parts": []any{
					jsonObject{
						"functionCall": jsonObject{
							"id":   id,
							"name": "run_shell_command",
							"args": jsonObject{"command": command},
						},
					},
				},
			},
		})
		t.writeLine(
			jsonObject{
				"type": "tool_result",
				"message": jsonObject{
					"parts": []any{
						jsonObject{"functionResponse": jsonObject{"id": id, "response": jsonObject{"output": output}}},
					},
				},
				"toolCallResult": jsonObject{
					"callId":        id,
					"status":        "success",
					"resultDisplay": jsonObject{"exitCode": exit, "output": output},
				},
			},
		)
	}
}

func (t *sampleTranscript) writeCompaction() {
	switch t.client {
	case "claude":
		t.writeLine(
			jsonObject{
				"type":             "user",
				"isCompactSummary": true,
				"promptId":         t.prompt,
				"message": jsonObject{"role": "user",
					"content": "This session is being continued from a previous conversation\nSummary:\n" + t.randomText(
						3_000,
					)},
			},
		)
	case "codex":
		t.writeLine(jsonObject{
			"type": "compacted",
			"payload": jsonObject{
				"message":             t.randomText(3_000),
				"replacement_history": []any{jsonObject{"text": t.randomText(20_000)}},
			},
		})
	case "qwen":
		t.writeLine(
			jsonObject{
				"type":          "system",
				"subtype":       "chat_compression",
				"systemPayload": jsonObject{"info": jsonObject{}},
			},
		)
	case "copilot":
		t.writeLine(jsonObject{
			"type": "session.compaction_complete",
			"data": jsonObject{"success": true, "summaryContent": t.randomText(3_000)},
		})
	}
}
