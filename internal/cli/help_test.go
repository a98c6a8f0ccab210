// This file tests the help, oxbow without a command, and the number of rows that recall prints.

package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelpFitsAScreen tests the help of each command that is not hidden. The help must have at most 24 rows above its
// flags, except on a terminal of 50 columns. On a terminal, no line of its text may be wider than the terminal, except
// for indented lines. The help must contain each word of the command's description.
func TestHelpFitsAScreen(t *testing.T) {
	w := newWorld(t)
	for _, width := range []int{0, 80, 50} {
		w.env.IsStdoutTerminal, w.env.TerminalWidth = width > 0, width
		asked := 0
		var ask func(c *cobra.Command)
		ask = func(c *cobra.Command) {
			for _, sub := range c.Commands() {
				ask(sub)
			}
			if !c.HasParent() || c.Hidden {
				return
			}
			asked++
			path := strings.Fields(c.CommandPath())[1:]
			out := w.must(t, append([]string{"help"}, path...)...)
			above, _, _ := strings.Cut(out, "\nFlags:\n")
			above, _, _ = strings.Cut(above, "\nDetails:\n")
			above, _, _ = strings.Cut(above, "\nFlags of every command")
			if n := strings.Count(above, "\n"); n > 24 && width != 50 {
				t.Errorf("help %q at %d columns has %d rows, want at most 24:\n%s", path, width, n, above)
			}
			_, text, _ := strings.Cut(above, "\n\n")
			for line := range strings.Lines(text) {
				if width > 0 && !strings.HasPrefix(line, " ") && countColumns(strings.TrimSuffix(line, "\n")) > width {
					t.Errorf("help %q has a line wider than %d columns: %q", path, width, line)
				}
			}
			for word := range strings.FieldsSeq(c.Long) {
				if !strings.Contains(out, word) {
					t.Errorf("help %q lacks %q of its description", path, word)
				}
			}
		}
		ask(newLazyMemory(w.env).rootCommand(Run))
		if asked < 60 {
			t.Errorf("%d commands have help, want more", asked)
		}
	}
}

// TestState tests that oxbow without a command prints what the memory contains, what waits for the person, and the
// next commands.
func TestState(t *testing.T) {
	w := newWorld(t)
	if got := w.must(t); !strings.Contains(got, "Keep and find:") {
		t.Errorf("without a memory, oxbow prints %q, want the first commands", got)
	}
	w.must(t, "init")
	if got := w.must(t); !strings.HasPrefix(got, "0 entries in ") || !strings.Contains(got, "oxbow remember ") {
		t.Errorf("with an empty memory, oxbow prints %q", got)
	}
	w.must(t, "remember", "style", "Tabs.")
	w.env.Stdin = strings.NewReader(`{"name":"a","content":"one"}` + "\n" + `{"name":"b","content":"two"}` + "\n")
	w.must(t, "import", "-")
	got := w.must(t)
	if !strings.HasPrefix(got, "3 entries in ") ||
		!strings.Contains(got, "2 unapproved entries, which agents see only if they search") ||
		!strings.Contains(got, "\n  oxbow approve ") || strings.Count(got, "\n  oxbow ") != 3 {
		t.Errorf("oxbow prints %q", got)
	}
	w.must(t, "check")
}

// TestRecallFitsAScreen tests that, if recall finds long entries, the best hit stays visible on a screen of 24 rows.
func TestRecallFitsAScreen(t *testing.T) {
	w := newWorld(t)
	w.must(t, "init")
	for i := range 6 {
		w.must(t, "remember", fmt.Sprint("note ", i), strings.Repeat("The harbor opens at noon for boats. ", 30))
	}
	w.env.IsStdoutTerminal = true
	w.env.TerminalWidth, w.env.TerminalHeight = 80, 24
	best := func() string { return w.must(t, "recall", "harbor", "--limit", "5") }
	if got := best(); strings.Count(got, "\n") > 23 || strings.Count(got, "opens") < 5 {
		t.Errorf("on 24 rows, recall prints %d rows:\n%s", strings.Count(got, "\n"), got)
	}
	w.env.TerminalHeight = 60
	if got := best(); strings.Count(got, "\n") < 25 {
		t.Errorf("on 60 rows, recall prints %d rows:\n%s", strings.Count(got, "\n"), got)
	}
	w.must(t, "check")
}

// TestSimilarCommands tests that the help of a command lists the commands that people may confuse with it. Every
// command in the table must exist, and the help must list it.
func TestSimilarCommands(t *testing.T) {
	w := newWorld(t)
	root := newLazyMemory(w.env).rootCommand(Run)
	for _, names := range similarCommands {
		for _, name := range names {
			if c, _, err := root.Find([]string{name}); err != nil || !c.IsAvailableCommand() || c.Name() != name {
				t.Errorf("similarCommands names %q, which is not a command of the help: %v", name, err)
			}
		}
	}
	help := w.must(t, "forget", "--help")
	_, similar, found := strings.Cut(help, "\nSimilar commands:\n")
	if !found || !strings.Contains(similar, "  redact      Erase an entry and all its versions for good\n") ||
		strings.Contains(similar, "  forget ") {
		t.Errorf("oxbow forget --help does not list similar commands:\n%s", help)
	}
	if help := w.must(t, "inbox", "drop", "--help"); strings.Contains(help, "Similar commands") {
		t.Errorf("oxbow inbox drop --help lists commands that are similar to inbox:\n%s", help)
	}
}
