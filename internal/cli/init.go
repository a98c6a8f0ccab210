// This file implements the command "oxbow init", which creates a home.

package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func (a *app) initCommand() *cobra.Command {
	return setUpCall(a, &cobra.Command{
		Use:   "init",
		Short: "Make a memory for this directory",
		Long: `Init makes a home: a directory that only you can read, and in it an empty
store, memory.oxbow. Without --home it is .oxbow in the working directory,
which every command run in or below this directory then finds. A home that is
there already stays as it is. With --dialect it is laid out as another system
does; see docs/dialects.md. With --from it begins with what a backup holds, all
history included; --identity names the key of an encrypted one.`,
		Example: `  oxbow init
  oxbow init --home ~/brain
  oxbow init --dialect duragent --home ./bot
  oxbow init --home ~/restored --from ~/backups/memory.age --identity ~/key.txt`,
		Args: argCount(0, 0, "no arguments; say --home DIR for another place"),
	}, maintenance.Init, func(in *maintenance.InitIn, _ *flagSet, _ []string) (err error) {
		if a.homeFlag == "" && a.env.Getenv("OXBOW_HOME") == "" && !a.inUserHome() {
			a.homeFlag = homeDir // in the working directory, not in a directory above
			in.Outer, err = a.outerHome()
			if err != nil {
				return err
			}
		}
		in.LayOut = a.layOut
		if in.From == "" {
			if in.Identity != "" || in.Passphrase != "" {
				return misusef("--from FILE names it", "--identity and --passphrase-file are about a backup")
			}
			return nil
		}
		in.From, err = a.absolutePath(in.From)
		if err != nil {
			return err
		}
		a.closers = append(a.closers, a.recordMade)
		return a.keyFiles(&in.KeyFiles)
	}, a.showMade)
}

// outerHome returns the home that would be found from the parent of the working directory if it has a
// memory, or "".
func (l *locator) outerHome() (string, error) {
	wd, err := l.absolutePath(".")
	if err != nil || filepath.Dir(wd) == wd {
		return "", err
	}
	outer, err := l.nearest(filepath.Dir(wd))
	if outer != "" || err != nil {
		return outer, err
	}
	outer, err = l.dataHome()
	if err != nil || !fileExists(filepath.Join(outer, storeFile)) {
		return "", err
	}
	return outer, nil
}

// layOut creates the files of the home's dialect and returns their names.
func (a *app) layOut(ctx context.Context) ([]string, error) {
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	d, _, err := a.findLayout(home)
	if err != nil {
		return nil, err
	}
	o, err := a.layoutOptions(home, build)
	if err != nil {
		return nil, err
	}
	made, err := d.Init(ctx, o)
	if len(made) > 0 {
		a.closers = append(a.closers, a.recordMade)
	}
	return made, err
}

// showMade prints what was made and the next commands. These depend on how the program was started, which the
// answer does not know. Therefore it is not a report.
func (l *locator) showMade(out maintenance.InitOut) {
	if l.quiet {
		return
	}
	if out.Hidden != "" {
		defer l.note("the memory in %s is no longer found from here; --home %s names it", out.Hidden, quote(out.Hidden))
	}
	switch {
	case out.Layout != "" && !out.Made:
		l.printf("%s is laid out as %s already; nothing was changed.\n", out.Home, out.Layout)
	case out.Layout != "":
		l.printf("Laid out %s as %s:\n", out.Home, out.Layout)
		for _, name := range out.Files {
			l.printf("  %s\n", filepath.FromSlash(name))
		}
	case !out.Made:
		l.printf("There is a memory in %s already; nothing was changed.\n", out.Home)
	case out.From != "":
		l.printf(
			"Made a memory in %s of %s: %s, change %d\n",
			out.Home,
			out.From,
			count(out.Entries, "entry", "entries"),
			out.Last,
		)
	default:
		at := ""
		if l.homeFlag != homeDir && l.env.Getenv("OXBOW_HOME") == "" { // otherwise it is found from here
			at = " --home " + quote(out.Home)
		}
		l.printf("Made an empty memory in %s\n\nNext:\n", out.Home)
		program := l.programToType() + at
		next := []struct{ line, does string }{
			{program + ` remember style "Tabs, not spaces."`, "keep something"},
			{program + " recall tabs", "find it again"},
			{l.programForSetup() + at + " setup", "let your agents use it"},
		}
		width := 0
		for _, n := range next {
			width = max(width, len([]rune(n.line)))
		}
		for _, n := range next {
			l.printf("  %-*s   %s\n", width, n.line, n.does)
		}
	}
}
