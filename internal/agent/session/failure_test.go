// This file tests that the fast checks before a regular expression never reject a text that the expression matches.

package session

import (
	"strings"
	"testing"
)

func FuzzFailureSigns(f *testing.F) {
	for _, s := range []string{"x: Error: it failed", "--- FAIL: TestPay (0.03s)", "my.KeyError.x",
		"fooException(1)", "ReadTimed out", "timed  out", "a E1234 b", "aſſert", "✗ pay",
		"could not", "can't", "cannotx", "_error", "error_", "at /src/a.go:12:3", `C:\x\y`, "a\tb  c",
		"abcdefab-abcdefabcdefabcdefabcdefabc", "\x1b[31mred\x1b[0m", "PATH:N:N", "plain words"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for line := range strings.Lines(s) {
			if errorLinePattern().MatchString(line) && !mayBeErrorLine(line) {
				t.Errorf("%q names an error", line)
			}
		}
		for _, v := range variableOutputPartPatterns() {
			if v.pattern.MatchString(s) && !strings.ContainsAny(s, v.requiredChars) {
				t.Errorf("%q matches %v", s, v.pattern)
			}
		}
	})
}
