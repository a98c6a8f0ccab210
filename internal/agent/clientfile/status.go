// This file finds the exit status in a command's output.

package clientfile

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// ParseOldCodexOutput parses a command's output in the format of older Codex versions, which is a JSON object with the
// text and the exit status. Any other output is returned unchanged, and exit is nil.
func ParseOldCodexOutput(output string) (text string, exit *int) {
	var old struct {
		Output   *string `json:"output"`
		Metadata struct {
			Exit *int `json:"exit_code"`
		} `json:"metadata"`
	}
	if !strings.HasPrefix(output, "{") || json.Unmarshal([]byte(output), &old) != nil {
		return output, nil
	}
	if old.Output == nil && old.Metadata.Exit == nil {
		return output, nil
	}
	if old.Output != nil {
		text = *old.Output
	}
	return text, old.Metadata.Exit
}

// exitStatusPattern matches the exit status in the text that clients add to a command's output. Claude Code and Codex
// add it before the output, Gemini CLI and Qwen Code after the output. Copilot CLI adds it as the last line.
var exitStatusPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(?:Error: )?(?:Exit code:? (-?\d+)|Process exited with code (-?\d+)|` +
		`Exit Code: (-?\d+)|<(?:shellId: .* completed|exited) with exit code (-?\d+)>)\r?$`)
})

// maxExitStatusSearchBytes is how many bytes at each end of an output are searched for an exit status.
const maxExitStatusSearchBytes = 1 << 10

// mayHaveExitStatus reports whether exitStatusPattern may match the output. This check is much faster than the
// pattern.
func mayHaveExitStatus(output string) bool {
	return strings.Contains(output, "xit code") || strings.Contains(output, "with code") ||
		strings.Contains(output, "Exit Code")
}

// ExitStatus returns the exit status that a command's output mentions, or nil if it mentions none.
func ExitStatus(output string) *int {
	parts := []string{output}
	if len(output) > 2*maxExitStatusSearchBytes {
		parts = []string{output[:maxExitStatusSearchBytes], output[len(output)-maxExitStatusSearchBytes:]}
	}
	for _, p := range parts {
		if !mayHaveExitStatus(p) {
			continue
		}
		if m := exitStatusPattern().FindStringSubmatch(p); m != nil {
			if n, err := strconv.Atoi(m[1] + m[2] + m[3] + m[4]); err == nil {
				return &n
			}
		}
	}
	return nil
}
