// This file implements the command "oxbow profile", which lists, shows and creates profiles.

package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/base/report"
	"github.com/oxbow-memory/oxbow/internal/verb"
	"github.com/oxbow-memory/oxbow/internal/verb/profiles"
	"github.com/oxbow-memory/oxbow/profile"
)

func profileCommand(mem *lazyMemory) *cobra.Command {
	c := setUpCommandGroup(&cobra.Command{
		Use:   "profile",
		Short: "Choose which part of the memory an agent sees",
		Long: `A profile is a YAML file that selects the entries for a job: by project, tag,
kind, file, date and name. It is in the home, as profiles/NAME.yaml, or comes
with the project, as .oxbow/profiles/NAME.yaml. If both exist, the home's
profile is used. --profile NAME, or OXBOW_PROFILE, binds any command to the
profile, including oxbow mcp. Such a command sees nothing else.`,
		Example: `  oxbow profile new vtt --project homebrew-vtt --tag decision
  oxbow profile lint
  oxbow profile select vtt --manifest
  oxbow mcp --profile vtt`,
	})
	c.AddCommand(profileListCommand(mem), profileShowCommand(mem), profileNewCommand(mem),
		profileEditCommand(mem), profileLintCommand(mem), profileSelectCommand(mem), profileDiffCommand(mem),
		profileTokensCommand(mem))
	return c
}

// resolveProfileName returns the name of the profile that the command must use, or "" for the profile that restricts
// this run. The list args contains at most one name. If a profile restricts this run, args must be empty or contain the
// name of this profile. Otherwise args must contain a name. If args is not as required, resolveProfileName returns an
// error.
func (mem *lazyMemory) resolveProfileName(cmd *cobra.Command, args []string) (string, error) {
	name, err := mem.boundProfileName()
	switch {
	case err != nil:
		return "", err
	case len(args) == 0 && name == "":
		return "", usageErrorf("oxbow profile list shows what there is; usage: "+
			cmd.UseLine(), "%s needs the name of a profile", cmd.Name())
	case len(args) == 0 || name == args[0]:
		return "", nil
	case name != "":
		return "", usageErrorf(
			"run it without --profile, and without OXBOW_PROFILE",
			"this run is bound to profile %q, and cannot look through %q",
			name,
			args[0],
		)
	}
	return args[0], nil
}

func profileListCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:     "list",
		Aliases: []string{"ls"},
		Short:   "List the profiles and their problems",
		Example: `  oxbow profile list
  oxbow profile list --json`,
	}, profiles.ListProfiles, setPositionalArgs)
}

// setUpProfileReport sets up the cobra command c. The command calls verbCall with the name of a profile, which
// resolveProfileName determines from the arguments, and prints the report that verbCall returns.
func setUpProfileReport[Out report.Reporter](
	mem *lazyMemory,
	c *cobra.Command,
	verbCall verbFunc[profiles.ProfileIn, Out],
) *cobra.Command {
	c.Args = requireArgCount(0, 1, "the name of one profile")
	return setUpReportCommand(mem, c, verbCall, func(in *profiles.ProfileIn, _ *flagSet, args []string) (err error) {
		in.Name, err = mem.resolveProfileName(c, args)
		return err
	})
}

func profileShowCommand(mem *lazyMemory) *cobra.Command {
	return setUpProfileReport(mem, &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show a profile combined with the profiles that it extends",
		Example: `  oxbow profile show vtt
  oxbow profile show vtt --json`,
	}, profiles.ShowProfile)
}

func profileLintCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "lint [NAME…]",
		Short: "Find mistakes in profiles",
		Long: `Lint checks all profiles, or the named ones. It reports, with file and line,
YAML mistakes, labels and names that no entry has, items that are both included
and excluded, empty selections, missing documents, and budgets that are too
small for the documents. The exit status is 1 if it finds a problem.`,
		Example: `  oxbow profile lint
  oxbow profile lint vtt`,
	}, profiles.LintProfiles, setPositionalArgs)
}

func profileSelectCommand(mem *lazyMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "select [NAME]",
		Short: "Print what a profile selects, in the form for a model",
		Example: `  oxbow profile select vtt
  oxbow profile select vtt --query "fog of war" --max-tokens 4000 --manifest
  oxbow profile select author --as-of 2026-04-18`,
		Args: requireArgCount(0, 1, "the name of one profile"),
	}
	var manifest *bool
	setUpVerbCommand(
		mem,
		c,
		profiles.SelectEntries,
		func(in *profiles.SelectEntriesIn, _ *flagSet, args []string) (err error) {
			in.Profile, err = mem.resolveProfileName(c, args)
			return err
		},
		func(out verb.SelectionOut) { mem.env.showSelectionOrManifest(out, *manifest) },
	)
	manifest = c.Flags().Bool("manifest", false, "print which parts are included or cut, and why, instead of the text")
	return c
}

func profileTokensCommand(mem *lazyMemory) *cobra.Command {
	return setUpProfileReport(mem, &cobra.Command{
		Use:   "tokens [NAME]",
		Short: "Estimate the tokens of a profile",
		Example: `  oxbow profile tokens vtt
  oxbow profile tokens vtt --json`,
	}, profiles.CountProfileTokens)
}

func profileNewCommand(mem *lazyMemory) *cobra.Command {
	c := &cobra.Command{
		Use:   "new NAME",
		Short: "Write a profile into the home",
		Long: `New writes HOME/profiles/NAME.yaml, which you can then edit. It never replaces
a file. The profile selects an entry if the entry has one of the projects and
one of the tags.`,
		Example: `  oxbow profile new vtt --project homebrew-vtt
  oxbow profile new lore --extends vtt --tag lore --description "The world"`,
		Args: requireArgCount(1, 1, "the name of the profile"),
	}
	setUpReportCommand(mem, c, profiles.NewProfile, func(in *profiles.NewProfileIn, _ *flagSet, args []string) error {
		in.Name = args[0]
		if err := profile.CheckName(in.Name); err != nil {
			return asUsageError(err)
		}
		home, err := mem.finder.trustedHome()
		if err != nil {
			return err
		}
		// Create the directory before profiles are searched, because the home may not exist yet.
		if err := os.MkdirAll(filepath.Join(home, profile.HomeDirs[0]), 0o700); err != nil {
			return fmt.Errorf("making the directory of profiles: %w", err)
		}
		return nil
	})
	c.Flags().Lookup("max-tokens").DefValue = strconv.Itoa(profile.DefaultMaxTokens)
	return c
}

func profileDiffCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "diff A [B]",
		Short: "Compare what two profiles select",
		Long: `Diff shows the entries and documents that only profile A includes (-) and that
only profile B includes (+), each with its tokens. With one profile and
--as-of, it compares the selection at that time with the present selection, and
also shows changed entries (~).`,
		Example: `  oxbow profile diff vtt-developer base-developer
  oxbow profile diff vtt --as-of 2026-04-18`,
		Args: requireArgCount(1, 2, "the names of two profiles, or of one with --as-of"),
	}, profiles.DiffProfiles, func(in *profiles.DiffProfilesIn, _ *flagSet, args []string) error {
		in.ProfileA = args[0]
		if len(args) == 2 {
			in.ProfileB = args[1]
		} else if in.AsOfDateOrSeq == "" {
			return usageErrorf(
				"name a second profile, or a day: --as-of 2026-04-18",
				"there is nothing to compare %q with",
				in.ProfileA,
			)
		}
		return nil
	})
}

func profileEditCommand(mem *lazyMemory) *cobra.Command {
	return &cobra.Command{
		Use:   "edit NAME",
		Short: "Change a profile in your editor",
		Long: `Edit opens the file of a profile in $VISUAL or $EDITOR. oxbow checks the text
that you save. If it contains a mistake, the old file stays, and your text is
saved in a separate file. Warnings, such as those of lint, are printed, and the
text is saved. If somebody else changed the file meanwhile, nothing is
overwritten.`,
		Example: `  oxbow profile edit vtt
  EDITOR='code --wait' oxbow profile edit vtt`,
		Args: requireArgCount(1, 1, "the name of one profile"),
		RunE: func(cmd *cobra.Command, args []string) error { return mem.editProfile(cmd.Context(), args[0]) },
	}
}

func (mem *lazyMemory) editProfile(ctx context.Context, name string) error {
	set, err := mem.loadProfiles()
	if err != nil {
		return err
	}
	was, err := set.Text(name)
	if err != nil {
		return &usageError{err, "oxbow profile list shows what there is; oxbow profile new NAME makes one"}
	}
	draft := editedText{textName: name, fileExtension: ".yaml", retryCommand: "oxbow profile edit " + shellQuote(name)}
	var out profiles.ReplaceProfileOut
	err = mem.finder.editTextInEditor(&draft, string(was), func(text string) (err error) {
		out, err = callVerbRawError(
			ctx,
			mem,
			profiles.ReplaceProfile,
			profiles.ReplaceProfileIn{Name: name, OldText: was, NewText: []byte(text)},
		)
		return err
	})
	if err != nil {
		return err
	}
	return printResult(mem, out, answerPrinter[profiles.ReplaceProfileOut](mem))
}
