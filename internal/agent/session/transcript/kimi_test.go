// This file tests reading the two forms in which Kimi stores prompts, and the records that only Kimi has.

package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// kimiText returns a content with one text.
func kimiText(text string) string { return fmt.Sprintf(`[{"type":"text","text":%q}]`, text) }

// kimiTurn returns a record of the type turn.prompt.
func kimiTurn(text, origin string) string {
	return fmt.Sprintf(`{"type":"turn.prompt","input":%s,"origin":{"kind":%q}}`, kimiText(text), origin)
}

// kimiAppend returns a record of the type context.append_message.
func kimiAppend(role, text, more string) string {
	return fmt.Sprintf(`{"type":"context.append_message","message":{"role":%q,"content":%s,"toolCalls":[]%s}}`,
		role, kimiText(text), more)
}

// kimiSaid returns the record of a text by the agent.
func kimiSaid(text string) string {
	return fmt.Sprintf(
		`{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":%q}}}`,
		text,
	)
}

// kimiWire returns a line of Kimi CLI.
func kimiWire(eventType, payload string) string {
	return fmt.Sprintf(`{"timestamp":1788188400.5,"message":{"type":%q,"payload":%s}}`, eventType, payload)
}

// TestKimi reads records that Kimi CLI and Kimi Code write. A prompt that is stored twice must be reported once, and a
// text that only a message contains must not be lost.
func TestKimi(t *testing.T) {
	byPerson := `,"origin":{"kind":"user"}`
	for _, tt := range []struct {
		name  string
		lines []string
		want  string
		parts []string
	}{
		{"stored twice", []string{
			kimiTurn("Raise the jetty.", "user"), kimiAppend("user", "Raise the jetty.", byPerson), kimiSaid("Raised."),
			kimiTurn("Raise the jetty.", "user"), kimiAppend("user", "Raise the jetty.", byPerson), kimiSaid("Again."),
		}, "prompt Raise the jetty.\ntext Raised.\nprompt Raise the jetty.\ntext Again.", nil},
		{"message before turn", []string{
			kimiAppend("user", "Raise the jetty.", byPerson), kimiTurn("Raise the jetty.", "user"), kimiSaid("Raised."),
			kimiTurn("Raise the jetty.", "user"), kimiSaid("Again."),
		}, "prompt Raise the jetty.\ntext Raised.\nprompt Raise the jetty.\ntext Again.", nil},
		{"stored twice and later once", []string{
			kimiTurn("Raise the jetty.", "user"), kimiAppend("user", "Raise the jetty.", byPerson), kimiSaid("Raised."),
			kimiAppend("user", "Raise the jetty.", byPerson), kimiSaid("Again."),
		}, "prompt Raise the jetty.\ntext Raised.\nprompt Raise the jetty.\ntext Again.", nil},
		{"only messages", []string{
			`{"type":"turn.prompt","turnId":0}`, kimiAppend("user", "Raise the jetty.", byPerson), kimiSaid("Raised."),
			kimiAppend("user", "Raise the jetty.", ""), kimiSaid("Again."),
			kimiAppend("assistant", "From another session.", ""),
		}, "prompt Raise the jetty.\ntext Raised.\nprompt Raise the jetty.\ntext Again.\ntext From another session.", nil},
		{"a steer during a turn", []string{
			kimiTurn("Raise the jetty.", "user"), kimiAppend("user", "Raise the jetty.", byPerson),
			`{"type":"turn.steer","input":` + kimiText("Higher.") + `,"origin":{"kind":"user"}}`,
			kimiSaid("Raised."), kimiAppend("user", "Higher.", byPerson), kimiSaid("Higher now."),
		}, "prompt Raise the jetty.\nprompt Higher.\ntext Raised.\ntext Higher now.", nil},
		{"texts of programs", []string{
			kimiTurn("Continue working toward the goal.", "system_trigger"),
			kimiAppend("user", "Continue working toward the goal.", `,"origin":{"kind":"system_trigger"}`),
			kimiAppend("user", "<system-reminder>x</system-reminder>", `,"origin":{"kind":"injection"}`),
			kimiAppend("system", "You are Kimi.", ""),
			kimiSaid("Done."),
		}, "text Done.", nil},
		{"a skill", []string{
			kimiAppend("user", "<skill>long text</skill>",
				`,"origin":{"kind":"skill_activation","skillName":"tide","skillArgs":"now","trigger":"user-slash"}`),
			kimiAppend("user", "<skill>long text</skill>",
				`,"origin":{"kind":"skill_activation","skillName":"tide","trigger":"model-tool"}`),
		}, "prompt /tide now", nil},
		{"a command of the person", []string{
			kimiAppend("user", "<bash-input>\nmake &amp;&amp; ls\n</bash-input>",
				`,"origin":{"kind":"shell_command","phase":"input"}`),
			kimiAppend("user", "<bash-stdout>fine</bash-stdout><bash-stderr></bash-stderr>",
				`,"origin":{"kind":"shell_command","phase":"output"}`),
		}, "call user_shell make && ls", nil},
		{"calls in messages", []string{
			`{"type":"context.append_message","message":{"role":"assistant","content":[],"toolCalls":[` +
				`{"id":"t1","name":"Bash","arguments":"{\"command\":\"ls\"}"},` +
				`{"id":"t2","function":{"name":"Bash","arguments":"{\"command\":\"make\"}"}}]}}`,
			`{"type":"context.append_message","message":{"role":"tool","toolCallId":"t1","content":"a.go"}}`,
			`{"type":"context.append_message","message":{"role":"tool","toolCallId":"t2","content":"no","isError":true}}`,
		}, "call Bash ls\nfailed Bash make", nil},
		{"compaction", []string{
			`{"type":"context.apply_compaction","summary":"The jetty was raised.","contextSummary":"Wrapped."}`,
			`{"type":"context.apply_compaction","summary":{"role":"assistant","content":` + kimiText("Twice.") + `}}`,
		}, "compact The jetty was raised.\ncompact Twice.", nil},
		{"pictures", []string{
			`{"type":"turn.prompt","input":[{"type":"image_url"}],"origin":{"kind":"user"}}`,
			`{"type":"context.append_message","message":{"role":"user","content":[{"type":"image_url"}]}}`,
			`{"type":"turn.prompt","input":[{"type":"text","text":"And this?"},{"type":"image_url"},{"type":"hologram"}]}`,
		}, "prompt [image]\nprompt And this?",
			[]string{"1 images and other files", `unknown:3: 1 blocks of the type "hologram"`}},
		{"unknown", []string{
			kimiAppend("user", "Beep.", `,"origin":{"kind":"hologram"}`), kimiAppend("oracle", "Boop.", ""),
			`{"type":"hologram.shown"}`, kimiWire("Hologram", `{}`),
		}, "", []string{`unknown:1: 1 messages of the type "hologram"`, `unknown:2: 1 messages of the type "oracle"`,
			`unknown:3: 1 lines of the type "hologram.shown"`, `unknown:4: 1 lines of the type "Hologram"`}},
		{"Kimi CLI", []string{
			kimiWire("TurnBegin", `{"user_input":"Raise the jetty."}`),
			kimiWire("BtwBegin", `{"id":"b1","question":"How deep is it?"}`),
			kimiWire("ContentPart", `{"type":"text","text":"I look."}`),
			kimiWire("BtwEnd", `{"id":"b1","response":"Three metres."}`),
			kimiWire("PlanDisplay", `{"content":"1. Raise.","file_path":"plan.md"}`),
			kimiWire("ApprovalResponse", `{"request_id":"r1","response":"approve"}`),
			kimiWire("ApprovalResponse", `{"request_id":"r2","response":"reject","feedback":"Not by hand."}`),
			kimiWire("SubagentEvent", `{"task_tool_call_id":"t1","event":{"type":"ContentPart","payload":`+
				`{"type":"text","text":"From a sub-agent."}}}`),
			kimiWire("SubagentEvent", `{"agent_id":"a1","event":{"type":"ContentPart","payload":`+
				`{"type":"text","text":"In a file of its own."}}}`),
		}, "prompt Raise the jetty.\nprompt How deep is it?\ntext I look.\ntext Three metres.\ntext 1. Raise.\n" +
			"prompt Not by hand.\ntext From a sub-agent.", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events, parts := countParts(t, "kimi", write(t, "wire.jsonl", tt.lines...))
			if events != tt.want || !slices.Equal(parts, tt.parts) {
				t.Errorf("the events are\n%s\nwant\n%s\nthe parts are\n%s\nwant\n%s", events, tt.want,
					strings.Join(parts, "\n"), strings.Join(tt.parts, "\n"))
			}
		})
	}
}

// TestKimiSubagent reads the transcript of a sub-agent of Kimi CLI. The main agent wrote the prompt in this file, so
// the prompt must not become an event. The other events must belong to the session of the main agent.
func TestKimiSubagent(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions", "p1", "s1", "subagents", "a1", "wire.jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	lines := kimiWire("TurnBegin", `{"user_input":"Look at the piles."}`) + "\n" +
		kimiWire("ContentPart", `{"type":"text","text":"They are sound."}`) + "\n"
	if err := os.WriteFile(path, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	events, _ := readAll(t, "kimi", path, "")
	if len(events) != 1 || events[0].Session != "s1" || events[0].SubAgent != "a1" ||
		events[0].Text != "They are sound." {
		t.Errorf("the events are %+v", events)
	}
}

// TestKimiSideQuestion tests that the answers during and after a side question belong to the right turns.
func TestKimiSideQuestion(t *testing.T) {
	events, _ := readAll(t, "kimi", write(t, "wire.jsonl",
		kimiWire("TurnBegin", `{"user_input":"Raise the jetty."}`),
		kimiWire("BtwBegin", `{"id":"b1","question":"How deep is it?"}`),
		kimiWire("ContentPart", `{"type":"text","text":"I look."}`),
		kimiWire("BtwEnd", `{"id":"b1","response":"Three metres."}`),
		kimiWire("ContentPart", `{"type":"text","text":"Raised."}`)), "")
	var turns []string
	for _, e := range events {
		turns = append(turns, e.TurnID+" "+e.Text)
	}
	want := []string{"m1 Raise the jetty.", "m2 How deep is it?", "m1 I look.", "m2 Three metres.", "m1 Raised."}
	if !slices.Equal(turns, want) {
		t.Errorf("the turns are %q, want %q", turns, want)
	}
}
