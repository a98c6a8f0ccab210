// This file holds "oxbow redact": taking what an entry ever said out of the
// file for good.

package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow"
	"github.com/oxbow-memory/oxbow/tool"
)

// redactOut is what was erased and what was not reached, as JSON.
type redactOut struct {
	DryRun   bool     `json:"dry_run,omitempty"`
	Name     string   `json:"name"`
	Versions int      `json:"versions"`
	Seq      uint64   `json:"seq,omitempty"` // the change that records it
	Left     []string `json:"left"`          // what may still hold it
}

func (a *app) redactCommand() *cobra.Command {
	var dry, yes bool
	c := &cobra.Command{
		Use:   "redact NAME",
		Short: "Erase an entry and all it ever said, for good",
		Long: `Redact takes an entry, with every version it ever had, out of the file: for a
password that should never have been written down. It cannot be undone; forget
can. The rest of the log stays as it was, and log --verify still proves it. What
it cannot reach, such as backups, it says.`,
		Example: `  oxbow redact 'db password' --dry-run
  oxbow redact 'db password'
  oxbow redact 'db password' --yes       does not ask`,
		Args:              args(1, 1, "the name of one entry"),
		RunE:              func(cmd *cobra.Command, args []string) error { return a.redact(cmd.Context(), args[0], dry, yes) },
		ValidArgsFunction: a.completeName(1),
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "say what would be erased and change nothing")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (a *app) redact(ctx context.Context, name string, dry, yes bool) error {
	if err := a.ownOnly("redact"); err != nil {
		return err
	}
	if err := tool.CheckText("name", name); err != nil {
		return badArgument(err)
	}
	asks := a.env.StdinTerm && a.env.StderrTerm
	if !dry && !yes && !asks {
		return misusef("add --yes, or look first with --dry-run", "redact erases for good, and there is no terminal to ask at")
	}
	out := redactOut{DryRun: dry, Name: name}
	err := a.with(ctx, change, func(ctx context.Context, m *oxbow.Memory) error {
		rep, err := m.Redact(ctx, name, true)
		if err == nil && !dry && !yes {
			err = a.confirm(fmt.Sprintf("Erase %s of %q for good?", count(rep.Versions, "version", "versions"), clean(name)))
		}
		if err == nil && !dry {
			rep, err = m.Redact(ctx, name, false)
		}
		out.Versions, out.Seq, out.Left = rep.Versions, rep.Seq, rep.Left
		return wrapped("redacting", err)
	})
	if errors.Is(err, oxbow.ErrNotFound) {
		return &hinted{err, "redact takes the exact name, and of an entry that is in the log; oxbow log shows the names"}
	}
	if err != nil {
		return err
	}
	// What lies beside the store is known by name.
	store, err := a.storePath()
	if err != nil {
		return err
	}
	left, err := leftovers(store)
	if err != nil {
		return err
	}
	for _, l := range left {
		out.Left = append(out.Left, l.path)
	}
	if a.json {
		return a.printJSON(out)
	}
	did := "erased"
	if dry {
		did = "would erase"
	}
	a.printf("%s %s of %s\n", did, count(out.Versions, "version", "versions"), a.bold(clean(name)))
	a.note("what it does not reach:")
	if !a.quiet {
		for _, l := range out.Left {
			fmt.Fprintf(a.env.Stderr, "  %s\n", clean(l))
		}
	}
	return nil
}

// confirm asks a question at the terminal. Anything but yes is an error.
func (a *app) confirm(question string) error {
	fmt.Fprintf(a.env.Stderr, "%s [y/N] ", question)
	line, err := bufio.NewReader(a.env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return nil
	}
	return &hinted{errors.New("not confirmed; nothing was changed"), "answer y, or give --yes"}
}
