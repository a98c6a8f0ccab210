// This file tests which command of a turn proves that the turn's work is done, such as a test that passed or a commit.

package session

import "testing"

func TestProofOf(t *testing.T) {
	zero, one := 0, 1
	passed := Event{Kind: KindToolCall, Call: &ToolCall{Tool: "Bash", Command: "go test ./...", ExitStatus: &zero}}
	failed := Event{Kind: KindToolCall, Call: &ToolCall{Tool: "Bash", Command: "go test ./pay", ExitStatus: &one}}
	wrote := Event{Kind: KindToolCall, Call: &ToolCall{Tool: "Edit", WrittenFiles: []string{"pay.go"}}}
	commit := Event{
		Kind: KindToolCall,
		Call: &ToolCall{Tool: "Bash", Command: `git add -A && git -C . commit -m "pay: it adds up"`},
	}
	refused := Event{Kind: KindToolCall, Call: &ToolCall{Tool: "Bash", Command: "git commit -m x", Failed: true}}
	said := Event{Kind: KindText, Text: "go test ./... passes"}
	const test, made = "go test ./...", `git add -A && git -C . commit -m "pay: it adds up"`
	for name, c := range map[string]struct {
		events []Event
		want   string
	}{
		"nothing":                   {nil, ""},
		"only said":                 {[]Event{said}, ""},
		"a test passed":             {[]Event{wrote, passed, said}, test},
		"a test failed":             {[]Event{failed}, ""},
		"one passed and one failed": {[]Event{passed, failed}, ""},
		"one failed and one passed": {[]Event{failed, passed}, test},
		"written after it":          {[]Event{passed, wrote}, ""},
		"a commit":                  {[]Event{wrote, commit}, made},
		"a commit that failed":      {[]Event{wrote, refused}, ""},
		"a refused commit after":    {[]Event{passed, refused}, test},
	} {
		if got, _ := findLastTestOrCommit(c.events); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
