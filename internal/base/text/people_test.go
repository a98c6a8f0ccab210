// Tests texts that people paste into a shell.

package text

import "testing"

func TestShellName(t *testing.T) {
	for name, want := range map[string]string{
		"a":       "a",
		"-rf":     "-- -rf",
		"--all x": "-- '--all x'",
		"it's":    `'it'\''s'`,
	} {
		if got := ShellName(name); got != want {
			t.Errorf("ShellName(%q) = %s, want %s", name, got, want)
		}
	}
}
