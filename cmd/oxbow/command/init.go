// "oxbow init": making a home.

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/dialect"
)

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init",
		Short: "Make a memory for this directory",
		Long: `Init makes a home: a directory that only you can read, and in it an empty
store, memory.oxbow. Without --home it is .oxbow in the working directory,
which every command run in or below this directory then finds. A home that is
there already stays as it is. With --dialect it is laid out as another system
does; see docs/dialects.md.`,
		Example: `  oxbow init
  oxbow init --home ~/brain
  oxbow init --dialect duragent --home ./bot`,
		Args: args(0, 0, "no arguments; say --home DIR for another place"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.init(cmd.Context()) },
	}
}

func (a *app) init(ctx context.Context) error {
	if a.homeFlag == "" && a.env.Getenv("OXBOW_HOME") == "" && !a.inUserHome() {
		a.homeFlag = homeDir // here, not one further up
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	d, other, err := a.layoutOf(home)
	if err != nil {
		return err
	}
	if other {
		return a.initOther(ctx, d, home)
	}
	store := filepath.Join(home, storeFile)
	if fi, err := os.Stat(home); err == nil && !fi.IsDir() {
		return &hinted{fmt.Errorf("making the home: %s is not a directory", home), "move it away, or choose another home with --home DIR"}
	}
	_, err = os.Stat(store)
	made := errors.Is(err, fs.ErrNotExist)
	how := look
	if made {
		how = build
	}
	// Whether old or new, it must be one that opens.
	m, err := a.open(how)
	if err != nil {
		return err
	}
	if made {
		if err := m.Create(ctx); err != nil {
			return fmt.Errorf("making the store: %w", errors.Join(err, m.Close()))
		}
	}
	if err := m.Close(); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"home": home, "store": store, "made": made})
	}
	if !made {
		a.printf("There is a memory in %s already; nothing was changed.\n", home)
		return nil
	}
	a.printf("Made an empty memory in %s\n", home)
	if !a.quiet {
		at, server := "", ""
		if a.homeFlag != homeDir { // else it is found from here
			server = a.homeArgs()
		}
		if a.homeFlag != homeDir && a.env.Getenv("OXBOW_HOME") == "" {
			at = " --home " + quote(home)
		}
		a.printf("\nNext:\n")
		a.printf("  oxbow%s remember style \"Tabs, not spaces.\"   keep something\n", at)
		a.printf("  oxbow%s recall tabs                          find it again\n", at)
		a.printf("  oxbow%s mcp                                  let an agent use it\n", server)
	}
	return nil
}

// initOther lays the home out as a dialect does.
func (a *app) initOther(ctx context.Context, d dialect.Dialect, home string) error {
	o, err := a.options(home, build)
	if err != nil {
		return err
	}
	made, err := d.Init(ctx, o)
	if err != nil {
		return fmt.Errorf("laying out %s as %s: %w", home, d.Name, err)
	}
	if len(made) > 0 {
		a.closers = append(a.closers, a.recordMade)
	}
	if a.json {
		return a.printJSON(map[string]any{"home": home, "dialect": d.Name, "files": made, "made": len(made) > 0})
	}
	if len(made) == 0 {
		a.printf("%s is laid out as %s already; nothing was changed.\n", home, d.Name)
		return nil
	}
	a.printf("Laid out %s as %s:\n", home, d.Name)
	for _, name := range made {
		a.printf("  %s\n", filepath.FromSlash(name))
	}
	return nil
}
