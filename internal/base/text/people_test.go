// This file tests texts that people paste into a shell.

package text

import "testing"

func TestShellName(t *testing.T) {
	for name, want := range map[string]string{
		"a":       "a",
		"-rf":     "-- -rf",
		"--all x": "-- " + ShellQuote("--all x"),
	} {
		if got := QuoteShellOperand(name); got != want {
			t.Errorf("QuoteShellOperand(%q) = %s, want %s", name, got, want)
		}
	}
}

func TestQuotes(t *testing.T) {
	for _, c := range []struct{ word, posix, windows string }{
		{"style", "style", "style"},
		{"two words", "'two words'", `"two words"`},
		{"it's", `'it'\''s'`, `"it's"`},
		{`say "a"`, `'say "a"'`, `"say \"a\""`},
		{`C:\Users\Jörg\oxbow.exe`, `'C:\Users\Jörg\oxbow.exe'`, `C:\Users\Jörg\oxbow.exe`},
		{`C:\Program Files\oxbow.exe`, `'C:\Program Files\oxbow.exe'`, `"C:\Program Files\oxbow.exe"`},
		{"", "''", `""`},
	} {
		if got := PosixQuote(c.word); got != c.posix {
			t.Errorf("PosixQuote(%s) = %s, want %s", c.word, got, c.posix)
		}
		if got := quoteForWindows(c.word); got != c.windows {
			t.Errorf("windowsQuote(%s) = %s, want %s", c.word, got, c.windows)
		}
	}
}
