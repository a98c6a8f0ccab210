// This file tests the plug-in for opencode by running it in node.

package hook_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/hook"
	"github.com/oxbow-memory/oxbow/test/testenv"
)

// The constant answers contains a JavaScript program. If a session starts, the program prints a context. If a prompt
// contains a space, the program prints a context that repeats the prompt. The program ignores all other events.
const answers = `let text = ""
process.stdin.on("data", (d) => (text += d)).on("end", () => {
  const r = JSON.parse(text)
  if (r.hook_event_name === "SessionStart") console.log(JSON.stringify({ context: "the start" }))
  if (r.hook_event_name === "UserPromptSubmit" && r.prompt.includes(" ")) console.log(JSON.stringify({ context: "to " + r.prompt }))
})`

// talk calls the plug-in as opencode does.
const talk = `import { Oxbow } from "./oxbow.mjs"
const p = await Oxbow({ directory: "/p" })
const say = async (n, text) => {
  const message = { id: "msg_" + n }
  const parts = [{ id: "prt_" + n, sessionID: "ses_1", messageID: message.id, type: "text", text }]
  await p["chat.message"]({ sessionID: "ses_1" }, { message, parts })
  const system = ["You are."]
  await p["experimental.chat.system.transform"]({ sessionID: "ses_1" }, { system })
  console.log(JSON.stringify({ parts, system }))
}
await say(1, "when ship")
await say(2, "thanks")
await p.dispose()`

// The constant keeps contains a JavaScript program that reads the report of an event and creates an empty file. The
// name of the file is "kept." followed by the name of the event.
const keeps = `import { writeFileSync } from "node:fs"
let text = ""
process.stdin.on("data", (d) => (text += d)).on("end", () => {
  const name = JSON.parse(text).hook_event_name
  writeFileSync(new URL("kept." + name, import.meta.url), "")
})`

// The constant slow contains a JavaScript program that calls the plug-in with the result of a command, and then with a
// prompt. The plug-in starts the program keeps for both, with a deadline that is too short. The program slow waits
// until keeps has created the file for the command, and prints whether the file for the prompt exists.
const slow = `import { existsSync } from "node:fs"
import { Oxbow } from "./oxbow.mjs"
const p = await Oxbow({ directory: "/p" })
const state = { status: "completed", input: { command: "ls" }, output: "a", metadata: { exit: 0 } }
const part = { type: "tool", tool: "bash", sessionID: "ses_1", callID: "c1", state }
await p.event({ event: { type: "message.part.updated", properties: { part } } })
const message = { id: "msg_1" }
await p["chat.message"]({ sessionID: "ses_1" }, { message, parts: [{ type: "text", text: "when ship" }] })
await p.dispose()
while (!existsSync(new URL("kept.PostToolUse", import.meta.url))) await new Promise((next) => setTimeout(next, 5))
console.log(existsSync(new URL("kept.UserPromptSubmit", import.meta.url)))`

// TestPluginSlow tests the plug-in for opencode with a deadline of 1 ms, before which no program can end. The program
// that records the report of a shell command must end normally and record the report. The program that is run for a
// prompt must be stopped, so that it records nothing.
func TestPluginSlow(t *testing.T) {
	node := testenv.RequireProgram(t, "node", "apt install nodejs")
	dir := t.TempDir()
	plugin, err := hook.OpencodePluginSource([]string{node, filepath.Join(dir, "keeps.mjs")})
	if err != nil {
		t.Fatal(err)
	}
	hasty := strings.Replace(string(plugin), "deadline = 2000", "deadline = 1", 1)
	for name, text := range map[string]string{"oxbow.mjs": hasty, "keeps.mjs": keeps, "slow.mjs": slow} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), node, filepath.Join(dir, "slow.mjs")).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || got != "false" {
		t.Errorf("%v; the program for a prompt has kept its report: %s", err, got)
	}
}

// TestPluginPrompt checks what the plug-in does with oxbow's answer to a prompt. The plug-in must append the answer to
// the message as a separate part after the prompt. It must not add the answer to the system prompt.
func TestPluginPrompt(t *testing.T) {
	node := testenv.RequireProgram(t, "node", "apt install nodejs")
	dir := t.TempDir()
	plugin, err := hook.OpencodePluginSource([]string{node, filepath.Join(dir, "answers.mjs")})
	if err != nil {
		t.Fatal(err)
	}
	// The machine may be busy, so wait longer than usual.
	patient := strings.Replace(string(plugin), "deadline = 2000", "deadline = 60000", 1)
	if patient == string(plugin) {
		t.Fatal("the plug-in has another deadline")
	}
	for name, text := range map[string]string{"oxbow.mjs": patient, "answers.mjs": answers, "talk.mjs": talk} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.CommandContext(t.Context(), node, filepath.Join(dir, "talk.mjs")).CombinedOutput()
	want := `{"parts":[{"id":"prt_1","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"when ship"},` +
		`{"id":"prt_10","sessionID":"ses_1","messageID":"msg_1","type":"text","text":"to when ship","synthetic":true}],"system":["You are.","the start"]}
{"parts":[{"id":"prt_2","sessionID":"ses_1","messageID":"msg_2","type":"text","text":"thanks"}],"system":["You are.","the start"]}
`
	if got := strings.ReplaceAll(string(out), "\r\n", "\n"); err != nil || got != want {
		t.Errorf("%v; opencode is given\n%swant\n%s", err, got, want)
	}
}
