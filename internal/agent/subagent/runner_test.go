// This file tests how the settings of a runner are parsed. A runner is the command with which the user wants sub-agents
// to be started.

package subagent

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oxbow-memory/oxbow"
)

func TestParseRunner(t *testing.T) {
	full := "# mine\nrunner:\n  command: [claude, --print, \"--mcp-config={mcp_config}\", '{\"a\": 1}', \"\"]\n  " +
		"stdin: task\n  timeout: 90s\n"
	r, err := ParseRunner("s.yaml", []byte(full))
	if err != nil || r.Stdin != stdinTask || r.RunTimeout != 90*time.Second || r.SettingsPath != "s.yaml" ||
		!slices.Equal(r.Command, []string{"claude", "--print", "--mcp-config={mcp_config}", `{"a": 1}`, ""}) {
		t.Fatalf("ParseRunner() = %+v, %v", r, err)
	}
	got := r.expandPlaceholders(map[string]string{"mcp_config": "/tmp/{task} $x"})
	if want := []string{"claude", "--print", "--mcp-config=/tmp/{task} $x", `{"a": 1}`, ""}; !slices.Equal(got, want) {
		t.Errorf("argv() = %q, want %q", got, want)
	}
	r, err = ParseRunner("s.yaml", []byte("runner: {command: [/bin/agent]}"))
	if err != nil || r.Stdin != stdinBriefing || r.RunTimeout != defaultTimeout {
		t.Errorf("a short one: %+v, %v", r, err)
	}
	for _, none := range []string{"", "# nothing\n", "---\n", "null\n"} {
		if r, err := ParseRunner("s.yaml", []byte(none)); r != nil || err != nil {
			t.Errorf("ParseRunner(%q) = %+v, %v, want none", none, r, err)
		}
	}
	for bad, want := range map[string]string{
		"runner: [agent]":                    "s.yaml:1:9: runner is not a mapping",
		"runner:\n  stdin: task":             "s.yaml:2:3: runner has no command",
		"runner:\n  command: agent --fast":   "s.yaml:2:12: command is not a list",
		"runner:\n  command: []":             "command is not a list",
		"runner:\n  command: [[a]]":          "command holds what is no word",
		"runner:\n  command: [./agent]":      `the program "./agent" is neither`,
		"runner:\n  command: [bin/agent]":    "is neither",
		"runner:\n  command: ['bin\\agent']": "is neither",
		"runner:\n  command: ['']":           "is neither",
		"runner:\n  command: ['{agent_id}']": "is neither",
		"runner:\n  command: [a, '{prompt}']": "there is no placeholder {prompt}; there are " +
			"{briefing}",
		"runner:\n  command: [a, \"b\\0\"]":       "holds a NUL",
		"runner:\n  command: [a]\n  stdin: all":   `s.yaml:3:10: stdin is "all"`,
		"runner:\n  command: [a]\n  timeout: 5":   "timeout is",
		"runner:\n  command: [a]\n  timeout: 48h": "timeout is",
		"runner:\n  command: [a]\n  command: [b]": "s.yaml:3:3: command is given twice",
		"runer:\n  command: [a]":                  `unknown key "runer" in settings; did you mean runner?`,
		"runner:\n  command: [a]\nshell: " +
			"true": `s.yaml:3:1: unknown key "shell" in settings; there are runner`,
		"x: &x [a]\nrunner:\n  command: *x":                       "no plain key and value",
		"runner:\n  command: [a]\n---\nrunner:\n  command: [b]\n": "more than one document",
		"runner: {": "is not YAML",
		"- a":       "settings is not a mapping",
		strings.Repeat("#", MaxSettingsFileBytes+1):               "has more than 65536 bytes",
		"runner:\n  command: [" + strings.Repeat("a,", 257) + "]": "command is not a list",
	} {
		if r, err := ParseRunner("s.yaml", []byte(bad)); !errors.Is(err, oxbow.ErrInvalid) ||
			!strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("ParseRunner(%.60q) = %+v, %v, want %q", bad, r, err, want)
		}
	}
}

// FuzzParseRunner checks that no settings file causes a panic, and that each accepted runner has a program and only
// known placeholders.
func FuzzParseRunner(f *testing.F) {
	f.Add("runner:\n  command: [claude, --print, \"{mcp_config}\"]\n  stdin: task\n  timeout: 90s\n")
	f.Add("runner: &a {command: *a}")
	f.Add("runner:\n  command: [a, '{x}']\n  timeout: 1e9h\n")
	f.Fuzz(func(t *testing.T, data string) {
		r, err := ParseRunner("s.yaml", []byte(data))
		if err != nil || r == nil {
			return
		}
		if len(r.Command) == 0 || r.Command[0] == "" || r.RunTimeout < time.Second {
			t.Fatalf("ParseRunner accepts %+v", r)
		}
		for _, a := range r.Command {
			for _, m := range placeholderPattern().FindAllStringSubmatch(a, -1) {
				if !slices.Contains(placeholders, m[1]) {
					t.Errorf("%q holds what nothing stands for", a)
				}
			}
		}
	})
}
