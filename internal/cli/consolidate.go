// This file implements the command "oxbow consolidate".

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/maintenance"
)

func consolidateCommand(mem *lazyMemory) *cobra.Command {
	return setUpFlagsAndArgs(&cobra.Command{
		Use:   "consolidate",
		Short: "Remove entries that repeat other entries",
		Long: `Consolidate removes entries that another entry repeats: an entry with the same
text, or a longer entry that contains all words in the same order, with the
same numbers and negations. The longer entry stays. It gets the labels of the
removed entry, and its name as an alias. Very short texts (fewer than three
words, or six characters in scripts without spaces) stay, because their meaning
depends on their name. Entries of different projects or kinds are not compared,
and an entry with the tag keep is never removed.

Use --dry-run first. Consolidate makes one change, which oxbow undo takes back.
In a home of ` + promptShorteningLayoutNames() + `, it works on the paragraphs and list items of the file that
the model always sees, MEMORY.md. If a removed text is not exactly the same, it
is kept in another file.`,
		Example: `  oxbow consolidate --dry-run
  oxbow consolidate
  oxbow consolidate --over 4000   # only if there are more than 4000 tokens`,
	}, func(ctx context.Context, in maintenance.ConsolidateIn, _ []string) error {
		if in.TokenThreshold < 0 {
			return usageErrorf("for example: --over 4000", "--over %d is less than 0", in.TokenThreshold)
		}
		did, err := callVerbRawError(ctx, mem, maintenance.ConsolidateEntries, in)
		if err != nil {
			return err
		}
		nothing := "nothing is said twice"
		if in.TokenThreshold > 0 && did.Before <= in.TokenThreshold {
			nothing = fmt.Sprintf("there are not more than %d tokens", in.TokenThreshold)
		}
		return mem.env.showTidySteps(did.Tidied, in.DryRun, nothing)
	})
}

// tidyOut is the JSON output of commands that tidy a memory, such as "oxbow consolidate", which removes the duplicate
// entries from a memory.
type tidyOut struct {
	verb.Tidied
	DryRun bool `json:"dry_run,omitempty"`
}

// printTidyJSON prints the steps as JSON. Without steps, it prints an empty list.
func (env *environment) printTidyJSON(tidyResult verb.Tidied, isDryRun bool) error {
	tidyResult.Steps = append([]verb.Step{}, tidyResult.Steps...)
	return env.printJSON(tidyOut{tidyResult, isDryRun})
}

// showTidySteps prints the steps that were done, or that would be done in a dry run. Without steps, it prints
// nothingReason.
func (env *environment) showTidySteps(tidyResult verb.Tidied, isDryRun bool, nothingReason string) error {
	if env.wantsJSON {
		return env.printTidyJSON(tidyResult, isDryRun)
	}
	env.showReport(describeTidySteps(tidyResult, isDryRun, nothingReason))
	return nil
}

// describeTidySteps describes the steps. Without steps, the report contains nothingReason.
func describeTidySteps(tidyResult verb.Tidied, isDryRun bool, nothingReason string) (r report.Report) {
	for _, n := range tidyResult.Notes {
		r.AddNotef("%s", report.QuotedText(n))
	}
	if len(tidyResult.Steps) == 0 {
		r.AddLinef("%s (%s); nothing was changed", report.OxbowText(nothingReason),
			report.OxbowText(formatCount(tidyResult.Before, "token", "tokens")))
		return r
	}
	const didWidth = 8
	step := func(did, text string) {
		r.Add(
			report.Line{
				Sentence: report.Sentencef("%s  %s", report.OxbowText(padColumns(did, didWidth)), text),
				MayBeCut: true,
			},
		)
	}
	for _, s := range tidyResult.Steps {
		step(s.Did, s.Text)
		if s.Kept != "" {
			step("  for", s.Kept)
		}
	}
	left := report.OxbowText(formatCount(tidyResult.After, "token", "tokens"))
	if isDryRun {
		r.AddLinef("would leave %s, of %d", left, tidyResult.Before)
		r.AddNotef("nothing was changed")
		return r
	}
	r.AddLinef("%s, of %d", left, tidyResult.Before)
	r.AddNotef("oxbow undo takes it back")
	return r
}
