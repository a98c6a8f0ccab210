// This file implements the command "oxbow check".

package cli

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func (a *app) checkCommand() *cobra.Command {
	return does(a, &cobra.Command{
		Use:   "check",
		Short: "Examine the memory, byte by byte",
		Long: `Check reads the whole memory, compares checksums and the chain of changes, and
compares what the file says with what the memory answers. It changes nothing.
The exit status is 1 when there is a problem: oxbow recover then saves what can
still be read. The head it prints is a hash over all changes: note it elsewhere
to prove later, with --since, that changes were only added. Each 256 changes,
and at a backup or export, the head is signed with the key of the home,
memory.oxbow.signkey, into memory.oxbow.heads; check reports what was cut off,
edited or replaced since by those who do not have the key. The annotations of
the code in the working directory, if there are any, are read line by line, and
the archive of sessions as the memory is.`,
		Example: `  oxbow check
  oxbow check --json --home ~/brain
  oxbow check --since $(cat ~/noted-head)
  oxbow check --sign`,
	}, maintenance.Check, positional, a.showChecked)
}

func (a *app) showChecked(out maintenance.CheckOut) {
	// Only the problems of the store itself decide whether the store is called sound.
	if len(out.Problems) == 0 {
		a.showSound(out)
	} else {
		a.showUnsound(out)
	}
	if out.Annotations != nil {
		a.showCheckedAnnotations(out.Annotations)
	}
	if s := out.Sessions; s != nil && len(s.Problems) > 0 {
		a.printf("%s has %s:\n", s.Store, count(len(s.Problems), "problem", "problems"))
		a.showProblems(s.Problems)
	} else if s != nil && !a.quiet {
		a.printf("%s is sound: %s, %s\n", s.Store, count(s.Entries, "entry", "entries"), bytesText(s.Bytes))
	}
}

func (a *app) showUnsound(out maintenance.CheckOut) {
	a.printf("%s has %s:\n", out.Store, count(len(out.Problems), "problem", "problems"))
	a.showProblems(out.Problems)
	a.showCheckNotes(out)
}

func (a *app) showSound(out maintenance.CheckOut) {
	switch {
	case out.Missing:
		a.note("there is no memory in %s yet", filepath.Dir(out.Store))
	case !a.quiet:
		a.printf("%s is sound: %s, %s, %s\n", out.Store,
			count(out.Entries, "entry", "entries"), count(out.Records, "record", "records"), bytesText(out.Bytes))
		if out.Head != "" {
			a.printf("changes %d to %d, head %s\n", out.First, out.Last, out.Head)
		}
		if s := out.Since; s != nil && s.Found {
			a.printf("since change %d, changes were only added: %d of them\n", s.Seq, out.Last-s.Seq)
		}
		if h := out.Heads; h != nil && h.Signed > 0 {
			a.printf(
				"%s with it, the last of change %d, by key %s\n",
				count(h.Signed, "signed head agrees", "signed heads agree"),
				h.Last,
				h.Key,
			)
		}
	}
	a.showCheckNotes(out)
}

func (a *app) showCheckNotes(out maintenance.CheckOut) {
	for _, n := range out.Notes {
		a.note("%s", clean(n))
	}
	if n := len(out.SetAside); n > 0 {
		a.note(
			"%s in %s: what interrupted writes left, kept when it was cut off; nothing acknowledged is in it, and "+
				"nothing needs it",
			count(n, "torn tail is", "torn tails are"), filepath.Dir(out.SetAside[0].File),
		)
	}
}

func (a *app) showProblems(problems []verb.Problem) {
	for _, p := range problems {
		at := ""
		if p.Offset >= 0 {
			at = fmt.Sprintf("byte %d: ", p.Offset)
		}
		a.hang("  ", at+clean(p.What))
		if p.Mend != "" {
			a.hang("    ", "mend: "+a.asTyped(clean(p.Mend)))
		}
	}
}

func (a *app) showCheckedAnnotations(out *maintenance.AnnotationsCheck) {
	n := len(out.Problems)
	switch {
	case n > 0:
		a.printf("the annotations have %s:\n", count(n, "problem", "problems"))
		for _, p := range out.Problems {
			a.printf("  %s %s\n", oneLine(p.At()), oneLine(p.What))
		}
		a.hang("    ", "mend: "+maintenance.MendAnnotations)
	case !a.quiet:
		a.printf("the annotations are sound: %d in %s\n", out.Annotations, count(out.Files, "sidecar", "sidecars"))
	}
	if out.Torn > 0 {
		a.note(
			"%s with a write that was cut off: nothing acknowledged is in it",
			count(out.Torn, "sidecar ends", "sidecars end"),
		)
	}
	if out.Newer > 0 {
		a.note("%s by a newer oxbow, and passed over", count(out.Newer, "line was written", "lines were written"))
	}
}
