// This file tests output that cannot be written.

package cli

import (
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/test/testenv"
)

// brokenWriter accepts a number of bytes. Further writes fail.
type brokenWriter struct {
	room int
	err  error
}

func (b *brokenWriter) Write(p []byte) (int, error) {
	n := min(b.room, len(p))
	b.room -= n
	if n < len(p) {
		return n, b.err
	}
	return n, nil
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	testenv.SkipInShortMode(t)
	t.Parallel()
	w := newWorld(t)
	w.must(t, "init")
	w.must(t, "remember", "style", strings.Repeat("Tabs, not spaces. ", 10))
	run := func(out io.Writer, args ...string) (int, string) {
		w.errs.Reset()
		env := w.env
		env.Args = args
		env.Stdout = out
		env.Stderr = &w.errs
		return Run(t.Context(), env), w.errs.String()
	}
	lines := [][]string{
		{},
		{"--version"},
		{"get", "style"},
		{"get", "style", "--raw"},
		{"recall", "tabs"},
		{"recall", "tabs", "--explain"},
		{"context"}, {"log"}, {"list"}, {"stats"}, {"version"}, {"check"}, {"doctor"}, {"export"},
		{"label", "list", "--json"}, {"profile", "list", "--json"},
		{
			"list",
			"--json",
		}, {"get", "style", "--json"}, {"completion", "bash"}, {"remember", "more", "words"}, {"undo"},
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		name := strings.Fields(c.CommandPath())[1:]
		lines = append(lines, append(name, "--help"), append([]string{"help"}, name...))
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newLazyMemory(w.env).rootCommand(Run))
	for _, args := range lines {
		for _, room := range []int{0, 7} {
			status, stderr := run(&brokenWriter{room, fmt.Errorf("write: %w", syscall.ENOSPC)}, args...)
			if status != exitCommandFailed || strings.Count(stderr, syscall.ENOSPC.Error()) != 1 {
				t.Errorf(
					"oxbow %q to a disk with %d bytes left = %d, %q, want %d and one sentence",
					args,
					room,
					status,
					stderr,
					exitCommandFailed,
				)
			}
		}
		if status, stderr := run(&brokenWriter{7, syscall.EPIPE}, args...); strings.Contains(
			stderr,
			syscall.EPIPE.Error(),
		) {
			t.Errorf("oxbow %q to a closed pipe = %d, %q, want no word about it", args, status, stderr)
		}
	}
	w.must(t, "check")
}
