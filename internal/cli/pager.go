// This file shows long output on a terminal in a pager.

package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/termtext"
)

// addPager adds the flag --no-pager to the command c, and returns c. The flag is for a command that prints its output
// with showPaged.
func (env *environment) addPager(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&env.noPager, "no-pager", false, "show long output without a pager")
	return c
}

// pagerCommand returns the command line of the person's pager. This is the value of $OXBOW_PAGER or $PAGER. If neither
// is set, it is the command "less", except on Windows. pagerCommand returns nil if no pager is to be used.
func (env *environment) pagerCommand() []string {
	isAllowed := env.supportsPager && !env.noPager && env.ShowInPager != nil
	hasScreen := env.IsStdoutTerminal && env.TerminalHeight > 0 && env.Getenv("TERM") != "dumb"
	if !isAllowed || !hasScreen {
		return nil
	}
	line := strings.TrimSpace(env.Getenv("OXBOW_PAGER"))
	if line == "" {
		line = strings.TrimSpace(env.Getenv("PAGER"))
	}
	if line == "" && env.GOOS != "windows" {
		line = "less -FRX"
	}
	argv, err := splitCommand(line, env.GOOS == "windows")
	if err != nil {
		return nil
	}
	return argv
}

// showPaged calls the function show and captures its output. If the output does not fit the screen, it is shown in the
// pager. The text that the function writes to standard error is printed after the pager has ended. If no pager is to be
// used, showPaged only calls the function.
func (env *environment) showPaged(show func()) {
	argv := env.pagerCommand()
	if argv == nil {
		show()
		return
	}
	out, errs := env.Stdout, env.Stderr
	var text, notes bytes.Buffer
	env.Stdout, env.Stderr = &termtext.SafeWriter{Output: &text}, &notes
	show()
	env.Stdout, env.Stderr = out, errs
	if screenRows(text.Bytes(), env.screenWidth()) < env.TerminalHeight ||
		env.ShowInPager(argv, bytes.NewReader(text.Bytes())) != nil {
		// Print without a pager, because the text fits the screen, or because starting the pager failed.
		_, _ = io.Copy(out, &text)
	}
	_, _ = io.Copy(errs, &notes)
}

// screenRows returns the number of screen rows that a text occupies. A tab counts with its maximum width.
func screenRows(text []byte, width int) (rows int) {
	for line := range bytes.Lines(text) {
		rows += 1 + max(0, countColumns(string(line))+8*bytes.Count(line, []byte("\t"))-1)/width
	}
	return rows
}
