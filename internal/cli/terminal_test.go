// This file tests output on a terminal: its width, its colours, and texts that could control the terminal.

package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// TestHostileEntryOnATerminal tests an entry with characters that control the terminal, reorder a line, or are
// invisible. No command may print such a character. JSON output must stay valid.
func TestHostileEntryOnATerminal(t *testing.T) {
	w := newWorld(t)
	const bad = "ok\u202erow\u200b\U000e0041\u2067\ufeff"
	w.must(t, "init")
	w.must(t, "remember", bad, "evil \x1b[31mred \u009b5m "+bad, "--project", bad, "--tag", bad, "--alias", bad+"2")
	w.must(t, "profile", "new", "p", "--description", "d "+bad)
	w.must(t, "handoff", "new", "s "+bad, "--plan", bad)
	w.env.IsStdoutTerminal, w.env.TerminalWidth = true, 60
	for _, args := range [][]string{
		{"list"}, {"list", "-q"}, {"list", "--json"}, {"get", bad}, {"get", bad, "--json"}, {"recall", "evil"},
		{"recall", "evil", "--json"}, {"recall", "evil", "--explain"},
		{"log"}, {"log", bad}, {"log", "--json"}, {"label", "list"}, {"label", "list", "--json"}, {"label", "lint"},
		{"context"}, {"context", "--manifest"}, {"context", "--json"},
		{"export"}, {"stats"}, {"doctor"}, {"check"}, {"profile", "list"}, {"profile", "show", "p"},
		{"profile", "select", "p"}, {"handoff", "list"}, {"handoff", "show"},
		{"forget", bad, "--dry-run"}, {"undo", "--dry-run"}, {"label", "suggest"}, {"consolidate", "--dry-run"},
	} {
		_, out, _ := w.run(t, args...)
		for _, p := range termtext.EscapeSequences {
			out = strings.ReplaceAll(out, p, "")
		}
		if i := strings.IndexFunc(out, termtext.IsHarmful); i >= 0 {
			t.Errorf("oxbow %q prints %q on a terminal", args, out[i:min(len(out), i+20)])
		}
		if slices.Contains(args, "--json") && !json.Valid([]byte(out)) {
			t.Errorf("oxbow %q prints no JSON on a terminal: %q", args, out)
		}
	}
}

func TestTerminalOutput(t *testing.T) {
	w := newWorld(t)
	w.env.IsStdoutTerminal = true
	w.env.IsStderrTerminal = true
	w.env.TerminalWidth = 60
	w.must(t, "init")
	w.must(
		t,
		"remember",
		"style",
		"Tabs, \x1b[31mnot\x1b[0m spaces.\r\n\u202eback",
		"--project",
		"site",
		"--alias",
		"tabs",
	)

	got := w.must(t, "get", "style")
	want := "\x1b[1mstyle\x1b[0m\n" +
		"\x1b[2mkind    \x1b[0m note\n" +
		"\x1b[2mlabels  \x1b[0m project:site\n" +
		"\x1b[2maliases \x1b[0m tabs\n" +
		"\x1b[2mcreated \x1b[0m 2026-04-18 09:30 (just now)\n" +
		"\x1b[2mversion \x1b[0m 1, by person, cli\n" +
		"\n" +
		`Tabs, \u001b[31mnot\u001b[0m spaces.` + "\n" + `\u202eback` + "\n"
	if got != want {
		t.Errorf("get on a terminal = %q, want %q", got, want)
	}

	w.vars["NO_COLOR"] = "1"
	for _, args := range [][]string{
		{"get", "style"},
		{"list"},
		{"recall", "tabs", "--explain"},
		{"log"},
		{"stats"},
		{"check"},
	} {
		if got := w.must(t, args...); strings.Contains(got, "\x1b") || got == "" {
			t.Errorf("oxbow %q with NO_COLOR = %q, want text without escapes", args, got)
		}
	}
	if got, want := w.must(t, "get", "style", "--raw"), "Tabs, \x1b[31mnot\x1b[0m spaces.\r\n\u202eback"; got != want {
		t.Errorf("get --raw = %q, want %q", got, want)
	}
	if got := w.must(t, "list", "--json"); !strings.HasPrefix(got, "{\n  \"total\": 1") {
		t.Errorf("list --json on a terminal = %q, want it indented", got)
	}

	w.must(t, "check")
}

func TestNothingToRememberOnATerminal(t *testing.T) {
	w := newWorld(t)
	w.env.IsStdinTerminal = true
	for _, c := range []struct {
		args []string
		hint string
	}{
		{[]string{"remember"}, "for example"},
		{
			[]string{"remember", "style"},
			"oxbow remember style TEXT; or, if it is the text: oxbow remember --content style",
		},
	} {
		status, _, stderr := w.run(t, c.args...)
		if status != exitUsageError || !strings.Contains(stderr, c.hint) {
			t.Errorf("oxbow %q = %d, %q, want %d and a hint with %q", c.args, status, stderr, exitUsageError, c.hint)
		}
	}
	home := filepath.Join(w.vars["HOME"], ".local", "share", "oxbow")
	if _, err := os.Stat(home); !os.IsNotExist(err) {
		t.Errorf("a refused remember made a home (%v)", err)
	}
	w.must(t, "remember", "Tabs, not spaces.")
	if _, err := os.Stat(home); err != nil {
		t.Errorf("remember made no home: %v", err)
	}
	if got := w.must(t, "get", "Tabs, not spaces.", "--raw"); got != "Tabs, not spaces." {
		t.Errorf("the text that was remembered is %q, want the argument", got)
	}
	w.must(t, "check")
}

func TestDemoFitsAScreen(t *testing.T) {
	w := newWorld(t)
	got := w.must(t, "demo")
	lines := strings.Split(strings.TrimRight(got, "\n"), "\n")
	if len(lines) > 64 { // Messages contain the home's path, which is long here.
		t.Errorf("demo has %d lines, want at most 64", len(lines))
	}
	for _, line := range lines {
		if countColumns(line) > 80 {
			t.Errorf("demo line %q has %d columns, want at most 80", line, countColumns(line))
		}
	}
	for _, line := range lines {
		if isTyped := strings.HasPrefix(line, "   $ "); !isTyped && strings.Contains(line, " undo --seq") &&
			!strings.Contains(line, "oxbow-demo-") {
			t.Errorf("demo line %q names no home, want the home of the sample: typed as printed, the command "+
				"would change the reader's memory", line)
		}
	}
	if left, err := filepath.Glob(filepath.Join(w.dir, "*")); err != nil || len(left) > 0 {
		t.Errorf("demo left %v (%v) in the working directory", left, err)
	}
}
