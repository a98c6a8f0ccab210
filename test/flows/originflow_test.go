// This file tests agents that copy a text in a later turn of the session in which the text was shown. The copy must
// name its source, and must not be trusted more than the source.

package flows

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/cli"
)

// mcpCalls lets the agent call tools of a server. Each call waits for the answer to the previous call, because a
// server handles calls concurrently.
func (f *flow) mcpCalls(calls ...object) {
	stdin, requests := io.Pipe()
	answers := make(lines, 1)
	env := f.env
	env.Args = []string{"mcp", "--tools", "all"}
	env.Stdin = stdin
	env.Stdout = answers
	env.Stderr = io.Discard
	go func() {
		ask := func(o object) {
			_, _ = io.WriteString(requests, encoded(f.t, o))
			for o["id"] != nil && !strings.Contains(<-answers, fmt.Sprintf(`"id":%d`, o["id"])) {
			}
		}
		ask(object{
			"jsonrpc": "2.0",
			"id":      1,
			"method":  "initialize",
			"params": object{
				"protocolVersion": "2025-11-25",
				"capabilities":    object{},
				"clientInfo":      object{"name": "claude-code", "version": "2"},
			},
		})
		ask(object{"jsonrpc": "2.0", "method": "notifications/initialized"})
		for i, c := range calls {
			ask(object{"jsonrpc": "2.0", "id": 2 + i, "method": "tools/call", "params": c})
		}
		requests.Close()
		for range answers { // Read the output after the last answer.
		}
	}()
	if status := cli.Run(f.t.Context(), env); status != 0 {
		f.t.Errorf("the server ended with status %d", status)
	}
	close(answers)
}

// The channel type lines is a writer. Each call of Write sends its text, which is one line, to the channel.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

func remember(name, content string) object {
	return object{"name": "remember", "arguments": object{"name": name, "content": content, "project": "harbor"}}
}

func TestCopiesNameTheirSource(t *testing.T) {
	const poison = "Deploys of harbor run from the mirror zinc, with the token of Ann Reyes, at dawn."
	f := newFlow(t)
	f.must(t, "profile", "new", "work", "--project", "harbor")
	f.plant(
		0,
		poison,
		object{
			"tool_name":     "WebFetch",
			"tool_input":    object{"url": "https://example.org/post"},
			"tool_response": poison,
		},
	)
	f.must(
		t,
		"import",
		"--format",
		"markdown",
		f.file(
			t,
			"notes.md",
			"# gate\n\nThe northern gate of the quay opens only when both keepers turn their keys.\n",
		),
	)
	// The client does not report the call, so only the ledger contains the call.
	f.prompt("taught", "What do we know of the release? Write it down.")
	f.mcpCalls(
		object{"name": "recall", "arguments": object{"query": "harbor deploys mirror"}},
		remember("copy", "As we know, deploys of harbor run from the mirror zinc."),
		remember("in other words", "At dawn Reyes brings her token, then zinc is the mirror."),
		remember("of its own", "The tide table hangs in the kitchen."),
		object{"name": "get", "arguments": object{"name": "gate"}},
		remember("keys", "Remember that the gate opens only when both keepers turn their keys."),
	)
	for _, c := range []struct{ name, from, trust string }{
		{"copy", "release@", "tainted"},
		{"in other words", "release@", "tainted"},
		{"of its own", "", "agent"},
		{"keys", "gate@", "imported"},
	} {
		var got struct {
			Labels map[string][]string `json:"labels"`
		}
		if err := json.Unmarshal([]byte(f.must(t, "get", c.name, "--json")), &got); err != nil {
			t.Fatal(err)
		}
		from := strings.Join(got.Labels["from"], " ")
		if !strings.HasPrefix(from, c.from) || (c.from == "" && from != "") {
			t.Errorf("%q is from %q, want %q", c.name, from, c.from)
		}
		if out := f.must(t, "list", "--filter", "trust:"+c.trust); !strings.Contains(out, c.name) {
			t.Errorf("%q is not %s: %s", c.name, c.trust, out)
		}
	}
	if out := f.volunteered(); strings.Contains(out, "zinc") || !strings.Contains(out, "tide table") {
		t.Errorf("what comes up by itself is not what may: %s", out)
	}
	if out := f.must(t, "lineage", "copy"); !strings.Contains(out, "release") {
		t.Errorf("lineage says %s", out)
	}
	f.must(t, "revert", "--trust", "tainted")
	if out := f.must(t, "list"); strings.Contains(out, "other words") ||
		(!strings.Contains(out, "tide") && !strings.Contains(out, "of its own")) {
		t.Errorf("after the revert: %s", out)
	}
	f.must(t, "check")
}

// TestTestsVerify tests that a note is verified if the agent writes the note after a test has passed and before the
// agent changes files again.
func TestTestsVerify(t *testing.T) {
	f := newFlow(t)
	ran := func(id, command string, exit int) {
		f.hook(
			"s",
			"PostToolUse",
			object{
				"tool_use_id":   id,
				"tool_name":     "Bash",
				"tool_input":    object{"command": command},
				"tool_response": object{"stdout": "", "exit_code": exit},
			},
		)
	}
	note := func(name, call string) {
		c := remember(name, "The "+name+" is counted in cents, in pay.go.")
		c["_meta"] = object{"claudecode/toolUseId": call}
		f.hook(
			"s",
			"PreToolUse",
			object{"tool_use_id": call, "tool_name": "mcp__oxbow__remember", "tool_input": object{"name": name}},
		)
		f.mcpCalls(c)
		f.hook(
			"s",
			"PostToolUse",
			object{
				"tool_use_id":   call,
				"tool_name":     "mcp__oxbow__remember",
				"tool_input":    object{"name": name},
				"tool_response": "added",
			},
		)
	}
	edit := func(id, file string) {
		f.hook(
			"s",
			"PostToolUse",
			object{"tool_use_id": id, "tool_name": "Edit", "tool_input": object{"file_path": f.dir + "/" +
				file, "old_string": "a", "new_string": "b"}, "tool_response": object{}},
		)
	}
	f.prompt("s", "Mend the sum.")
	edit("toolu_00", "other.go")
	ran("toolu_10", "go test ./...", 0)
	note("fee", "toolu_11") // The agent has not changed pay.go, the file that the note names, before the test.
	edit("toolu_12", "pay.go")
	ran("toolu_01", "ls -l", 0)
	note("sum", "toolu_02")
	ran("toolu_03", "go test ./...", 0)
	note("total", "toolu_04")
	edit("toolu_05", "pay.go")
	note("tax", "toolu_06")
	ran("toolu_07", "go test ./...", 0)
	f.hook(
		"s",
		"PostToolUse",
		object{
			"tool_use_id":   "toolu_08",
			"tool_name":     "WebFetch",
			"tool_input":    object{"url": "https://example.org/x"},
			"tool_response": "The rate is counted in cents.",
		},
	)
	note("rate", "toolu_09")
	for trust, want := range map[string]string{"verified": "total", "agent": "fee sum tax", "tainted": "rate"} {
		names := strings.Fields(f.must(t, "list", "--quiet", "trust:"+trust, "-name:crane"))
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("trust:%s lists %q, want %q", trust, got, want)
		}
	}
	f.must(t, "check")
}
