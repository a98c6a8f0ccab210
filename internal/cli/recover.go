// This file implements the command "oxbow recover".

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func (a *app) recoverCommand() *cobra.Command {
	var accept bool
	c := &cobra.Command{
		Use:   "recover [FILE]",
		Short: "Save what can be read of a damaged memory",
		Long: `Recover reads what can be read of a damaged memory, however damaged, into a new
file, and says what was lost. It does not change the damaged one. With
--replace it then puts the new file in the place of the damaged one, which is
kept under another name.

With a FILE, a backup, it reads that and not the memory: --identity names the
key of an encrypted one. With --replace the backup takes the place of the
memory, sound or not, which is kept under another name.

With --accept it does something else: it goes on from a memory that went back
to an earlier state, as when you put a backup in its place on purpose.`,
		Example: `  oxbow recover
  oxbow --home .oxbow/memory.oxbow.recovered list    # look at what was saved
  oxbow recover --replace
  oxbow recover ~/backups/memory.age --identity ~/key.txt --out restored.oxbow
  oxbow recover --accept`,
		Args: args(0, 1, "the backup to read; say --out FILE for another place"),
	}
	does(a, c, maintenance.Recover, func(in *maintenance.RecoverIn, _ *flagSet, args []string) (err error) {
		if err := a.backupNamed(in, args); err != nil {
			return err
		}
		if in.Replace && in.Out != "" {
			return misusef(
				"--replace puts the new file in the place of the damaged one",
				"give --out or --replace, not both",
			)
		}
		if in.Out != "" {
			in.Out, err = a.outputPath(in.Out)
		}
		return err
	}, a.showRecovered)
	c.Flags().BoolVar(&accept, "accept", false, "go on from a memory that went back to an earlier state")
	recover := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !accept:
			return recover(cmd, args)
		case len(args) > 0, cmd.Flags().Changed("replace"), cmd.Flags().Changed("out"):
			return misusef("recover first, then look whether there is something to accept", "--accept stands alone")
		}
		return perform(cmd.Context(), a, maintenance.Accept, maintenance.AcceptIn{}, a.showAccepted)
	}
	return c
}

// backupNamed reads the path of the backup and of its key files from the arguments.
func (l *locator) backupNamed(in *maintenance.RecoverIn, args []string) (err error) {
	if len(args) == 0 {
		if in.Sessions || in.Identity != "" || in.Passphrase != "" {
			return misusef(
				"oxbow recover FILE names it",
				"--identity, --passphrase-file and --sessions are about a backup",
			)
		}
		return nil
	}
	in.File, err = l.abs(args[0])
	if err != nil {
		return err
	}
	return l.keyFiles(&in.KeyFiles)
}

// lostShown is the maximum number of ranges of lost changes that are listed.
const lostShown = 20

func (t *terminal) showRecovered(r maintenance.RecoverOut) {
	if r.Sound && r.From == "" {
		t.printf("%s is sound: there is nothing to recover\n", r.Store)
		t.note("oxbow backup FILE makes a copy")
		return
	}
	t.printf(
		"saved %s, from %s, in %s\n",
		count(r.Entries, "entry", "entries"),
		count(r.Changes, "change", "changes"),
		r.Out,
	)
	switch {
	case r.Sound && len(r.Lost) > 0:
		t.printf("not in the backup:\n")
	case r.Sound:
		t.printf("the backup is sound\n")
	case len(r.Lost) > 0 || r.Base:
		t.printf("lost:\n")
	case r.BadBytes > 0:
		t.printf("no change is known to be lost\n")
	default:
		t.printf("no change was lost\n")
	}
	for _, l := range r.Lost[:min(len(r.Lost), lostShown)] {
		if l[0] == l[1] {
			t.printf("  change %d\n", l[0])
		} else {
			t.printf("  changes %d to %d\n", l[0], l[1])
		}
	}
	if n := len(r.Lost) - lostShown; n > 0 {
		t.printf("  and %d stretches more: --json lists them\n", n)
	}
	if r.Base {
		t.printf("  entries that a compaction had kept, as they were before change %d\n", r.First)
	}
	if r.BadBytes > 0 {
		t.printf("%s of the file could not be read\n", bytesText(r.BadBytes))
	}
	if r.Header {
		t.printf("the header was damaged; it was worked out from the rest\n")
	}
	if r.Out != r.Store {
		t.note("%s was not changed", r.Store)
		t.note("to look at what was saved: oxbow --home %s list", quote(r.Out))
		if r.From == "" {
			t.note("to go on with it: oxbow recover --replace")
		} else {
			t.note("to go on with it, give --replace in the place of --out")
		}
		return
	}
	was := "damaged file"
	if r.From != "" {
		was = "file that was there"
	}
	if r.Damaged != "" { // otherwise there was no archive
		t.printf("the %s is kept as %s\n", was, r.Damaged)
		t.note("to undo this, before anything new is remembered: mv %s %s", quote(r.Damaged), quote(r.Store))
	}
	t.note("restart the programs that had the memory open")
}

func (t *terminal) showAccepted(out maintenance.AcceptOut) {
	if !out.Accepted {
		t.printf("%s did not go back: there is nothing to accept\n", out.Store)
		return
	}
	t.printf("%s goes on from change %d\n", out.Store, out.Last)
	first, last := out.Last+1, out.Last+out.GivenUp
	lost := fmt.Sprintf("changes %d to %d are given up, and their numbers are", first, last)
	if first == last {
		lost = fmt.Sprintf("change %d is given up, and its number is", first)
	}
	t.note("%s used again; restart the programs that had the memory open", lost)
}
