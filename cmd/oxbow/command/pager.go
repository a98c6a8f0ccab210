// The pager of long output on a terminal.

package command

import (
	"bytes"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/screen"
)

// paged gives a command a pager, and the flag that switches it off.
func (a *app) paged(c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&a.noPager, "no-pager", false, "show long output without a pager")
	return c
}

// pager returns the command line of the person's pager: $OXBOW_PAGER, else $PAGER,
// else less where there may be one; nil where none is wanted.
func (a *app) pager() []string {
	if !a.mayPage || a.noPager || !a.env.StdoutTerm || a.env.Height < 1 || a.env.Page == nil || a.env.Getenv("TERM") == "dumb" {
		return nil
	}
	line := strings.TrimSpace(a.env.Getenv("OXBOW_PAGER"))
	if line == "" {
		line = strings.TrimSpace(a.env.Getenv("PAGER"))
	}
	if line == "" && a.env.GOOS != "windows" {
		line = "less -FRX"
	}
	argv, err := splitCommand(line, a.env.GOOS == "windows")
	if err != nil {
		return nil
	}
	return argv
}

// page calls show, which prints. What is longer than the screen is given to the
// pager, before what show writes to standard error.
func (a *app) page(show func()) {
	argv := a.pager()
	if argv == nil {
		show()
		return
	}
	out, errs := a.env.Stdout, a.env.Stderr
	var text, notes bytes.Buffer
	a.env.Stdout, a.env.Stderr = &screen.Writer{W: &text}, &notes
	show()
	a.env.Stdout, a.env.Stderr = out, errs
	rows := 0
	for line := range bytes.Lines(text.Bytes()) {
		rows += 1 + max(0, columns(string(line))-1)/a.screen()
	}
	if rows < a.env.Height || a.env.Page(argv, bytes.NewReader(text.Bytes())) != nil {
		_, _ = io.Copy(out, &text) // there is no such program
	}
	_, _ = io.Copy(errs, &notes)
}
