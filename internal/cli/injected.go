// This file implements the command "oxbow injected", which lists what hooks put before models.

package cli

import (
	"github.com/spf13/cobra"

	"github.com/oxbow-memory/oxbow/internal/verb/injection"
)

func injectedCommand(mem *openMemory) *cobra.Command {
	return setUpReport(mem, &cobra.Command{
		Use:   "injected",
		Short: "Show what hooks put before models, and what of it was used",
		Long: `Injected lists what hooks put before models, the last first: when, in which
session, at which place (start of a session, prompt, action), how strong the
match was and the floor that it was above, and the entries with their versions.
--text shows every byte of it; so does a list of one.

An entry was used when the agent wrote at least three of its rare words that
stood in the text, later in the same turn and not before. That is a matter of
words: an agent may follow a note without one of them.`,
		Example: `  oxbow injected
  oxbow injected --place prompt --since 7d --text
  oxbow injected --entry style --json
  oxbow injected --unused`,
		Args: argCount(0, 0, ""),
	}, injection.Injected, func(in *injection.InjectedIn, _ *flagSet, _ []string) error {
		in.Off = mem.finder.isSilent()
		return nil
	})
}

// isSilent reports whether a person has switched off hooks or injection in the working directory.
func (finder *homeFinder) isSilent() bool {
	if finder.env.Getenv("OXBOW_INJECT") == "off" || finder.env.Getenv("OXBOW_HOOKS") == "off" {
		return true
	}
	home, err := finder.archiveHome()
	dir, werr := finder.env.Getwd()
	return err == nil && werr == nil &&
		(finder.env.offBy(injection.InjectOff, home, dir) || finder.env.offBy(injection.HooksOff, home, dir))
}
