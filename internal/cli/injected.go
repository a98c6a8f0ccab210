// This file implements the command "oxbow injected", which lists what hooks have shown to models.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/injection"
)

func injectedCommand(mem *lazyMemory) *cobra.Command {
	return setUpReportCommand(mem, &cobra.Command{
		Use:   "injected",
		Short: "Show what agents were shown, and what they used",
		Long: `Injected lists the texts that hooks showed to agents, the newest first. For
each text it shows the time, the session, the place (start of a session, prompt
or action), the strength of the match, the floor, and the entries with their
versions. --text shows the whole text. If there is only one text, it is shown
as well.

An entry counts as used if the agent wrote at least three of the text's rare
words later in the same turn, and not before. oxbow compares only words, so it
does not notice if an agent follows a note in other words.`,
		Example: `  oxbow injected
  oxbow injected --place prompt --since 7d --text
  oxbow injected --entry style --json
  oxbow injected --unused`,
		Args: requireArgCount(0, 0, ""),
	}, injection.ListInjections, func(in *injection.InjectedIn, _ *flagSet, _ []string) error {
		in.IsInjectionOff = mem.finder.isInjectionSwitchedOff()
		return nil
	})
}

// isInjectionSwitchedOff reports whether hooks or injection are switched off in the working directory.
func (finder *homeFinder) isInjectionSwitchedOff() bool {
	if finder.env.Getenv("OXBOW_INJECT") == "off" || finder.env.Getenv("OXBOW_HOOKS") == "off" {
		return true
	}
	home, err := finder.archiveHome()
	dir, werr := finder.env.Getwd()
	return err == nil && werr == nil &&
		(finder.env.isFeatureSwitchedOff(injection.InjectionOffFile, home, dir) ||
			finder.env.isFeatureSwitchedOff(injection.HooksOffFile, home, dir))
}
