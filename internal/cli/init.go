// This file implements the command "oxbow init", which creates a home.

package cli

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func initCommand(mem *lazyMemory) *cobra.Command {
	return setUpVerbCommand(mem, &cobra.Command{
		Use:   "init",
		Short: "Make a memory for this directory",
		Long: `Init makes a home: a directory that only you can read, with an empty memory,
memory.oxbow. Without --home, it is the directory .oxbow in the working
directory, and every command that you run in or below this directory uses it.
An existing home stays unchanged. With --dialect, the home has the layout of
another system (see docs/dialects.md). With --from, it begins with the content
of a backup, including the history. --identity names the key of an encrypted
backup.`,
		Example: `  oxbow init
  oxbow init --home ~/brain
  oxbow init --dialect duragent --home ./bot
  oxbow init --home ~/restored --from ~/backups/memory.age --identity ~/key.txt`,
		Args: requireArgCount(0, 0, "no arguments; say --home DIR for another place"),
	}, maintenance.InitHome, func(in *maintenance.InitIn, _ *flagSet, _ []string) (err error) {
		namesHome := mem.finder.homeFlag != "" || mem.env.Getenv("OXBOW_HOME") != ""
		if !namesHome && !mem.finder.usesUserHome() {
			// Create the home in the working directory, even if a directory above contains a home.
			mem.finder.homeFlag = homeDirName
			in.OuterHome, err = mem.finder.findHomeForParentDir()
			if err != nil {
				return err
			}
		}
		in.CreateLayoutFiles = mem.createHomeFiles
		if in.BackupFile == "" {
			if in.Identity != "" || in.Passphrase != "" {
				return usageErrorf("--from FILE names it", "--identity and --passphrase-file are about a backup")
			}
			return nil
		}
		in.BackupFile, err = mem.env.absolutePath(in.BackupFile)
		if err != nil {
			return err
		}
		mem.closeFuncs = append(mem.closeFuncs, mem.recordHomeAsTrusted)
		return mem.env.resolveKeyFiles(&in.BackupKeyFiles)
	}, mem.finder.showInitResult)
}

// findHomeForParentDir returns the home that oxbow would use in the parent of the working directory. This home is the
// nearest home at or above the parent, or else the home in the user's data directory. findHomeForParentDir returns ""
// if there is no nearest home and the data directory contains no memory. It also returns "" if the working directory is
// the root directory, which has no parent.
func (finder *homeFinder) findHomeForParentDir() (string, error) {
	wd, err := finder.env.absolutePath(".")
	if err != nil || filepath.Dir(wd) == wd {
		return "", err
	}
	outer, err := finder.nearestHome(filepath.Dir(wd))
	if outer != "" || err != nil {
		return outer, err
	}
	outer, err = finder.env.dataHome()
	if err != nil || !fileExists(filepath.Join(outer, storeFileName)) {
		return "", err
	}
	return outer, nil
}

// createHomeFiles creates the files of a home in the home's layout, and returns the file names.
func (mem *lazyMemory) createHomeFiles(ctx context.Context) ([]string, error) {
	home, err := mem.finder.homePath()
	if err != nil {
		return nil, err
	}
	d, _, err := mem.finder.findLayout(home)
	if err != nil {
		return nil, err
	}
	o, err := mem.layoutOptions(home, createAccess)
	if err != nil {
		return nil, err
	}
	made, err := d.Init(ctx, o)
	if len(made) > 0 {
		mem.closeFuncs = append(mem.closeFuncs, mem.recordHomeAsTrusted)
	}
	return made, err
}

// showInitResult prints the result of the command init, and the commands that the person can run next. It is a method
// of homeFinder because the text of these commands depends on how this program was started, for example on the flag
// --home.
func (finder *homeFinder) showInitResult(out maintenance.InitOut) {
	if finder.env.isQuiet {
		return
	}
	if out.ParentHomeNotUsed != "" {
		defer finder.env.printNote(
			"the memory in %s is no longer found from here; --home %s names it",
			out.ParentHomeNotUsed,
			shellQuote(out.ParentHomeNotUsed),
		)
	}
	switch {
	case out.Layout != "" && !out.IsNew:
		finder.env.printf("%s is laid out as %s already; nothing was changed.\n", out.Home, out.Layout)
	case out.Layout != "":
		finder.env.printf("Laid out %s as %s:\n", out.Home, out.Layout)
		for _, name := range out.Files {
			finder.env.printf("  %s\n", filepath.FromSlash(name))
		}
	case !out.IsNew:
		finder.env.printf("There is a memory in %s already; nothing was changed.\n", out.Home)
	case out.BackupFile != "":
		finder.env.printf(
			"Made a memory in %s of %s: %s, change %d\n",
			out.Home,
			out.BackupFile,
			formatCount(out.EntryCount, "entry", "entries"),
			out.LastSeq,
		)
	default:
		at := ""
		// Show --home in the next commands, unless they find the new home from this directory or by $OXBOW_HOME.
		if finder.homeFlag != homeDirName && finder.env.Getenv("OXBOW_HOME") == "" {
			at = " --home " + shellQuote(out.Home)
		}
		finder.env.printf("Made an empty memory in %s\n\nNext:\n", out.Home)
		program := finder.env.programCommandLine() + at
		next := []struct{ line, does string }{
			{program + ` remember style "Tabs, not spaces."`, "keep something"},
			{program + " recall tabs", "find it again"},
			{finder.env.commandLineForSetup() + at + " setup", "let your agents use it"},
		}
		width := 0
		for _, n := range next {
			width = max(width, len([]rune(n.line)))
		}
		for _, n := range next {
			finder.env.printf("  %-*s   %s\n", width, n.line, n.does)
		}
	}
}
