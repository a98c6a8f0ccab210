// This file implements the command "oxbow scan".

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func (a *app) scanCommand() *cobra.Command {
	var isConfirmed *bool
	fixLoss := loss[maintenance.ScanIn, maintenance.ScanOut]{
		command: "scan --fix",
		verb:    maintenance.Scan,
		dryRun:  func(in maintenance.ScanIn) maintenance.ScanIn { in.DryRun = true; return in },
		question: func(would maintenance.ScanOut) string {
			if len(would.Found) == 0 {
				return ""
			}
			return fmt.Sprintf("Replace %s for good, in the history too?", count(len(would.Found), "secret", "secrets"))
		},
	}
	c := &cobra.Command{
		Use:   "scan",
		Short: "Look for passwords and keys in the memory, its history and the archive",
		Long: `Scan looks for passwords, keys and tokens in the entries, the archive of
sessions, the history of both with the notes of its changes, and in the
profiles, skills and other files that oxbow keeps in the home. It prints where
they are, never what they are, and fails if it finds one. With --fix, each is
replaced by [redacted: RULE #tag], and the versions that held it are erased, as
redact does: that cannot be undone. The note of a change cannot be replaced, and
neither can a file that an interrupted write left. For these, scan --fix prints
the commands that drop them.`,
		Example: `  oxbow scan
  oxbow scan --fix --dry-run
  oxbow scan --fix --yes        # does not ask`,
		Args: args(0, 0, "no arguments"),
	}
	takes(c, func(ctx context.Context, in maintenance.ScanIn, _ []string) error {
		if in.Fix && !in.DryRun {
			if err := fixLoss.confirm(ctx, a, in, *isConfirmed); err != nil {
				return err
			}
		}
		return perform(ctx, a, maintenance.Scan, in, func(out maintenance.ScanOut) { a.showScan(out, in.Fix) })
	})
	isConfirmed = addYes(c)
	return c
}

func (t *terminal) showScan(out maintenance.ScanOut, fix bool) {
	for _, f := range out.Found {
		t.showFoundSecret(f)
	}
	switch n := count(len(out.Found), "secret", "secrets"); {
	case len(out.Found) == 0:
		t.printf("no secrets were found\n")
	case out.Fixed > 0:
		t.printf(
			"replaced %s; erased %s of the history\n",
			count(out.Fixed, "secret", "secrets"),
			count(out.Versions, "version", "versions"),
		)
	case fix && out.DryRun:
		t.printf("would replace %s\n", n)
	case !fix:
		t.note(
			"oxbow scan --fix replaces them, in the history too; a key that was written down is best changed where " +
				"it is used",
		)
	}
	t.noteLines("to remove the rest, run:", out.Steps)
	t.noteLines("what it does not reach:", out.Left)
}

// showFoundSecret prints the location of a secret, but not the secret.
func (t *terminal) showFoundSecret(f verb.FoundSecret) {
	where := f.Part
	if f.Line > 0 {
		where = fmt.Sprintf("%s, line %d", f.Part, f.Line)
	}
	if f.Archive {
		where += ", archive of sessions"
	}
	if !f.Current {
		where += ", history"
	}
	of := fmt.Sprintf("%s@%d", nameText(f.Name), f.Version)
	switch f.Part {
	case "note", "source":
		of = fmt.Sprintf("change %d", f.Version)
	case "profile":
		of = "profile " + nameText(f.Name)
	case "file":
		of = nameText(f.Name)
	}
	t.printf("%s: %s (%s)\n", of, f.Rule, where)
}

// noteLines prints lines below a title on standard error. It prints nothing if there are no
// lines.
func (t *terminal) noteLines(title string, lines []string) {
	if len(lines) == 0 || t.quiet {
		return
	}
	t.note("%s", title)
	for _, l := range lines {
		fmt.Fprintf(t.env.Stderr, "  %s\n", clean(l))
	}
}
